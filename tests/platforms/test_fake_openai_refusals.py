"""What the fake model server refuses, and in which words, seen through the real SDK."""

import asyncio
import urllib.error
import urllib.request
from typing import Any

import openai
import pytest

from tests.platforms.openai import (
    FakeOpenAI,
    Text,
)
from tests.platforms.sdk import USER, ask, call, calling, result

REFUSALS: list[tuple[str, list[dict[str, Any]], dict[str, Any], str]] = [
    ("an unknown role", [{"role": "bot", "content": "x"}], {}, "Invalid value: 'bot'. Supported values are: 'system',"),
    (
        "no content",
        [{"role": "user", "content": None}],
        {},
        "Invalid value for 'content': expected a string, got null.",
    ),
    ("only a system message", [{"role": "system", "content": "x"}], {}, "messages: at least one message is required"),
    (
        "an assistant first",
        [{"role": "assistant", "content": "x"}, USER],
        {},
        'messages: first message must use the "user" role',
    ),
    (
        "a late system message",
        [USER, {"role": "system", "content": "x"}],
        {},
        "System message must be at the beginning.",
    ),
    (
        "a blank assistant",
        [USER, {"role": "assistant", "content": " "}, USER],
        {},
        "the message at position 1 with role 'assistant' must not be empty",
    ),
    (
        "an assistant last",
        [USER, {"role": "assistant", "content": "x"}],
        {},
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    ),
    (
        "an unanswered call",
        [USER, calling(call("c1"), call("c2")), result("c1"), USER],
        {},
        "The following tool_call_ids did not have response messages: c2",
    ),
    ("an unanswered call at the end", [USER, calling(call("c9"))], {}, "did not have response messages: c9"),
    (
        "a result without a call",
        [USER, result()],
        {},
        "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
    ),
    (
        "a result for another call",
        [USER, calling(call("c1")), result("c2")],
        {},
        "'tool_call_id' of 'c2' not found in 'tool_calls' of previous message.",
    ),
    (
        "two results of one call",
        [USER, calling(call("c1")), result("c1"), result("c1")],
        {},
        "Duplicate value for 'tool_call_id' of 'c1' in message[3]",
    ),
    (
        "a result that names no call",
        [USER, calling(call("c1")), {"role": "tool", "content": "x"}],
        {},
        "Missing parameter 'tool_call_id'",
    ),
    (
        "two calls of one id",
        [USER, calling(call("c1"), call("c1")), result("c1")],
        {},
        "`tool_use` ids must be unique",
    ),
    (
        "arguments that are no string",
        [USER, calling(call("c1", {"a": 1})), result("c1")],
        {},
        "'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead.",
    ),
    (
        "an empty list of calls",
        [USER, {"role": "assistant", "content": "x", "tool_calls": []}, USER],
        {},
        "empty array",
    ),
    ("an empty list of tools", [USER], {"tools": []}, "Invalid 'tools': empty array."),
    ("a tool choice without tools", [USER], {"tool_choice": "auto"}, "only allowed when 'tools' are specified"),
    (
        "a tool name with a dot",
        [USER],
        {"tools": [{"type": "function", "function": {"name": "a.b"}}]},
        "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    ),
    (
        "a tool name over 64",
        [USER],
        {"tools": [{"type": "function", "function": {"name": "a" * 65}}]},
        "Expected a string with maximum length 64",
    ),
    (
        "stream options without a stream",
        [USER],
        {"stream_options": {}, "extra_body": {"stream_options": {"a": 1}}},
        "only allowed when 'stream' is enabled",
    ),
]


@pytest.mark.parametrize(
    ("messages", "options", "words"), [case[1:] for case in REFUSALS], ids=[case[0] for case in REFUSALS]
)
async def test_a_strict_provider_refuses(
    ai: FakeOpenAI, client: Any, messages: list[dict[str, Any]], options: dict[str, Any], words: str
) -> None:
    ai.answers.append(Text("kept"))
    with pytest.raises(openai.BadRequestError) as caught:
        await ask(client, *messages, **options)

    assert words in caught.value.message
    assert caught.value.type == "invalid_request_error"
    assert ai.answers == type(ai.answers)([Text("kept")])
    assert ai.refused[0][0].messages == messages


async def test_no_messages_are_refused(client: Any) -> None:
    with pytest.raises(openai.BadRequestError, match="Invalid 'messages': empty array") as caught:
        await client.chat.completions.create(model="m", messages=[])

    assert caught.value.code == "empty_array"


async def test_a_lenient_provider_takes_what_only_strict_ones_refuse(ai: FakeOpenAI, client: Any) -> None:
    ai.strict = False
    answer = await ask(client, {"role": "assistant", "content": ""}, USER, {"role": "system", "content": "x"})

    assert answer.choices[0].message.content == "echo: hi"
    with pytest.raises(openai.BadRequestError, match="must be a response to"):
        await ask(client, result())


@pytest.mark.parametrize(
    "body", [b'{"model": "m", "messages": [{"role": "user", "content": "\\ud800"}]}', b"{not json"]
)
async def test_half_a_character_and_broken_json_are_no_json(ai: FakeOpenAI, body: bytes) -> None:
    def post() -> str:
        request = urllib.request.Request(f"{ai.url}/chat/completions", data=body, method="POST")
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request, timeout=20)
        with caught.value as answer:
            return answer.read().decode()

    assert "We could not parse the JSON body of your request." in await asyncio.to_thread(post)


async def test_a_wrong_key_is_refused(ai: FakeOpenAI, client: Any) -> None:
    ai.api_key = "right"
    with pytest.raises(openai.AuthenticationError) as caught:
        await ask(client)

    assert caught.value.code == "invalid_api_key"


async def test_what_exceeds_the_window_is_refused_in_openais_words(ai: FakeOpenAI, client: Any) -> None:
    ai.window = 10
    with pytest.raises(openai.BadRequestError) as caught:
        await ask(client, {"role": "user", "content": "x" * 44})

    assert caught.value.code == "context_length_exceeded"
    assert "maximum context length is 10 tokens. However, your messages resulted in 11 tokens." in caught.value.message
    assert (await ask(client, {"role": "user", "content": "x" * 40})).choices
    with pytest.raises(openai.BadRequestError, match=r"\(10 in the messages, 5 in the completion\)"):
        await ask(client, {"role": "user", "content": "x" * 40}, max_tokens=5)
