"""A lease: a timeout that somebody keeps pushing out.

The write that it protects is fenced all the same (see the tape store): a lease saves work and keeps people's order,
it is never the last line.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Generic, Protocol, TypeVar

from gateway.errors import LeaseLost, Retryable

T = TypeVar("T")


class Ticks(Protocol):
    """The part of the clock that a lease needs."""

    def boot(self) -> float: ...
    async def wait(self, seconds: float) -> None: ...


class Lease(Generic[T]):
    """One lease as held. `renew` pushes it out on the server and returns news, or raises LeaseLost.

    The deadline counts from *before* the request was sent, on a clock that goes on while the machine sleeps.
    `told` receives the news of each renewal.
    """

    def __init__(
        self,
        renew: Callable[[], Awaitable[T]],
        *,
        name: str,
        ttl: float,
        asked: float,
        clock: Ticks,
        told: Callable[[T], None] = lambda _news: None,
    ) -> None:
        self._renew, self._told, self._clock = renew, told, clock
        self._name, self._ttl, self._deadline = name, ttl, asked + ttl
        self._timeout: asyncio.Timeout | None = None
        self._hurry = asyncio.Event()

    def ensure(self) -> None:
        """Raises LeaseLost unless the lease is certainly still held. Compares the clock: a flag would lie after a
        freeze, because nobody ran to lower it."""
        if self._clock.boot() >= self._deadline:
            raise LeaseLost(f"the lease of {self._name} ran out")

    def hurry(self) -> None:
        """Renews now rather than at the next turn of the clock: there is news to fetch."""
        self._hurry.set()

    @asynccontextmanager
    async def held(self) -> AsyncIterator["Lease[T]"]:
        """Renews while the body runs; cancels the body and raises LeaseLost if that fails until the deadline."""
        loop = asyncio.get_running_loop()
        self._timeout = asyncio.timeout_at(loop.time() + self._deadline - self._clock.boot())
        try:
            async with self._timeout:
                keeper = asyncio.create_task(self._keep(self._timeout))
                try:
                    yield self
                finally:
                    keeper.cancel()
                    await asyncio.gather(keeper, return_exceptions=True)
        except TimeoutError:
            if self._timeout.expired():
                raise LeaseLost(f"the lease of {self._name} was lost") from None
            raise

    async def _keep(self, timeout: asyncio.Timeout) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._pause(self._ttl / 6)
            asked = self._clock.boot()
            try:
                news = await self._renew()
            except LeaseLost:
                timeout.reschedule(loop.time())
                return
            except Retryable:
                continue
            self._deadline = asked + self._ttl
            timeout.reschedule(loop.time() + self._deadline - self._clock.boot())
            self._told(news)

    async def _pause(self, seconds: float) -> None:
        waits = {asyncio.create_task(self._clock.wait(seconds)), asyncio.create_task(self._hurry.wait())}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()
        self._hurry.clear()
