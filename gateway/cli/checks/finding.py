"""What a check found, and how a check is tried."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gateway.errors import GatewayError

if TYPE_CHECKING:
    from gateway.settings import Settings

PATIENCE = 10.0
"""Seconds that one check may take."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`advice` is what to do, where there is something."""

    part: str
    state: Literal["ok", "warn", "fail"]
    detail: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.state:<4} {self.part}: {self.detail}" + (f"\n       {self.advice}" if self.advice else "")


Check = Callable[["Settings"], Awaitable[Sequence[Finding]]]


async def tried(part: str, check: Check, settings: "Settings", *, patience: float = PATIENCE) -> Sequence[Finding]:
    """What the check found within so many seconds; an error is a finding too."""
    try:
        async with asyncio.timeout(patience):
            return await check(settings)
    except TimeoutError:
        return [Finding(part, "fail", f"no answer within {patience:.0f} s", "is the address right and reachable?")]
    except (GatewayError, OSError) as error:
        return [Finding(part, "fail", str(error))]


def off(part: str, setting: str) -> Finding:
    """A channel that is not asked for."""
    return Finding(part, "ok", f"off ({setting} is not set)")


def unreachable(part: str, address: str, setting: str) -> Finding:
    """Nobody answers there."""
    return Finding(part, "fail", f"{address} cannot be reached", f"mend the network, or {setting}")


def people(part: str, ids: Iterable[str], wrong: Callable[[str], str]) -> list[Finding]:
    """A warning where an id of `admins` or `allow` can be nobody's. `wrong`: why, or an empty text."""
    reasons = [f"{person} {reason}" for person in dict.fromkeys(ids) if (reason := wrong(person))]
    advice = "the bot tells the right id to whoever sends it /whoami"
    return [Finding(f"{part} people", "warn", "; ".join(reasons), advice)] if reasons else []
