"""The inbox on a Redis-compatible server: thin over the scripts, which hold the rules."""

import itertools
import secrets
from collections.abc import Mapping, Sequence

from gateway.clock import Clock
from gateway.errors import Broken, LeaseLost
from gateway.message import IncomingMessage, MessageId, Reply, SessionKey
from gateway.session import keys
from gateway.session.inbox import Accepted, Held, SessionStatus, Waiting
from gateway.session.server_redis import RedisServer, Value, list_of, pairs_of, text_of


class RedisInbox:
    """`ttl`: seconds of a session's lease. `capacity`: messages that may wait in one session.

    `only`: take sessions of this channel alone (a terminal's process does not work for the others).
    """

    def __init__(
        self, server: RedisServer, clock: Clock, *, ttl: float, capacity: int = 1000, only: str | None = None
    ) -> None:
        self._server, self._clock = server, clock
        self._ttl_ms, self._capacity, self._only = int(ttl * 1000), capacity, only or ""
        self._turn = itertools.cycle(range(keys.PARTITIONS))

    async def put(self, message: IncomingMessage, *, cancels: bool = False) -> Accepted:
        p = keys.session(message.session)
        found = await self._server.run(
            "put", f"{p}:ready", p, str(message.session), message.id, message.to_row(), message.author.id,
            self._capacity, int(cancels), keys.WAKE,
        )  # fmt: skip
        return Accepted(text_of(found))

    async def stop(self, request: IncomingMessage, *, everybody: bool) -> int | None:
        p = keys.session(request.session)
        marked = await self._server.run(
            "stop", f"{p}:ready", p, str(request.session), request.id, request.to_row(),
            "" if everybody else request.author.id, keys.KNOWN_FOR, keys.WAKE,
        )  # fmt: skip
        if not isinstance(marked, int):
            raise Broken(f"the server answered {marked!r} to a stop")
        return None if marked < 0 else marked

    async def take(self) -> Held | None:
        first = next(self._turn)  # drawn once: tasks that draw side by side would each skip some partitions
        for number in range(first, first + keys.PARTITIONS):
            p = keys.tagged(number % keys.PARTITIONS)
            token, asked = secrets.token_hex(16), self._clock.boot()
            found = await self._server.run("take", f"{p}:ready", p, token, self._ttl_ms, self._only)
            if found:
                session, *waiting = list_of(found)
                return Held(SessionKey.parse(text_of(session)), token, _waiting(waiting), asked)
        return None

    async def renew(self, session: SessionKey, token: str) -> Mapping[MessageId, MessageId]:
        p = keys.session(session)
        found = await self._server.run("renew", f"{p}:lease:{session}", p, str(session), token, self._ttl_ms)
        if not isinstance(found, list):
            raise LeaseLost(f"the lease of {session} is another's")
        return _marks(found)

    async def settle(
        self, held: Held, ids: Sequence[MessageId], replies: Sequence[Reply], stops: Sequence[MessageId] = ()
    ) -> Waiting | None:
        if any(reply.route.place != held.session.place for reply in replies):
            raise Broken(f"a reply of {held.session} goes to another conversation: its route may lie in another slot")
        p = keys.session(held.session)
        put = [word for r in replies for word in (str(r.route), keys.account(r.route), r.turn, r.to_row())]
        found = await self._server.run(
            "settle", f"{p}:lease:{held.session}", p, str(held.session), held.token, keys.KNOWN_FOR, keys.WAKE,
            len(ids), len(replies), len(stops), *ids, *put, *stops,
        )  # fmt: skip
        if isinstance(found, list):
            return _waiting(found)
        if found == b"lost":
            raise LeaseLost(f"the lease of {held.session} is another's")
        return None

    async def release(self, held: Held, *, after: float) -> None:
        p = keys.session(held.session)
        await self._server.run(
            "release", f"{p}:lease:{held.session}", p, str(held.session), held.token, int(after * 1000), keys.WAKE
        )

    async def recover(self) -> int:
        ready = 0
        for number in range(keys.PARTITIONS):
            p = keys.tagged(number)
            found = await self._server.run("recover", f"{p}:ready", p)
            ready += found if isinstance(found, int) else 0
        return ready

    async def status(self, session: SessionKey) -> SessionStatus:
        p = keys.session(session)
        waiting = await self._server.command("LLEN", f"{p}:queue:{session}")
        running = await self._server.command("EXISTS", f"{p}:lease:{session}")
        return SessionStatus(waiting if isinstance(waiting, int) else 0, running == 1)


def _waiting(found: Sequence[Value]) -> Waiting:
    rows, marks, stops = found
    return Waiting(
        tuple(IncomingMessage.from_row(text_of(row)) for row in list_of(rows)),
        _marks(marks),
        tuple(IncomingMessage.from_row(text_of(row)) for row in list_of(stops)),
    )


def _marks(found: Value) -> Mapping[MessageId, MessageId]:
    return {MessageId(message): MessageId(by) for message, by in pairs_of(found).items()}
