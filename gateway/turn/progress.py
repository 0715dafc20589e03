"""Signs of life while a turn runs: typing, and a preview where the channel has one. Never the reply itself."""

import asyncio
import string
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import structlog

from gateway.channel import Channel, ShowsProgress, ShowsTyping
from gateway.clock import Clock
from gateway.message import Route, TurnId

log = structlog.get_logger()

PREVIEW_EVERY = 0.4
"""Seconds between two previews of a turn, at least."""

_WORD = string.ascii_letters + string.digits + string.punctuation


class Progress:
    """`find` gives the channel of a route in this process, if it has one that can send.

    A channel that fails to show them does not harm the turn: it is logged, and nothing more is shown in that turn.
    """

    def __init__(self, find: Callable[[Route], Channel | None], clock: Clock, redact: Callable[[str], str]) -> None:
        self._find, self._clock, self._redact = find, clock, redact

    @asynccontextmanager
    async def shown(self, route: Route, turn: TurnId) -> AsyncIterator[Callable[[str], None]]:
        """Shows that the bot is at work until the body ends; the body reports the text so far."""
        channel, text, news = self._find(route), "", asyncio.Event()

        def heard(so_far: str) -> None:
            nonlocal text
            text = so_far
            news.set()

        async def type_on(shows: ShowsTyping) -> None:
            while True:
                await shows.typing(route)
                await self._clock.wait(shows.typing_every)

        async def preview_on(shows: ShowsProgress) -> None:
            while True:
                await news.wait()
                news.clear()
                if ripe := self._redact(ripened(text)):
                    await shows.preview(route, turn, ripe)
                    await self._clock.wait(PREVIEW_EVERY)

        tasks: list[asyncio.Task[None]] = []
        if isinstance(channel, ShowsTyping):
            tasks.append(asyncio.create_task(type_on(channel)))
        if isinstance(channel, ShowsProgress):
            tasks.append(asyncio.create_task(preview_on(channel)))
        try:
            yield heard
        finally:
            for task in tasks:
                task.cancel()
            for ended in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(ended, Exception):
                    log.warning("progress.failed", channel=route.channel, turn=turn, exc_info=ended)


def ripened(text: str) -> str:
    """What of a growing text may be shown: not its last word, since half a secret is not known as one."""
    return text.rstrip(_WORD).rstrip()
