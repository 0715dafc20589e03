"""The real SDK against a server that does what servers do (facts 6.1)."""
# ruff: noqa: E501 - the servers' own bodies

import asyncio

import pytest

from gateway.agent.model import ContextOverflow, Delta, ModelBusy, ModelRefused, ModelReply
from gateway.tape.entries import Call
from tests.agent.scripted import PatientClock, go, past, tool, turn
from tests.agent.sdk import HELLO, LOOK, listen, model_at
from tests.platforms.openai import (
    CleanEof,
    Cut,
    Error,
    ErrorInStream,
    FakeOpenAI,
    JsonErrorWith200,
    MalformedSSE,
    Overflow,
    Stall,
    Text,
    ToolCalls,
)
from tests.platforms.openai_answers import Answer


async def answer(given: Answer, *, deadline: float = 30.0) -> tuple[list[str], ModelReply]:
    async with FakeOpenAI() as ai, model_at(ai.url, deadline=deadline) as model:
        ai.answers.append(given)
        return await listen(model, LOOK)


async def test_a_text_comes_in_pieces_and_once_more_as_a_whole_with_its_usage() -> None:
    pieces, reply = await answer(Text("Grüß dich, 世界!", chunks=4))
    assert len(pieces) == 4
    assert "".join(pieces) == reply.text == "Grüß dich, 世界!"
    assert reply.usage is not None
    assert isinstance(reply.usage["prompt_tokens"], int)
    assert (reply.calls, reply.finish) == ((), "stop")


async def test_the_request_says_what_the_port_was_given_and_no_empty_list_of_tools() -> None:
    async with FakeOpenAI() as ai, model_at(ai.url) as model:
        await listen(model)
        await listen(model, LOOK)
        bare, full = ai.requests
    assert bare.messages == HELLO
    assert (bare.model, bare.stream, "tools" in bare.body) == ("fake-model", True, False)
    assert full.tools == [
        {"type": "function", "function": {"name": "look", "description": "looks", "parameters": dict(LOOK.parameters)}}
    ]


async def test_calls_are_put_together_from_their_pieces() -> None:
    asked = ToolCalls([("look", {"where": "here"}), ("look", {"where": "there"})], text="let me see", ids=["a", "b"])
    pieces, reply = await answer(asked)
    assert "".join(pieces) == reply.text == "let me see"
    assert reply.calls == (Call("a", "look", '{"where": "here"}'), Call("b", "look", '{"where": "there"}'))
    assert reply.finish == "tool_calls"


@pytest.mark.parametrize(
    "given",
    [
        Overflow(),
        Error(400, raw='[{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}]'),
        Error(400, raw='{"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 9>= n_ctx: 8)"}'),
        Error(400, raw='{"object":"error","message":"This model\'s maximum context length is 8 tokens.","type":"BadRequestError","code":400}'),
        Error(400, raw='{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\\"type\\":\\"error\\",\\"error\\":{\\"type\\":\\"invalid_request_error\\",\\"message\\":\\"prompt is too long: 9 tokens > 8 maximum\\"}}"}}}'),
        Error(413, raw=""),
        Error(400, raw="{}"),
        Error(429, "rate_limit_exceeded", "Request too large for x on tokens per min (TPM): Limit 6, Requested 14", "tokens"),
        ErrorInStream("This model's maximum context length is 8 tokens", 400),
        JsonErrorWith200("This model's maximum context length is 8 tokens", 400),
        Text("", finish="model_context_window_exceeded"),
        Text("", finish="length", usage={"prompt_tokens": 8192, "completion_tokens": 0}),
    ],
)  # fmt: skip
async def test_every_shape_of_an_overflow_is_one(given: Answer) -> None:
    with pytest.raises(ContextOverflow):
        await answer(given)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (Error(429, "rate_limit_exceeded", "Rate limit reached"), "too many requests"),
        (Error(500), "its server answers 500"),
        (Error(503, raw="<html>Loading</html>"), "its server answers 503"),
        (Cut(after_chunks=0), "the connection failed"),
        (Cut(after_chunks=1), "the connection failed"),
        (CleanEof(), "its answer broke off"),
        (MalformedSSE(), "it sent something unreadable"),
        (ErrorInStream("Provider returned error", 502), "it reports: Provider returned error"),
        (ErrorInStream("Overloaded", None), "it reports: Overloaded"),
        (JsonErrorWith200("Provider returned error", 502), "it reports: Provider returned error"),
        (Text("half", finish="error"), "its answer broke off"),
    ],
)
async def test_what_may_work_later_is_a_busy_model(given: Answer, reason: str) -> None:
    with pytest.raises(ModelBusy) as busy:
        await answer(given)
    assert reason in str(busy.value)


@pytest.mark.parametrize(
    ("headers", "after"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After-Ms": "1500", "Retry-After": "7"}, 1.5),
        ({"Retry-After": "Tue, 01 Dec 2026 09:00:00 GMT"}, None),
        ({"Retry-After": "nan"}, None),
        ({}, None),
    ],
)
async def test_the_delay_that_a_provider_names_is_passed_on(headers: dict[str, str], after: float | None) -> None:
    async with FakeOpenAI() as ai, model_at(ai.url) as model:
        ai.answers.append(Error(429, headers=headers))
        with pytest.raises(ModelBusy) as busy:
            await listen(model)
    assert (busy.value.after, len(ai.requests)) == (after, 1)


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        (Error(401, "invalid_api_key", "Incorrect API key provided: sk-1."), "config", "does not accept the key"),
        (Error(403, raw="Forbidden"), "config", "does not accept the key"),
        (Error(429, "insufficient_quota", "You exceeded your current quota"), "config", "no credit left"),
        (Error(404, "model_not_found", "The model does not exist"), "config", "no model 'fake-model'"),
        (Error(400, "content_filter", "filtered"), "provider", "content filter"),
        (Error(400, "unknown_parameter", "Unknown parameter: 'x'."), "invalid_input", "Unknown parameter: 'x'."),
        (Error(422, raw='{"detail":[{"msg":"too odd"}]}'), "invalid_input", "too odd"),
        (JsonErrorWith200("no", 400), "invalid_input", "no"),
        (Error(400, raw='{"error":"too odd"}'), "invalid_input", "request: too odd"),
        (Error(400, raw='{"message":"too odd","code":7}'), "invalid_input", "request: too odd"),
        (Error(400, raw='{"reason":"too odd"}'), "invalid_input", "too odd"),
        (Error(400, raw='{"detail":"too odd"}'), "invalid_input", "request: too odd"),
    ],
)
async def test_what_will_never_work_is_a_sentence_and_a_kind(given: Answer, kind: str, said: str) -> None:
    with pytest.raises(ModelRefused) as refused:
        await answer(given)
    assert (refused.value.kind, said in str(refused.value)) == (kind, True)
    assert "sk-1" not in str(refused.value)


async def test_a_server_that_is_not_there_is_a_busy_model() -> None:
    async with FakeOpenAI() as ai:
        url = ai.url
    async with model_at(url) as model:
        with pytest.raises(ModelBusy, match="the connection failed"):
            await listen(model)


@pytest.mark.parametrize("chunks", [0, 1])
async def test_a_call_that_lasts_too_long_ends_at_its_deadline(chunks: int) -> None:
    async with FakeOpenAI() as ai, model_at(ai.url, deadline=0.3) as model:
        ai.answers.append(Stall(asyncio.Event(), after_chunks=chunks))
        async with asyncio.timeout(10):  # well before the server's silence would be noticed
            with pytest.raises(ModelBusy, match="too long"):
                await listen(model)
        await ai.wait_disconnected()


@pytest.mark.parametrize("chunks", [0, 1])
async def test_a_server_that_falls_silent_is_a_busy_model(chunks: int) -> None:
    async with FakeOpenAI() as ai, model_at(ai.url, silence=0.2) as model:
        ai.answers.append(Stall(asyncio.Event(), after_chunks=chunks))
        with pytest.raises(ModelBusy, match="too long"):
            await listen(model)


async def test_a_cancelled_call_is_closed_at_the_provider_and_the_client_works_on() -> None:
    async with FakeOpenAI() as ai, model_at(ai.url) as model:
        ai.answers.append(Stall(asyncio.Event(), after_chunks=1))
        asking = asyncio.create_task(listen(model))
        await ai.wait_stalled()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await ai.wait_disconnected()
        assert (await listen(model))[1].text == "echo: hello"


async def test_a_listener_that_stops_closes_the_call_at_the_provider() -> None:
    async with FakeOpenAI() as ai, model_at(ai.url) as model:
        ai.answers.append(Stall(asyncio.Event(), Text("a long story", chunks=3), after_chunks=1))
        stream = model.ask(HELLO, ())
        assert isinstance(await anext(stream), Delta)
        await stream.aclose()  # type: ignore[attr-defined]
        await ai.wait_disconnected()


# The loop and the real SDK together


async def test_a_turn_with_tools_goes_through_a_strict_server() -> None:
    async with FakeOpenAI() as ai, model_at(ai.url) as model:
        ai.answers += [ToolCalls([("look", "{broken"), ("look", {})], ids=["x", "x"]), Text("done")]
        assert (await go(model, turn("hi", past("a", "b")), tool("look"))).text == "done"
        assert (len(ai.requests), ai.refused) == (2, [])


async def test_a_request_that_does_not_fit_is_sent_once_more_and_shorter() -> None:
    async with FakeOpenAI(window=100) as ai, model_at(ai.url) as model:
        attempt = turn("hi", past("word " * 200, "yes"))
        assert (await go(model, attempt)).text == "echo: hi"
        assert [len(request.messages) for request in ai.requests] == [4, 2]


async def test_a_busy_server_is_asked_by_the_loop_alone() -> None:
    async with FakeOpenAI() as ai, model_at(ai.url) as model:
        ai.answers += [Error(503), Cut(1), Error(429, headers={"Retry-After": "3"}), Text("there")]
        clock = PatientClock()
        assert (await go(model, turn("hi"), clock=clock)).text == "there"
        assert (len(ai.requests), clock.waits) == (4, [1.0, 2.0, 3.0])
