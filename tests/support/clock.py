"""Time that a test drives."""

import asyncio
import heapq
import itertools
from datetime import UTC, datetime, timedelta

from gateway.clock import Clock

_START = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)


class ManualClock(Clock):
    """Stands still until `advance`; both its clocks move together."""

    def __init__(self, start: datetime = _START) -> None:
        self._start, self._passed = start, 0.0
        self._waiters: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._passed)

    def boot(self) -> float:
        return 1000.0 + self._passed

    async def wait(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        waiter = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiters, (self._passed + seconds, next(self._numbers), waiter))
        await waiter

    @property
    def waiters(self) -> int:
        """How many tasks wait now (those cancelled meanwhile not counted)."""
        return sum(not waiter.done() for _, _, waiter in self._waiters)

    def advance(self, seconds: float) -> None:
        """Lets time pass. Whoever waits for a moment within it goes on at the next turn of the loop, oldest first."""
        self._passed += seconds
        while self._waiters and self._waiters[0][0] <= self._passed:
            waiter = heapq.heappop(self._waiters)[2]
            if not waiter.done():
                waiter.set_result(None)

    async def pass_by(self, seconds: float, *, step: float = 1.0) -> None:
        """As `advance`, in steps, and everybody gets some turns of the loop between them."""
        left = seconds
        while left > 0:
            self.advance(min(step, left))
            left -= step
            for _ in range(20):
                await asyncio.sleep(0)

    async def until_waiting(self, tasks: int = 1) -> None:
        """Returns when so many tasks wait. Raises TimeoutError after 5 s of the real clock."""
        async with asyncio.timeout(5):
            while self.waiters < tasks:
                await asyncio.sleep(0)


class InstantClock(ManualClock):
    """Nobody ever waits: a wait moves the time and returns after one turn of the loop."""

    async def wait(self, seconds: float) -> None:
        self.advance(max(seconds, 0.0))
        await asyncio.sleep(0)
