"""From one raw update to `receive`, until it is durable, or nothing to us, or set aside where people find it."""

from collections.abc import Callable, Mapping
from typing import Final

import structlog

from channels.backoff import Backoff
from channels.poison import PoisonFolder
from channels.supervise import Supervisor
from gateway.channel import Health, Receive
from gateway.clock import Clock
from gateway.errors import Lost, Retryable
from gateway.message import IncomingMessage

log = structlog.get_logger()

TRIES: Final = 3
"""So often an update is tried that meets a fault of ours; then it is set aside, since those behind it must come in."""


class Unreadable(Exception):
    """What came is not what the platform's documents say. It holds a person's words: not for the log."""


class Handover:
    """One update after the other: the next must not overtake one that waits for Redis."""

    def __init__(self, channel: str, poison: PoisonFolder, supervisor: Supervisor, clock: Clock) -> None:
        self._channel, self._poison, self._supervisor, self._clock = channel, poison, supervisor, clock

    async def give(
        self,
        receive: Receive,
        read: Callable[[], IncomingMessage | None],
        raw: Mapping[str, object],
        name: str,
    ) -> None:
        """Returns when the platform may be told. `read` parses and may raise Unreadable; `name` is a file's name.

        Raises Lost when another process has the account by now.
        """
        well, backoff, failures = self._supervisor.health, Backoff(), 0
        while True:
            try:
                if failures < TRIES:
                    if (message := read()) is not None:
                        await receive(message)
                else:
                    await self._set_aside(raw, name)
                break
            except Unreadable:
                failures, wait = TRIES, 0.0
            except Retryable as later:
                self._supervisor.tell(Health("degraded", f"messages wait to be taken in: {later}"))
                wait = backoff.next() if later.after is None else later.after
            except Lost:
                raise
            except Exception:  # a fault of ours: those behind this update must come in, so it is tried, then set aside
                log.exception(f"{self._channel}.receive_failed", update=name)
                self._supervisor.tell(Health("degraded", "a message cannot be taken in; see the log"))
                failures += 1
                wait = backoff.next()
            if wait:
                await self._clock.wait(wait)
        if failures or self._supervisor.health != well:
            self._supervisor.tell(well)

    async def _set_aside(self, raw: Mapping[str, object], name: str) -> None:
        path = await self._poison.keep(raw, name)
        log.error(f"{self._channel}.update_set_aside", update=name, file=str(path))
