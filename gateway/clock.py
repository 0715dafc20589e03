"""The one source of time, so that a test can drive it: a class that waits takes a `Clock` as an argument."""

import asyncio
import time
from datetime import UTC, datetime


class Clock:
    """The machine's own time. A test passes a subclass whose time stands still until it is told."""

    def now(self) -> datetime:
        """The wall clock in UTC (aware). It may jump: for stamps and calendars, never for deadlines."""
        return datetime.now(UTC)

    def boot(self) -> float:
        """Seconds since some moment in the past, never going back, for deadlines.

        A sleep of the machine counts (CLOCK_BOOTTIME on Linux; elsewhere CLOCK_MONOTONIC, which counts it on macOS):
        a lease has run out when the laptop is opened again.
        """
        return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))

    async def wait(self, seconds: float) -> None:
        """Return after `seconds` in which the machine was awake; for 0 or less after one turn of the loop."""
        await asyncio.sleep(max(seconds, 0.0))
