"""A fake OpenAI-compatible model server that the real SDK talks to over a socket.

It refuses what strict providers refuse (`openai_rules`) and answers as it is scripted (`openai_answers`).
"""

import inspect
import json
import time
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Final

from aiohttp import web

from tests.platforms import openai_rules as rules
from tests.platforms import openai_wire as wire
from tests.platforms.openai_answers import (
    Answer,
    CleanEof,
    Cut,
    Error,
    ErrorInStream,
    Json,
    JsonErrorWith200,
    MalformedSSE,
    Overflow,
    Request,
    Script,
    Stall,
    Text,
    ToolCalls,
    echo,
)
from tests.platforms.server import LocalServer, cut

__all__ = [
    "Answer",
    "CleanEof",
    "Cut",
    "Error",
    "ErrorInStream",
    "FakeOpenAI",
    "JsonErrorWith200",
    "MalformedSSE",
    "Overflow",
    "Request",
    "Script",
    "Stall",
    "Text",
    "ToolCalls",
    "echo",
]

SOME_WINDOW: Final = 8192


class FakeOpenAI(LocalServer):
    """One model server. `answers` are used up first, then `script` decides; requests it refuses use up nothing."""

    def __init__(
        self,
        *,
        port: int = 0,
        script: Script = echo,
        window: int | None = None,
        strict: bool = True,
        models: Sequence[str] = ("fake-model",),
        api_key: str | None = None,
    ) -> None:
        super().__init__(port, cancels_on_disconnect=True)
        self.script = script
        self.answers: deque[Answer] = deque()
        self.window = window
        self.strict = strict
        self.models = models
        self.api_key = api_key
        self.requests: list[Request] = []
        self.refused: list[tuple[Request, str]] = []
        self.disconnected = 0
        self.stalled = 0
        self._numbers = count(1)

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"

    async def wait_requests(self, count: int, timeout: float = 30) -> list[Request]:
        """All requests once there were that many."""
        await self.bell.until(lambda: len(self.requests) >= count, timeout)
        return list(self.requests)

    async def wait_disconnected(self, count: int = 1, timeout: float = 30) -> None:
        """Return once so many clients went away before their answer was complete."""
        await self.bell.until(lambda: self.disconnected >= count, timeout)

    async def wait_stalled(self, count: int = 1, timeout: float = 30) -> None:
        """Return once so many answers have reached their `Stall`."""
        await self.bell.until(lambda: self.stalled >= count, timeout)

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/chat/completions", self._complete),
            web.get("/v1/models", self._list_models),
        ]

    async def _list_models(self, request: web.Request) -> web.Response:
        models = [{"id": name, "object": "model", "created": 1, "owned_by": "tests"} for name in self.models]
        return web.json_response({"object": "list", "data": models})

    async def _complete(self, http: web.Request) -> web.StreamResponse:
        try:
            body = json.loads(await http.read())
        except ValueError:
            return error_response(rules.Refused(rules.NOT_JSON))
        request = parse(body, http)
        self.requests.append(request)
        self.bell.ring()
        try:
            self._admit(request)
        except rules.Refused as refused:
            self.refused.append((request, str(refused)))
            return error_response(refused)
        number, complete = next(self._numbers), False
        try:
            answer = self.answers.popleft() if self.answers else self.script(request)
            if inspect.isawaitable(answer):
                answer = await answer
            response = await self._answer(http, request, answer, number)
            complete = True
        finally:
            if not complete and not self.closing:
                self.disconnected += 1
            self.bell.ring()
        return response

    def _admit(self, request: Request) -> None:
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.api_key is not None and key != self.api_key:
            text = f"Incorrect API key provided: {key[:4]}***. You can find your API key at https://platform.openai.com/account/api-keys."
            raise rules.Refused(text, code="invalid_api_key", status=401)
        rules.check(request.body, strict=self.strict)
        if self.window is not None:
            rules.check_window(request.body, self.window)

    async def _answer(self, http: web.Request, request: Request, answer: Answer, number: int) -> web.StreamResponse:
        match answer:
            case Error(raw=None):
                refused = rules.Refused(
                    answer.message, param=answer.param, code=answer.code, kind=answer.type, status=answer.status
                )
                return error_response(refused, answer.headers)
            case Error(status, raw=str(raw)):
                kind = "application/json" if raw[:1] in {"{", "["} else "text/html"
                return web.Response(status=status, text=raw, headers=answer.headers, content_type=kind)
            case Overflow():
                window = self.window or SOME_WINDOW
                return error_response(rules.overflow(window, f"your messages resulted in {window + 1} tokens"))
            case JsonErrorWith200(message, code):
                return web.json_response({"error": {"message": message, "code": code}})
            case Cut(after_chunks=0):
                return cut(http)
            case Stall(after_chunks=0):
                await self._stall(answer)
        if request.stream:
            return await self._stream(http, request, answer, number)
        return self._whole(http, request, answer, number)

    async def _stall(self, stall: Stall) -> None:
        self.stalled += 1
        self.bell.ring()
        await stall.wait()

    def _whole(self, http: web.Request, request: Request, answer: Answer, number: int) -> web.Response:
        match answer:
            case Text() | ToolCalls():
                return web.json_response(wire.completion(request, answer, number))
            case Stall(then=then):
                return web.json_response(wire.completion(request, then, number))
            case CleanEof(text=text):
                return web.json_response(wire.completion(request, Text(text), number, finished=False))
            case ErrorInStream(message, code):
                return web.json_response({"error": {"message": message, "code": code}})
            case MalformedSSE():
                return web.Response(text='{"choices": [', content_type="application/json")
            case _:
                return cut(http)

    async def _stream(self, http: web.Request, request: Request, answer: Answer, number: int) -> web.StreamResponse:
        spoken, stop = spoken_before_stop(answer)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(http)
        pause = Stall(spoken.pause) if isinstance(spoken, Text) and spoken.pause else None
        for at, chunk in enumerate(wire.chunks(request, spoken, number)):
            if at == stop:
                if not isinstance(answer, Stall):
                    break
                await self._stall(answer)
            elif pause and at:
                await pause.wait()
            await response.write(wire.event(chunk))
        match answer:
            case Cut():
                return cut_stream(http, response)
            case ErrorInStream(message, code, type=kind):
                await response.write(wire.event({"error": {"message": message, "code": code, "type": kind}}))
            case MalformedSSE():
                await response.write(wire.event("{not json"))
            case Text() | ToolCalls() | Stall():
                for chunk in wire.ending(request, spoken, number):
                    await response.write(wire.event(chunk))
                await response.write(wire.event("[DONE]"))
        await response.write_eof()
        return response


def spoken_before_stop(answer: Answer) -> tuple[Text | ToolCalls, int | None]:
    """What a stream says, and the number of chunks after which something happens to it."""
    match answer:
        case Text() | ToolCalls():
            return answer, None
        case Stall(then=then, after_chunks=stop):
            return then, stop or None
        case Cut(stop, text) | CleanEof(stop, text):
            return Text(text, chunks=stop + 1), stop
        case ErrorInStream(after_chunks=stop) | MalformedSSE(stop):
            return Text("this text is never finished", chunks=stop + 1), stop
        case _:
            raise TypeError(f"{answer!r} is no stream")


def cut_stream(http: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Reset the connection under a stream that has begun."""
    cut(http)
    return response


def parse(body: Json, http: web.Request) -> Request:
    messages, tools = body.get("messages"), body.get("tools")
    return Request(
        model=str(body.get("model", "")),
        messages=messages if isinstance(messages, list) else [],
        tools=tools if isinstance(tools, list) else [],
        stream=bool(body.get("stream")),
        body=body,
        headers=http.headers.copy(),
        at=time.time(),
    )


def error_response(refused: rules.Refused, headers: Mapping[str, str] | None = None) -> web.Response:
    """OpenAI's error object with its status."""
    return web.json_response({"error": refused.error}, status=refused.status, headers=headers)
