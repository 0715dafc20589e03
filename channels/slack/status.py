"""Shows that the bot is at work: the status line of a thread (facts 3.1)."""

from typing import Final

import structlog

from channels.slack.api import Api
from gateway.channel import Ambiguous
from gateway.clock import Clock
from gateway.errors import GatewayError, Refused
from gateway.message import Route

log = structlog.get_logger()

EVERY: Final = 60.0
"""Seconds: Slack shows it for two minutes, or until the next message."""

_TEXT: Final = "is thinking..."
_LATER: Final = 600.0  # seconds until it is tried again where Slack does not let this app


class Status:
    """A DM outside a thread has no such line: nothing is shown there."""

    def __init__(self, api: Api, clock: Clock) -> None:
        self._api, self._clock, self._not_before = api, clock, 0.0

    async def show(self, route: Route) -> None:
        """Failures are of no consequence."""
        if route.thread is None or self._clock.boot() < self._not_before:
            return
        body = {"channel_id": route.conversation, "thread_ts": route.thread, "status": _TEXT}
        try:
            await self._api.send("assistant.threads.setStatus", body)
        except Refused as never:
            self._not_before = self._clock.boot() + _LATER
            log.debug("slack.status_refused", reason=str(never))
        except (GatewayError, Ambiguous) as failed:
            log.debug("slack.status_failed", reason=str(failed))
