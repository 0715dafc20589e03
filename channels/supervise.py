"""Keeps one connection going: a fresh round after each that ended, patience between them, and health that is true."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Final

import structlog

from channels.backoff import Backoff
from gateway.channel import Health
from gateway.clock import Clock
from gateway.errors import Lost, Refused, Retryable

log = structlog.get_logger()

Holder = Callable[[str], AbstractAsyncContextManager[object]]
"""Waits until this process holds the bot account; the body is cancelled, and LeaseLost raised, when it no more does."""

RARELY: Final = 60.0
"""Seconds between tries of what needs a person first: a wrong token, a missing switch."""

STANDBY: Final = Health("standby", "another process holds this bot's connection")


class Supervisor:
    """`health` is what was told last. A channel tells "connected" when that is true, which ends the growing waits."""

    def __init__(self, channel: str, clock: Clock) -> None:
        self._channel, self._clock, self._backoff = channel, clock, Backoff()
        self.health = Health("starting")

    def tell(self, health: Health) -> None:
        """What is true from now on; a change is a line of the log."""
        if health.state == "connected":
            self._backoff.reset()
        if health != self.health:
            self.health = health
            log.info(f"{self._channel}.health", state=health.state, detail=health.detail)

    async def run(self, once: Callable[[], Awaitable[None]]) -> None:
        """Runs rounds until cancelled. A round ends by returning, or by saying why it cannot go on.

        Retryable: it is tried again, after the time that it names; Refused: rarely, since a person must act first;
        Lost: another process holds the account.
        """
        while True:
            wait = None
            try:
                await once()
            except Lost as lost:
                log.warning(f"{self._channel}.account_lost", reason=str(lost))
                self.tell(STANDBY)
            except Retryable as away:
                wait = away.after
                self.tell(Health("degraded", f"not connected: {away}"))
            except Refused as never:
                wait = RARELY
                self.tell(Health("off", str(never)))
            except Exception:  # a fault of ours ends a round, never the channel: the other channels run on
                log.exception(f"{self._channel}.round_failed")
                self.tell(Health("degraded", "a fault of the gateway; see the log"))
            await self._clock.wait(self._backoff.next() if wait is None else wait)
