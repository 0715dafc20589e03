"""A lease: a timeout that somebody keeps pushing out.

The write that it protects is fenced all the same (see the tape store): a lease saves work and keeps people's order,
it is never the last line.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Generic, NoReturn, TypeVar

from gateway.clock import Clock
from gateway.errors import LeaseLost, Retryable

T = TypeVar("T")


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
        clock: Clock,
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

    async def refresh(self) -> None:
        """Renews at once and tells the news. Raises LeaseLost, or Retryable when the server cannot be asked."""
        asked = self._clock.boot()
        news = await self._renew()
        self._deadline = max(self._deadline, asked + self._ttl)  # two may be under way, and answer in any order
        self._alarm()
        self._told(news)

    @asynccontextmanager
    async def held(self) -> AsyncIterator["Lease[T]"]:
        """Renews while the body runs; cancels the body and raises LeaseLost if that fails until the deadline.

        An error of the body passes unchanged. An error of `renew` or `told` that nobody expects ends the body as well.
        """
        try:
            async with asyncio.timeout(None) as timeout:
                self._timeout = timeout
                self._alarm()
                keeper = asyncio.create_task(self._keep())
                keeper.add_done_callback(lambda _: self._alarm(now=True))
                try:
                    yield self
                finally:
                    self._timeout = None
                    keeper.cancel()
                    await asyncio.gather(keeper, return_exceptions=True)
        except TimeoutError:
            if not timeout.expired():
                raise
        if timeout.expired():  # asked here, not above: a body that swallows its cancellation has lost the lease too
            reason = None if keeper.cancelled() else keeper.exception()
            raise reason or LeaseLost(f"the lease of {self._name} ran out")

    async def _keep(self) -> NoReturn:
        while True:
            await self._pause(self._ttl / 6)
            with suppress(Retryable):
                await self.refresh()

    def _alarm(self, *, now: bool = False) -> None:
        """Sets the time at which the body is cancelled. After the body, and once it rang, there is nothing to set."""
        if self._timeout is not None and not self._timeout.expired():
            left = 0.0 if now else self._deadline - self._clock.boot()
            self._timeout.reschedule(asyncio.get_running_loop().time() + left)

    async def _pause(self, seconds: float) -> None:
        waits = {asyncio.create_task(self._clock.wait(seconds)), asyncio.create_task(self._hurry.wait())}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()
        self._hurry.clear()
