"""Socket Mode: tickets, connections, and the ways in which they end (facts 3.1, 4, 5.4)."""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from aiohttp import WSMsgType, web

from tests.platforms.server import Bell
from tests.platforms.slack_delivery import Envelope
from tests.platforms.slack_people import APP_ID

Json = dict[str, Any]
Moment = Literal["before_hello", "after_hello", "before_envelope", "after_envelope"]
Reason = Literal["warning", "refresh_requested", "link_disabled", "too_many_websockets"]

MOST_CONNECTIONS: Final = 10
CLOSE: Final = "close"


@dataclass(slots=True, eq=False)
class Connection:
    """One socket of the bot. `ready`: it was greeted, and gets envelopes; `leaving`: it was told to go, and gets none;
    `muted`: nothing passes any more, in either direction, though it stays open."""

    number: int
    ws: web.WebSocketResponse
    request: web.Request
    at: float
    open: bool = True
    ready: bool = False
    leaving: bool = False
    muted: bool = False
    envelopes: list[Envelope] = field(default_factory=list)
    outbox: asyncio.Queue[tuple[str, str]] = field(default_factory=asyncio.Queue)

    def push(self, kind: str, text: str = "") -> None:
        self.outbox.put_nowait((kind, text))

    def cut(self) -> None:
        """The connection breaks, without a closing frame; what was written before arrives."""
        if self.request.transport is not None:
            self.request.transport.close()


@dataclass(slots=True, eq=False)
class Sockets:
    """All connections of the app. Each envelope goes to one that is ready, in turn."""

    bell: Bell
    clock: Callable[[], float]
    opened: Callable[[], None] = lambda: None
    answered: Callable[[str, Json | None], None] = lambda envelope_id, payload: None
    connections: list[Connection] = field(default_factory=list)
    tickets: set[str] = field(default_factory=set)
    issued: int = 0
    cuts: deque[Moment] = field(default_factory=deque)
    turn: int = 0

    @property
    def open(self) -> list[Connection]:
        return [connection for connection in self.connections if connection.open]

    @property
    def ready(self) -> list[Connection]:
        """Those that get envelopes."""
        return [connection for connection in self.open if connection.ready and not connection.leaving]

    def issue(self) -> str:
        """A ticket; it opens one socket, once."""
        self.issued += 1
        ticket = f"ticket-{self.issued}"
        self.tickets.add(ticket)
        return ticket

    def carry(self, envelope: Envelope) -> bool:
        ready = self.ready
        if not ready:
            return False
        connection = ready[self.turn % len(ready)]
        self.turn += 1
        connection.envelopes.append(envelope)
        connection.push("envelope", json.dumps(envelope.frame()))
        return True

    def disconnect(self, reason: Reason, connection: Connection | None = None) -> None:
        """Tell one socket, or all, to go. `warning` announces that only; `link_disabled` ends them."""
        frame = json.dumps({"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-1"}})
        for told in [connection] if connection else self.open:
            told.push("disconnect", frame)
            told.leaving = told.leaving or reason != "warning"
            if reason == "link_disabled":
                told.push(CLOSE)

    def cut(self, connection: Connection | None = None) -> None:
        for broken in [connection] if connection else self.open:
            broken.cut()

    def mute(self, connection: Connection | None = None) -> None:
        for silent in [connection] if connection else self.open:
            silent.muted = True

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One connection, from its greeting to its end."""
        ticket = request.query.get("ticket", "")
        if ticket not in self.tickets:
            return web.Response(status=404, text="no such ticket")
        self.tickets.remove(ticket)
        ws = web.WebSocketResponse(autoping=False)
        await ws.prepare(request)
        connection = Connection(len(self.connections) + 1, ws, request, self.clock())
        others = len(self.open)
        self.connections.append(connection)
        connection.push("hello", json.dumps(self._hello(others + 1)))
        if others >= MOST_CONNECTIONS:
            self.disconnect("too_many_websockets", connection)
        writing = asyncio.create_task(self._write(connection))
        try:
            await self._read(connection)
        finally:
            connection.open = False
            writing.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await writing
            self.bell.ring()
        return ws

    def _hello(self, count: int) -> Json:
        debug = {"host": "applink-1", "build_number": 1, "approximate_connection_time": 18060}
        info = {"connection_info": {"app_id": APP_ID}, "debug_info": debug}
        return {"type": "hello", "num_connections": count, **info}

    async def _read(self, connection: Connection) -> None:
        async for message in connection.ws:
            if connection.muted:
                continue
            if message.type is WSMsgType.PING:
                await connection.ws.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                answer = json.loads(message.data)
                self.answered(str(answer.get("envelope_id", "")), answer.get("payload"))

    async def _write(self, connection: Connection) -> None:
        while True:
            kind, text = await connection.outbox.get()
            if connection.muted:
                continue
            if kind == CLOSE:
                await connection.ws.close()
                return
            if self._cut_is_due(f"before_{kind}"):
                connection.cut()
                return
            await connection.ws.send_str(text)
            if self._cut_is_due(f"after_{kind}"):
                connection.cut()
                return
            if kind == "hello":
                connection.ready = True
                self.opened()
            self.bell.ring()

    def _cut_is_due(self, moment: str) -> bool:
        if self.cuts and self.cuts[0] == moment:
            self.cuts.popleft()
            return True
        return False
