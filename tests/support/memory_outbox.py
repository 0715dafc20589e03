"""The outbox in memory: the same rules as the scripts, nothing inside awaits, so each method is one step."""

import math
import secrets
from collections.abc import Iterable, Iterator

from gateway.errors import LeaseLost
from gateway.message import Reply, Route
from gateway.session.keys import KNOWN_FOR
from gateway.session.outbox import Parcel, PartState
from tests.support.memory_server import Lock, MemoryServer, RouteState


class MemoryOutbox:
    """Any number of them, and of inboxes, share one MemoryServer."""

    def __init__(self, server: MemoryServer, *, ttl: float = 30.0) -> None:
        self._server, self._ttl = server, ttl

    async def put(self, reply: Reply) -> bool:
        self._server.now()
        return put_reply(self._server, reply)

    async def take(self, accounts: Iterable[tuple[str, str]]) -> Parcel | None:
        now = self._server.now()
        due = [(there.due, route) for route, there in self._of(accounts) if there.due is not None and there.due <= now]
        for _, route in sorted(due, key=lambda pair: pair[0]):
            there = self._server.route(route)
            there.due = None
            if there.replies and not (there.lock and there.lock.until > now):
                there.lock = Lock(secrets.token_hex(8), now + self._ttl)
                reply = next(iter(there.replies.values()))
                return Parcel(reply, there.lock.token, self._server.clock.boot(), dict(there.parts), there.tries)
        return None

    async def note(self, parcel: Parcel, part: int, state: PartState | None) -> None:
        there, lock = self._held(parcel)
        lock.until = self._server.now() + self._ttl
        if state is None:
            there.parts.pop(part, None)
        else:
            there.parts[part] = state

    async def renew(self, parcel: Parcel) -> None:
        _, lock = self._held(parcel)
        lock.until = self._server.now() + self._ttl

    async def done(self, parcel: Parcel) -> None:
        there, _ = self._held(parcel)
        there.replies.pop(parcel.reply.turn, None)
        there.parts, there.tries = {}, 0
        self._server.state.known[parcel.reply.turn] = self._server.now() + KNOWN_FOR
        self._give_back(there, after=0)

    async def defer(self, parcel: Parcel, seconds: float, *, counts: bool) -> None:
        there, _ = self._held(parcel)
        there.tries += int(counts)
        self._give_back(there, after=seconds)

    async def recover(self, accounts: Iterable[tuple[str, str]]) -> int:
        now, due = self._server.now(), 0
        for _, there in self._of(accounts):
            if there.lock and there.lock.until <= now:
                there.lock = None
                if there.replies and there.due is None:
                    there.due = now
            due += there.due is not None and there.due <= now
        return due

    async def owed(self, route: Route) -> int:
        self._server.now()
        return len(self._server.route(route).replies)

    def _of(self, accounts: Iterable[tuple[str, str]]) -> Iterator[tuple[Route, RouteState]]:
        wanted = set(accounts)
        for route, there in self._server.state.routes.items():
            if (route.channel, route.account) in wanted:
                yield route, there

    def _held(self, parcel: Parcel) -> tuple[RouteState, Lock]:
        now, there = self._server.now(), self._server.route(parcel.reply.route)
        if there.lock is None or there.lock.token != parcel.token or there.lock.until <= now:
            raise LeaseLost(f"the lease of {parcel.reply.route} is another's")
        return there, there.lock

    def _give_back(self, there: RouteState, *, after: float) -> None:
        there.lock = None
        if there.replies:
            there.due = self._server.now() + after
            self._server.wakes.due.set()


def put_reply(server: MemoryServer, reply: Reply) -> bool:
    """Queues the reply at the end of its route, unless its turn is known."""
    now, known = server.clock.boot(), server.state.known
    if known.get(reply.turn, -math.inf) > now:
        return False
    known[reply.turn] = math.inf
    there = server.route(reply.route)
    there.replies[reply.turn] = reply
    if there.due is None and not (there.lock and there.lock.until > now):
        there.due = now
    server.wakes.due.set()
    return True
