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
        self._well = self._told = supervisor.health
        self._in_trouble = 0

    async def give(
        self,
        receive: Receive,
        read: Callable[[], IncomingMessage | None],
        raw: Mapping[str, object],
        name: str,
    ) -> IncomingMessage | None:
        """Returns when the platform may be told: what was taken in, or None where there was nothing for the bot.

        `read` parses, once, and may raise Unreadable; `name` is a file's name. Raises Lost when another process has
        the account by now.
        """
        backoff, failures, waited, is_read = Backoff(), 0, False, False
        message: IncomingMessage | None = None
        try:
            while True:
                try:
                    if failures >= TRIES:
                        await self._set_aside(raw, name)
                        return None
                    if not is_read:  # once: what was overheard before a message is given once
                        message, is_read = read(), True
                    if message is not None:
                        await receive(message)
                except Unreadable:
                    failures = TRIES
                    continue
                except Retryable as later:
                    trouble = f"messages wait to be taken in: {later}"
                    wait = backoff.next() if later.after is None else later.after
                except Lost:
                    raise
                except Exception:  # ours: those behind this update must come in, so it is tried, then set aside
                    log.exception(f"{self._channel}.receive_failed", update=name)
                    trouble = "a message cannot be taken in; see the log"
                    failures += 1
                    wait = backoff.next()
                else:
                    return message
                self._in_trouble += not waited
                waited = True
                self._complain(trouble)
                await self._clock.wait(wait)
        finally:
            self._in_trouble -= waited
            if waited and not self._in_trouble and self._supervisor.health == self._told:
                self._supervisor.tell(self._well)

    def _complain(self, trouble: str) -> None:
        """Says so, until nobody waits any more; what others said of the channel meanwhile stays."""
        if self._supervisor.health != self._told:
            self._well = self._supervisor.health
        self._told = Health("degraded", trouble)
        self._supervisor.tell(self._told)

    async def _set_aside(self, raw: Mapping[str, object], name: str) -> None:
        path = await self._poison.keep(raw, name)
        log.error(f"{self._channel}.update_set_aside", update=name, file=str(path))
