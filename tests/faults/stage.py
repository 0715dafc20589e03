"""A stage for schedules that are written out: processes that stop at a named place and go on when told."""

import asyncio
from collections import Counter
from typing import Any

from gateway.tape.store_memory import MemoryTapeStore
from tests.support.clock import ManualClock
from tests.support.gate import Gate, Killed
from tests.support.memory_inbox import MemoryInbox
from tests.support.memory_outbox import MemoryOutbox
from tests.support.memory_server import MemoryServer
from tests.support.promises import check
from tests.support.world import KEY, ROUTE, TTL, WORKSPACE, Process, World


class Actor:
    """One process, and where it stands."""

    def __init__(self, stage: "Stage") -> None:
        self._stage, self._stop_at, self._arrived = stage, "", asyncio.Event()
        self._gate = Gate(self._decide, set())
        self._process = Process(stage.world, self._gate)
        self._task: asyncio.Task[bool] | None = None

    async def until(self, place: str, *, freezes: bool = True) -> None:
        """Works on one session until it comes to this place, if it ever does.

        `freezes`: its lease expires while it stands there.
        """
        self._stop_at = place
        self._arrived.clear()
        if self._task is None:
            self._task = asyncio.create_task(self._process.turns())
        else:
            self._gate.thaw.set()
        arrived = asyncio.create_task(self._arrived.wait())
        async with asyncio.timeout(10):
            await asyncio.wait({arrived, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not arrived.done():
            arrived.cancel()
            return
        if freezes:
            self._process.clock.ahead += self._stage.ahead
            self._expire()

    async def finish(self) -> None:
        """Goes on from where it stands to the end, as a process does that was thawed."""
        self._stop_at = ""
        self._gate.thaw.set()
        if self._task is not None:
            async with asyncio.timeout(10):
                await self._task
        self._task = None

    async def die(self) -> None:
        """kill -9."""
        self._gate.dead = True
        self._gate.thaw.set()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
        self._expire()

    async def all(self) -> None:
        """Answers and delivers everything there is."""
        self._stop_at = ""
        for _ in range(50):
            await self._stage.world.inbox.recover()
            await self._stage.world.outbox.recover([("chat", "bot")])
            if not (await self._process.turns() | await self._process.deliveries()):
                return

    async def all_turns(self) -> None:
        """Answers everything there is, and delivers nothing."""
        while await self._process.turns():
            pass

    def _expire(self) -> None:
        lock = self._stage.server.session(KEY).lock
        if lock and self._process.sessions and lock.token == self._process.sessions[-1].held.token:
            self._stage.server.expire(KEY)

    async def _decide(self, gate: Gate, place: str) -> None:
        if place == self._stop_at:
            gate.thaw.clear()
            self._arrived.set()


class Stage:
    """A world in memory. `store` and `inbox` are the guarded parts, or variants with a guard taken off.

    `ahead`: seconds that a frozen process' clock is ahead; 0 for a suspended one, whose clock stood still as well.
    """

    def __init__(
        self,
        store: type[MemoryTapeStore] = MemoryTapeStore,
        inbox: type[MemoryInbox] = MemoryInbox,
        ahead: float = 1000,
    ) -> None:
        self.clock, self.ahead = ManualClock(), ahead
        self.server = MemoryServer(self.clock)
        parts: list[Any] = [inbox(self.server, ttl=TTL), MemoryOutbox(self.server)]
        self.world = World(self.clock, *parts, store(clock=self.clock, workspace=WORKSPACE))

    def actor(self) -> Actor:
        """One more process."""
        return Actor(self)

    async def ready(self) -> None:
        """Time passes for dead holders."""
        await self.world.inbox.recover()

    async def judge(self, *, wiped: bool = False) -> None:
        """Finishes what is left with a fresh process and checks every promise."""
        self.server.expire_route(ROUTE)
        await self.actor().all()
        await check(self.world, excused=Counter(), wiped=wiped)


__all__ = ["KEY", "Actor", "Killed", "Stage"]
