"""Streams as no good server sends them."""

import json

import pytest
from aiohttp import web

from gateway.agent.model import ModelBusy, ModelReply
from gateway.tape.entries import Call
from tests.agent.sdk import listen, model_at
from tests.platforms.server import LocalServer


class RawStream(LocalServer):
    """Sends these events and nothing else, whatever is asked; a text is sent as it is."""

    def __init__(self, *events: object, refuses: str = "") -> None:
        super().__init__()
        self._events, self._refuses = events, refuses

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/chat/completions", self._answer)]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if self._refuses and self._refuses in await request.text():
            return web.json_response({"message": f"{self._refuses}: extra inputs are not permitted"}, status=422)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in self._events:
            await response.write(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode())
        return response


def piece(delta: object, finish: str | None = None) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(i: str | None, arguments: object, **index: int) -> object:
    return {"tool_calls": [{"id": i, "function": {"name": "look" if i else None, "arguments": arguments}, **index}]}


async def raw(*events: object) -> ModelReply:
    async with RawStream(*events, "[DONE]") as server, model_at(server.origin) as model:
        return (await listen(model))[1]


@pytest.mark.parametrize(
    "pieces",
    [
        [call("a", "{}"), call("b", "{}")],
        [call("a", "{"), call(None, "}"), call("b", "{}")],
        [call("a", "{}", index=0), call("b", "{}", index=0)],
        [call("a", "{}", index=0), call("b", "{", index=1), call(None, "}", index=1)],
        [call("a", "{", index=0), call("b", "{", index=1), call("a", "}", index=0), call(None, "}", index=1)],
        [call("a", {}, index=0), call("b", {}, index=1)],
    ],
)
async def test_calls_are_told_apart_also_where_a_server_numbers_them_badly(pieces: list[object]) -> None:
    reply = await raw(*(piece(p) for p in pieces), piece({}, "tool_calls"))
    assert reply.calls == (Call("a", "look", "{}"), Call("b", "look", "{}"))


async def test_a_character_that_was_cut_in_two_is_put_together() -> None:
    stop = piece({}, "stop")
    assert (await raw(piece({"content": "hi \ud83d"}), piece({"content": "\ude00!"}), stop)).text == "hi 😀!"
    assert (await raw(piece({"content": "hi \ude00"}), piece({"content": "\ud83d"}), stop)).text == "hi \ufffd"


@pytest.mark.parametrize(
    "odd", [[], [{}], [{"choices": [{"delta": None}]}], [{"choices": [7]}], [{"choices": "x"}], ["7"]]
)
async def test_a_stream_of_odd_chunks_is_a_failure_and_nothing_worse(odd: list[object]) -> None:
    with pytest.raises(ModelBusy):
        await raw(*odd)


async def test_a_server_that_cannot_count_is_asked_without_it() -> None:
    events = (piece({"content": "hi"}), piece({}, "stop"))
    async with RawStream(*events, refuses="stream_options") as server, model_at(server.origin) as model:
        for _ in range(2):
            assert (await listen(model))[1] == ModelReply("hi")
