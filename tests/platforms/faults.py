"""What may go wrong between a bot and its platform, and when: the next calls of a method, or those picked."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.platforms.server import LocalServer

ANY: Final = "*"
"""As the method of an injection: calls of every method, if `when` picks them."""


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """429 without effect; the platform says how long to wait."""

    seconds: int


@dataclass(frozen=True, slots=True)
class ServerError:
    """5xx without effect; `html` answers as a proxy in front of the platform does."""

    status: int = 502
    html: bool = False


@dataclass(frozen=True, slots=True)
class DropReply:
    """The effect happens, then the connection is cut without an answer: the caller cannot know."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """The connection is cut before any effect."""


@dataclass(frozen=True, slots=True)
class Slow:
    """The call waits for the event, or some seconds, before its effect, or (`after`) between effect and answer."""

    until: asyncio.Event | float
    after: bool = False

    async def wait(self) -> None:
        match self.until:
            case asyncio.Event():
                await self.until.wait()
            case seconds:
                await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Conflict409:
    """Somebody else polls with this token, as if another instance of the bot were running."""


@dataclass(frozen=True, slots=True)
class Rejects:
    """Any other refusal, without effect."""

    status: int
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


Fault = RetryAfter | ServerError | DropReply | Refuse | Slow | Conflict409 | Rejects


@dataclass(frozen=True, slots=True)
class File:
    """A file sent to the platform."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Call:
    """One request of a bot as it arrived."""

    method: str
    form: Mapping[str, str]
    files: Mapping[str, File]
    at: float
    token: str


@dataclass(slots=True)
class Injection:
    """A fault waiting for its calls; `hits` counts those it met, `left` those to come (None: for ever)."""

    method: str
    fault: Fault
    left: int | None
    when: Callable[[Call], bool]
    hits: int = 0

    def cancel(self) -> None:
        self.left = 0


@dataclass(frozen=True, slots=True)
class Faults:
    """Faults of one fake, first injected first met; one fault a call."""

    waiting: deque[Injection] = field(default_factory=deque)

    def add(self, method: str, fault: Fault, times: int | None, when: Callable[[Call], bool] | None) -> Injection:
        injection = Injection(method, fault, times, when or (lambda call: True))
        self.waiting.append(injection)
        return injection

    def take(self, call: Call) -> Fault | None:
        for injection in self.waiting:
            if injection.left != 0 and injection.method.lower() in (ANY, call.method.lower()) and injection.when(call):
                injection.hits += 1
                if injection.left is not None:
                    injection.left -= 1
                return injection.fault
        return None


async def pause(slow: Slow, server: LocalServer) -> None:
    """Wait as the fault says, but no longer than the server lives."""
    waiting = asyncio.ensure_future(slow.wait())
    closing = asyncio.ensure_future(server.bell.until(lambda: server.closing, timeout=3600))
    try:
        await asyncio.wait({waiting, closing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        closing.cancel()
