"""What a person gets to see of a model's last words."""

import pytest

from gateway.agent.answer import BLANK, MARKUP, NOTHING_TO_SAY, WITHHELD, Answer
from gateway.agent.model import ModelReply
from tests.agent.scripted import (
    ScriptedModel,
    go,
    tool,
    turn,
)


@pytest.mark.parametrize("text", ["NO_REPLY", " NO_REPLY\n", "(empty)"])
async def test_a_marker_alone_becomes_a_visible_notice(text: str) -> None:
    heard: list[str] = []
    assert await go(ScriptedModel([text]), turn(), heard=heard.append) == Answer(NOTHING_TO_SAY)
    assert heard == []


async def test_a_text_that_mentions_a_marker_is_delivered() -> None:
    said = "Use NO_REPLY when nothing changed"
    assert (await go(ScriptedModel([said]), turn())).text == said


async def test_a_blank_answer_is_asked_for_once_more() -> None:
    attempt = turn()
    assert (await go(ScriptedModel([" ", "now then"]), attempt)).text == "now then"
    assert await go(ScriptedModel(["", "\n"]), turn()) == Answer(BLANK, "failed")


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "look"}</tool_call>',
        '{"name": "look", "arguments": {}}',
        '```json\n{"name": "look", "parameters": {}}\n```',
        '{"type": "function", "function": {"name": "look", "arguments": "{}"}}',
        "[TOOL_CALLS] look",
        '<invoke name="look"></invoke>',
    ],
)
async def test_a_tool_call_written_as_text_is_never_shown(text: str) -> None:
    heard: list[str] = []
    answer = await go(ScriptedModel([text, text]), turn(), tool("look"), heard=heard.append)
    assert answer == Answer(MARKUP, "failed")
    assert heard == []
    assert (await go(ScriptedModel([text, "there"]), turn(), tool("look"))).text == "there"


async def test_a_tool_call_written_behind_some_words_is_not_shown_either() -> None:
    heard: list[str] = []
    text = "Let me look.\n<tool_call>{}</tool_call>"
    assert (await go(ScriptedModel([text, "there"]), turn(), heard=heard.append)).text == "there"
    assert not any("<tool_call" in part for part in heard)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ada", "arguments": 2}',
        "Write `<tool_call>` like this",
        '{"name": "look"}',
        "[a](b)",
        "So:\n```xml\n<tool_call>x</tool_call>\n```",
    ],
)
async def test_a_text_that_only_looks_like_one_is_delivered(text: str) -> None:
    assert (await go(ScriptedModel([text]), turn(), tool("look"))).text == text


async def test_an_answer_that_was_cut_or_withheld_says_so() -> None:
    cut = await go(ScriptedModel([ModelReply("Once upon", finish="length")]), turn())
    assert cut.text.startswith("Once upon\n\n(")
    assert await go(ScriptedModel([ModelReply("", finish="content_filter")]), turn()) == Answer(WITHHELD, "failed")
