"""A Telegram channel against the fake Bot API, and somebody who listens."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from channels.telegram import build
from channels.telegram.adapter import TelegramChannel
from gateway.channel import Health, Receive
from gateway.message import IncomingMessage, Reply, Route, SessionKey, TurnId
from tests.platforms.server import Bell
from tests.platforms.telegram import FakeTelegram
from tests.support.clock import InstantClock

T = TypeVar("T")


class WatchfulClock(InstantClock):
    """Nobody waits; what the channel said of itself at each wait is kept, and `until` waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.channel: TelegramChannel | None = None
        self.waits: list[tuple[float, Health]] = []
        self._bell = Bell()

    async def wait(self, seconds: float) -> None:
        if self.channel is not None:
            self.waits.append((seconds, self.channel.health))
            self._bell.ring()
        await super().wait(seconds)

    async def until(self, seen: Callable[[list[tuple[float, Health]]], T]) -> T:
        return await self._bell.until(lambda: seen(self.waits), 20)

    def seconds(self, state: str) -> list[float]:
        return [seconds for seconds, health in self.waits if health.state == state]


class Ear:
    """A `receive` that keeps what it is given; `fails` are raised first, one a call, while `opened` it waits."""

    def __init__(self) -> None:
        self.heard: list[IncomingMessage] = []
        self.fails: list[Exception] = []
        self.called = 0
        self.opened = asyncio.Event()
        self.opened.set()
        self._bell = Bell()

    async def __call__(self, message: IncomingMessage) -> None:
        self.called += 1
        self._bell.ring()
        await self.opened.wait()
        if self.fails:
            raise self.fails.pop(0)
        self.heard.append(message)
        self._bell.ring()

    async def texts(self, count: int) -> list[str]:
        await self._bell.until(lambda: len(self.heard) >= count, 20)
        return [message.text for message in self.heard]

    async def calls(self, count: int) -> None:
        await self._bell.until(lambda: self.called >= count, 20)


class Rig:
    """Makes channels of the fake's bot, and closes them."""

    def __init__(self, tg: FakeTelegram, folder: Path) -> None:
        self.tg, self.poison = tg, folder / "poison"
        self._made: list[TelegramChannel] = []

    def channel(self, **changes: Any) -> TelegramChannel:
        settings: dict[str, Any] = {"token": self.tg.token, "poison_folder": self.poison, "api_base": self.tg.url}
        channel = build(**settings | {"clock": WatchfulClock()} | changes)
        if isinstance(clock := changes.get("clock"), WatchfulClock):
            clock.channel = channel
        self._made.append(channel)
        return channel

    @asynccontextmanager
    async def running(self, receive: Receive, **changes: Any) -> AsyncIterator[TelegramChannel]:
        channel = self.channel(**changes)
        task = asyncio.create_task(channel.run(receive))
        try:
            yield channel
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def close(self) -> None:
        for channel in self._made:
            await channel.close()


def reply_to(conversation: int, text: str = "", *, thread: int | None = None, answers: str | None = None) -> Reply:
    name = None if thread is None else str(thread)
    key = SessionKey("telegram", "42", str(conversation), name)
    route = Route("telegram", "42", str(conversation), name)
    return Reply(TurnId("telegram/42/1"), key, route, text, answers)
