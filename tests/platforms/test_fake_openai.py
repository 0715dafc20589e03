"""Answers of the fake model server and what goes wrong in them, seen through the real SDK."""

import asyncio
import json
from typing import Any

import openai
import pytest

from tests.platforms.openai import (
    CleanEof,
    Cut,
    Error,
    ErrorInStream,
    FakeOpenAI,
    JsonErrorWith200,
    MalformedSSE,
    Overflow,
    Request,
    Stall,
    Text,
    ToolCalls,
)
from tests.platforms.sdk import TOOLS, USER, Heard, ask, call, calling, result


async def test_an_unscripted_model_echoes(client: Any) -> None:
    answer = await ask(client)

    assert answer.choices[0].message.content == "echo: hi"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens > 0


async def test_a_stream_ends_with_a_reason_and_the_usage_that_was_asked_for(client: Any) -> None:
    with_usage = await Heard().listen(client, stream_options={"include_usage": True})
    without = await Heard().listen(client)

    assert (with_usage.text, with_usage.reason) == ("echo: hi", "stop")
    assert with_usage.usage.prompt_tokens == 1
    assert without.usage is None


async def test_call_and_a_name_makes_an_unscripted_model_call_that_tool(client: Any) -> None:
    said = {"role": "user", "content": 'call time {"zone": "UTC"}'}
    heard = await Heard().listen(client, said, tools=TOOLS)
    whole = await ask(client, said, tools=TOOLS)

    assert heard.reason == "tool_calls"
    assert heard.calls[0]["name"] == "time"
    assert json.loads(heard.calls[0]["arguments"]) == {"zone": "UTC"}
    assert whole.choices[0].message.tool_calls[0].id != heard.calls[0]["id"]

    call_id = heard.calls[0]["id"]
    after = await ask(client, said, calling(call(call_id)), result(call_id), tools=TOOLS)
    assert after.choices[0].message.content == "echo: noon"


async def test_the_word_call_in_a_sentence_calls_nothing(client: Any) -> None:
    answer = await ask(client, {"role": "user", "content": "please call mom"}, tools=TOOLS)

    assert answer.choices[0].message.content == "echo: please call mom"


async def test_a_name_before_the_call_of_a_known_tool_does_not_hide_it(client: Any) -> None:
    answer = await ask(client, {"role": "user", "content": "Ann: call time {}"}, tools=TOOLS)

    assert answer.choices[0].message.tool_calls[0].function.name == "time"


async def test_answers_are_used_up_before_the_script_is_asked(ai: FakeOpenAI, client: Any) -> None:
    ai.answers.extend([Text("first", chunks=5), ToolCalls([("time", "{broken")], text="wait")])
    ai.script = lambda request: Text(f"{request.model} saw {len(request.messages)}")

    assert (await Heard().listen(client)).text == "first"
    second = await Heard().listen(client, tools=TOOLS)
    assert (second.text, second.calls[0]["arguments"]) == ("wait", "{broken")
    assert (await ask(client)).choices[0].message.content == "fake-model saw 1"


async def test_a_script_may_wait(ai: FakeOpenAI, client: Any) -> None:
    go = asyncio.Event()

    async def script(request: Request) -> Text:
        await go.wait()
        return Text("went")

    ai.script = script
    asking = asyncio.create_task(ask(client))
    await ai.wait_requests(1)
    assert not asking.done()
    go.set()

    assert (await asking).choices[0].message.content == "went"


async def test_requests_are_kept_as_they_came(ai: FakeOpenAI, client: Any) -> None:
    system = {"role": "system", "content": "be kind"}
    await ask(client, system, USER, calling(call()), result(), tools=TOOLS)
    request = (await ai.wait_requests(1))[0]

    assert (request.system, request.last_user, request.results) == ("be kind", "hi", ("noon",))
    assert request.tool_names == ("time",)
    assert request.headers["authorization"] == "Bearer k"


async def test_the_models_are_listed(client: Any) -> None:
    assert [model.id async for model in client.models.list()] == ["fake-model"]


async def test_an_overflow_can_be_scripted_without_a_window(ai: FakeOpenAI, client: Any) -> None:
    ai.answers.append(Overflow())
    with pytest.raises(openai.BadRequestError) as caught:
        await Heard().listen(client)

    assert caught.value.code == "context_length_exceeded"


async def test_errors_come_with_status_code_and_headers(ai: FakeOpenAI, client: Any) -> None:
    ai.answers.append(Error(429, "rate_limit_exceeded", "Slow down", "requests", {"Retry-After": "7"}))
    with pytest.raises(openai.RateLimitError) as caught:
        await ask(client)

    assert (caught.value.code, caught.value.response.headers["retry-after"]) == ("rate_limit_exceeded", "7")


async def test_errors_of_other_shapes_come_as_they_are(ai: FakeOpenAI, client: Any) -> None:
    ai.answers.extend([Error(500, raw="<html>bad</html>"), Error(400, raw='[{"error": {"code": 400}}]')])

    with pytest.raises(openai.InternalServerError) as html:
        await ask(client)
    assert html.value.response.text == "<html>bad</html>"
    with pytest.raises(openai.BadRequestError) as array:
        await ask(client)
    assert array.value.response.json() == [{"error": {"code": 400}}]


@pytest.mark.parametrize("after", [0, 2])
async def test_a_stall_holds_the_answer_until_the_event(ai: FakeOpenAI, client: Any, after: int) -> None:
    go, heard = asyncio.Event(), Heard()
    ai.answers.append(Stall(go, Text("abcdef", chunks=6), after_chunks=after))
    listening = asyncio.create_task(heard.listen(client))
    await ai.wait_stalled()
    assert not listening.done()
    go.set()
    await listening

    assert (heard.text, heard.reason) == ("abcdef", "stop")


async def test_a_client_that_leaves_during_a_stall_is_seen(ai: FakeOpenAI, client: Any) -> None:
    ai.answers.append(Stall(asyncio.Event(), after_chunks=1))
    listening = asyncio.create_task(Heard().listen(client))
    await ai.wait_stalled()
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening

    await ai.wait_disconnected()
    assert ai.disconnected == 1


async def test_a_cut_stream_is_a_connection_error_after_its_chunks(ai: FakeOpenAI, client: Any) -> None:
    heard = Heard()
    ai.answers.append(Cut(after_chunks=2, text="abcdef"))
    with pytest.raises(openai.APIConnectionError):
        await heard.listen(client)

    assert (heard.chunks, heard.reason) == (2, None)
    assert ai.disconnected == 0


async def test_a_cut_before_the_answer_is_a_connection_error(ai: FakeOpenAI, client: Any) -> None:
    ai.answers.extend([Cut(after_chunks=0), Cut()])
    for _ in range(2):
        with pytest.raises(openai.APIConnectionError):
            await ask(client)


async def test_a_clean_end_without_a_reason_raises_nothing(ai: FakeOpenAI, client: Any) -> None:
    ai.answers.append(CleanEof(after_chunks=2, text="abcdef"))
    heard = await Heard().listen(client)

    assert (heard.chunks, heard.reason) == (2, None)


async def test_an_error_object_in_a_stream_is_an_api_error_without_status(ai: FakeOpenAI, client: Any) -> None:
    ai.answers.append(ErrorInStream("upstream died", 502))
    heard = Heard()
    with pytest.raises(openai.APIError, match="upstream died") as caught:
        await heard.listen(client)

    assert heard.chunks == 1
    assert not isinstance(caught.value, openai.APIStatusError)


async def test_a_json_error_with_200_is_an_empty_stream(ai: FakeOpenAI, client: Any) -> None:
    ai.answers.extend([JsonErrorWith200("no credits"), JsonErrorWith200("no credits")])

    assert (await Heard().listen(client)).chunks == 0
    assert (await ask(client)).model_extra["error"]["message"] == "no credits"


async def test_a_malformed_chunk_is_a_json_error(ai: FakeOpenAI, client: Any) -> None:
    ai.answers.append(MalformedSSE())
    with pytest.raises(json.JSONDecodeError):
        await Heard().listen(client)


async def test_an_outage_is_refused_connections_until_it_ends(ai: FakeOpenAI, client: Any) -> None:
    await ai.down()
    with pytest.raises(openai.APIConnectionError):
        await ask(client)
    await ai.up()

    assert (await ask(client)).choices[0].message.content == "echo: hi"
