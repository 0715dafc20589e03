"""The servers that the contracts run against: memory, and what speaks Redis' protocol."""

import asyncio
import math

from gateway.clock import Clock
from gateway.message import MessageId, Route, SessionKey, TurnId
from gateway.session import keys
from gateway.session.inbox_redis import RedisInbox
from gateway.session.outbox_redis import RedisOutbox
from gateway.session.server_redis import RedisServer
from tests.support.clock import ManualClock
from tests.support.memory_inbox import MemoryInbox
from tests.support.memory_outbox import MemoryOutbox
from tests.support.memory_server import MemoryServer


class InMemory:
    """The doubles, with a clock that only `pause` moves."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.server = MemoryServer(self.clock)

    def inbox(self, *, ttl: float = 30.0, capacity: int = 1000, only: str | None = None) -> MemoryInbox:
        return MemoryInbox(self.server, ttl=ttl, capacity=capacity, only=only)

    def outbox(self, *, ttl: float = 30.0) -> MemoryOutbox:
        return MemoryOutbox(self.server, ttl=ttl)

    async def pause(self) -> None:
        self.clock.advance(0.01)

    async def lease_left(self, what: SessionKey | Route) -> float:
        there = self.server.session(what) if isinstance(what, SessionKey) else self.server.route(what)
        return there.lock.until - self.clock.boot() if there.lock else -math.inf

    async def known_for(self, what: MessageId | TurnId, at: SessionKey, *, turn: bool = False) -> float | None:
        known = self.server.state.known.get(TurnId(what)) if turn else self.server.state.seen.get(MessageId(what))
        return None if known == math.inf else (known or -math.inf) - self.clock.boot()


class OnRedis:
    """The real thing, with the real clock."""

    def __init__(self, server: RedisServer) -> None:
        self._server, self._clock = server, Clock()

    def inbox(self, *, ttl: float = 30.0, capacity: int = 1000, only: str | None = None) -> RedisInbox:
        return RedisInbox(self._server, self._clock, ttl=ttl, capacity=capacity, only=only)

    def outbox(self, *, ttl: float = 30.0) -> RedisOutbox:
        return RedisOutbox(self._server, self._clock, ttl=ttl)

    async def pause(self) -> None:
        await asyncio.sleep(0.01)

    async def lease_left(self, what: SessionKey | Route) -> float:
        kind = "lease" if isinstance(what, SessionKey) else "rlease"
        left = await self._server.command("PTTL", f"{keys.partition(what.place)}:{kind}:{what}")
        assert isinstance(left, int)
        return left / 1000

    async def known_for(self, what: MessageId | TurnId, at: SessionKey, *, turn: bool = False) -> float | None:
        left = await self._server.command("PTTL", f"{keys.session(at)}:{'known' if turn else 'seen'}:{what}")
        assert isinstance(left, int)
        return None if left == -1 else left / 1000
