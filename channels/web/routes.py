"""The addresses of the page. Each handler decides who may, calls one thing, and says what came of it."""

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from html import escape
from urllib.parse import quote

from aiohttp import web
from aiohttp.typedefs import Handler

from channels.web import files, history, parse, render
from channels.web.hub import Hub
from channels.web.login import Login
from channels.web.waiting import Waiting
from gateway.channel import Receive
from gateway.errors import Refused, Retryable
from gateway.message import MessageId, SessionKey
from gateway.tape.entries import Entry
from gateway.tape.index import MessageIndex
from gateway.web.guard import sentence

History = Callable[[SessionKey], Awaitable[Sequence[Entry]]]
"""The entries of a session's tape, in their order."""

Records = Callable[[SessionKey], Awaitable[MessageIndex]]
"""What turns of the session were recorded lately, over resets too."""

_LINES, _MOST_LINES, _MOST_PENDING = 200, 100_000, 50
_STREAM = {"Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no"}


class Routes:
    """`accept` makes a message durable; `waiting` is what was accepted and may not be on the tape yet."""

    def __init__(
        self,
        login: Login,
        hub: Hub,
        waiting: Waiting,
        accept: Receive,
        *,
        history: History,
        records: Records | None,
        now: Callable[[], datetime],
        commands: Sequence[tuple[str, str]],
    ) -> None:
        self._login, self._hub, self._waiting, self._accept = login, hub, waiting, accept
        self._history, self._records, self._now = history, records, now
        self._commands = [{"name": name, "about": about} for name, about in commands]
        self._files = files.load()

    def all(self) -> list[web.RouteDef]:
        """What to mount."""
        return [
            web.get("/", self._page),
            web.post("/login", self._enter),
            web.get("/static/{name}", self._static),
            web.get("/api/commands", self._known(self._list_commands)),
            web.get("/api/history", self._known(self._read)),
            web.post("/api/messages", self._known(self._post)),
            web.get("/api/events", self._known(self._follow), allow_head=False),
        ]

    def _known(self, handler: Handler) -> Handler:
        """For those who are logged in; a refusal of the handler is one sentence."""

        async def checked(request: web.Request) -> web.StreamResponse:
            if not self._login.knows(request):
                return sentence(request, 401, "You are not logged in (any more): open the login link again.")
            try:
                return await handler(request)
            except Refused as error:
                return sentence(request, 422, str(error))
            except Retryable as error:
                after = {"Retry-After": str(max(1, math.ceil(error.after or 2)))}
                return sentence(request, 503, str(error), after)

        return checked

    async def _page(self, request: web.Request) -> web.StreamResponse:
        if (token := request.query.get("token")) is not None:
            return self._judge(request, token)
        if not self._login.knows(request):
            return self._files["login.html"].response(request, status=401)
        return self._files["index.html"].response(request)

    async def _enter(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        return self._judge(request, str(form.get("token", "")))

    def _judge(self, request: web.Request, token: str) -> web.Response:
        if not self._login.opens(token):
            wrong = "This is not the token. The gateway prints the login link when it starts."
            return self._files["login.html"].response(request, status=403, notice=wrong)
        chat = request.query.get("chat")
        home = web.Response(status=303, headers={"Location": f"/?chat={quote(chat, safe='')}" if chat else "/"})
        self._login.remember(request, home)
        return home

    async def _static(self, request: web.Request) -> web.StreamResponse:
        file = self._files.get(request.match_info["name"])
        if file is None or file.kind == "text/html":
            raise web.HTTPNotFound
        return file.response(request)

    async def _list_commands(self, _request: web.Request) -> web.StreamResponse:
        return web.json_response({"commands": self._commands})

    async def _read(self, request: web.Request) -> web.StreamResponse:
        chat = request.query.get("chat", "main")
        limit = _number(request.query.get("limit"), _LINES)
        session = parse.session(chat)
        asked = {parse.message_id(chat, c) for c in request.query.get("pending", "").split(",")[:_MOST_PENDING] if c}
        # The record first: a message that it has is then in the lines as well, unless a reset put it away.
        settled = await self._recorded(session, asked)
        entries = await self._history(session)
        told, on_tape = await asyncio.to_thread(lambda: (history.lines(entries), history.settled(entries)))
        settled |= on_tape
        self._waiting.drop(settled)
        pending = list(self._waiting.of(chat))
        shown = told[-limit:]
        lines = await asyncio.to_thread(lambda: [_json(line) for line in shown])
        lines += [_json(history.Line("person", m.id, m.text, m.received_at)) | {"pending": True} for m in pending]
        return web.json_response(
            {
                "lines": lines,
                "waiting": bool(pending),
                "earlier": len(told) - len(shown),
                "settled": sorted(settled & asked),
            }
        )

    async def _recorded(self, session: SessionKey, asked: set[MessageId]) -> set[MessageId]:
        open_ = asked | {message.id for message in self._waiting.of(session.conversation)}
        if not open_ or self._records is None:
            return set()
        index = await self._records(session)
        return {message for message in open_ if index.find(message) is not None}

    async def _post(self, request: web.Request) -> web.StreamResponse:
        message = parse.parse(await request.read(), self._now())
        await self._accept(message)
        return web.json_response({"id": message.id}, status=202)

    async def _follow(self, request: web.Request) -> web.StreamResponse:
        chat = parse.session(request.query.get("chat", "main")).conversation
        response = web.StreamResponse(headers=_STREAM)
        with self._hub.feed(chat) as feed:
            await response.prepare(request)
            try:
                # The page reads history on `hello`: it is subscribed by now, so nothing falls between the two.
                await response.write(b"event: hello\ndata: {}\n\n")
                while news := await feed.take():
                    await response.write(b"".join(item.encode() for item in news))
            except ConnectionResetError:
                # The page went away, as pages do.
                return response
        return response


def _json(line: history.Line) -> dict[str, object]:
    return {
        "kind": line.kind,
        "id": line.id,
        "text": line.text,
        "html": render.html(line.text) if line.kind == "bot" else escape(line.text),
        "date": line.date.isoformat(),
        "turn": line.turn,
    }


def _number(text: str | None, default: int) -> int:
    return (
        min(max(int(text), 1), _MOST_LINES)
        if text and len(text) < 10 and text.isascii() and text.isdigit()
        else default
    )


def data(**fields: str | int | None) -> str:
    """The data of one server-sent event: JSON, so it has no line break."""
    return json.dumps(fields)
