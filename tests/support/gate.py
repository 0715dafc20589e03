"""Where the adversary stands: before and after the effect of every port call of every process."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from gateway.clock import Clock
from gateway.session.outbox import PartState


class Killed(BaseException):
    """The process ends here: nothing catches this."""


class ProcessClock(Clock):
    """The time as one process knows it: ahead of the others' when it was frozen."""

    def __init__(self, shared: Clock) -> None:
        self.shared, self.ahead = shared, 0.0

    def now(self) -> datetime:
        return self.shared.now()

    def boot(self) -> float:
        return self.shared.boot() + self.ahead

    async def wait(self, seconds: float) -> None:
        await self.shared.wait(seconds)


class Gate:
    """One process' port calls. `decide` is asked at each place; the names of all places asked are kept in `seen`."""

    def __init__(self, decide: Callable[["Gate", str], Awaitable[None]], seen: set[str]) -> None:
        self._decide, self._seen = decide, seen
        self.dead = False
        self.under_way: tuple[str, int] | None = None  # a part whose send began and whose receipt is not on the tape
        self.thaw = asyncio.Event()
        self.thaw.set()

    async def at(self, place: str) -> None:
        """Raises Killed when the process is dead; returns later when it is frozen."""
        self._seen.add(place)
        if not self.dead:
            await self._decide(self, place)
            await self.thaw.wait()
        if self.dead:
            raise Killed(place)

    def wrap(self, name: str, port: Any, methods: tuple[str, ...]) -> Any:
        """The port, with the gate before and after these methods."""
        return _Gated(self, name, port, methods)


class _Gated:
    def __init__(self, gate: Gate, name: str, port: Any, methods: tuple[str, ...]) -> None:
        self._gate, self._name, self._port, self._methods = gate, name, port, methods

    def __getattr__(self, method: str) -> Any:
        found = getattr(self._port, method)
        if method not in self._methods:
            return found
        place = f"{self._name}.{method}"

        async def called(*args: Any, **named: Any) -> Any:
            await self._gate.at(f"{place}:before")
            if place == "outbox.note" and args[2] in (PartState.INTENT, PartState.AGAIN):
                self._gate.under_way = (args[0].reply.turn, args[1])
            result = await found(*args, **named)
            if place == "store.append" and getattr(args[1][0].fact, "name", "") == "delivery":
                self._gate.under_way = None
            await self._gate.at(f"{place}:after")
            return self._gate.wrap("claim", result, ("write",)) if method == "claim" else result

        return called
