"""Whom a platform holds for an admin, remembered for minutes: rights must not cost a request a message."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from gateway.clock import Clock
from gateway.errors import GatewayError

log = structlog.get_logger()

KEPT: Final = 300.0
"""Seconds that an answer of the platform counts."""

_MOST: Final = 10_000


class Admins:
    """`ask(place, person)` asks the platform; it raises Retryable when that cannot be."""

    def __init__(self, ask: Callable[[str, str], Awaitable[bool]], clock: Clock) -> None:
        self._ask, self._clock = ask, clock
        self._known: dict[tuple[str, str], tuple[float, bool]] = {}  # the oldest first
        self._asking: dict[tuple[str, str], asyncio.Task[None]] = {}

    def known(self, place: str, person: str) -> bool | None:
        """What was learnt in the last minutes. None: it is not known; it is asked for now, for the next time."""
        if (found := self._fresh(place, person)) is None and (place, person) not in self._asking:
            task = self._asking[place, person] = asyncio.create_task(self._warm(place, person))
            task.add_done_callback(lambda _: self._asking.pop((place, person), None))
        return found

    def learn(self, place: str, person: str, is_admin: bool) -> None:
        """The platform said so by itself."""
        self._known.pop((place, person), None)
        self._known[place, person] = self._clock.boot(), is_admin
        while len(self._known) > _MOST:
            del self._known[next(iter(self._known))]

    async def find(self, place: str, person: str) -> bool:
        """As `known`, and waits for the platform's answer. Raises what `ask` raises."""
        if (found := self._fresh(place, person)) is None:
            found = await self._ask(place, person)
            self.learn(place, person, found)
        return found

    async def close(self) -> None:
        """Asks nothing more."""
        for task in list(self._asking.values()):
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)

    def _fresh(self, place: str, person: str) -> bool | None:
        found = self._known.get((place, person))
        return None if found is None or self._clock.boot() - found[0] >= KEPT else found[1]

    async def _warm(self, place: str, person: str) -> None:
        try:
            await self.find(place, person)
        except GatewayError as error:
            log.debug("admins.not_known", reason=str(error))
