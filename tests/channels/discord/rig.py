"""A Discord channel, by the real SDK, against the fake, and somebody who listens."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from channels.discord import build
from gateway.channel import Health, Receive
from gateway.message import IncomingMessage, MessageId, Reply, Route, SessionKey, TurnId
from gateway.tape.last_seen import LastSeen
from gateway.tape.store_memory import MemoryTapeStore
from tests.platforms.discord import FakeDiscord, RestCall
from tests.platforms.server import Bell
from tests.support.clock import InstantClock

T = TypeVar("T")

PATIENCE = 20
COMMANDS = (
    ("help", "what I understand"),
    ("status", "what runs and what waits"),
    ("stop", "stops the running turn"),
    ("handoff [name] [note...]", "begins a new phase"),
    ("search <words>", "looks through the whole tape"),
)
SEND = "POST /channels/{id}/messages"


class WatchfulClock(InstantClock):
    """Nobody waits; what the channel said of itself at each wait is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.channel: Any = None
        self.waits: list[tuple[float, Health]] = []
        self._bell = Bell()

    async def wait(self, seconds: float) -> None:
        if self.channel is not None:
            self.waits.append((seconds, self.channel.health))
            self._bell.ring()
        await super().wait(seconds)

    async def until(self, seen: Callable[[list[tuple[float, Health]]], T]) -> T:
        return await self._bell.until(lambda: seen(self.waits), PATIENCE)


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
        await self._bell.until(lambda: len(self.heard) >= count, PATIENCE)
        return [message.text for message in self.heard]

    async def places_say(self, *texts: str) -> None:
        """Until these were heard, by two places."""
        two = [(place, text) for text in texts for place in (True, False)]
        await self._bell.until(lambda: {(m.private, m.text) for m in self.heard}.issuperset(two), PATIENCE)

    async def calls(self, count: int) -> None:
        await self._bell.until(lambda: self.called >= count, PATIENCE)


class MemoryTokens:
    """Reply tokens that several channels share; time stands still."""

    def __init__(self) -> None:
        self.kept: dict[MessageId, str] = {}

    async def keep(self, message: MessageId, token: str, seconds: int) -> None:
        self.kept[message] = token

    async def find(self, message: MessageId) -> str | None:
        return self.kept.get(message)


class Rig:
    """Makes channels of the fake's bot, and closes them. `store` is what a restart, and a wiped Redis, leave there."""

    def __init__(self, fake: FakeDiscord, folder: Path, clock: WatchfulClock) -> None:
        self.dc, self.poison, self.clock = fake, folder / "poison", clock
        self.store, self.tokens = MemoryTapeStore(), MemoryTokens()
        self._made: list[Any] = []

    def channel(self, **changes: Any) -> Any:
        settings: dict[str, Any] = {
            "token": self.dc.token,
            "poison_folder": self.poison,
            "last_seen": LastSeen(self.store, "w", self.clock, "discord"),
            "tokens": self.tokens,
            "clock": self.clock,
            "api_base": self.dc.url,
            "gateway_url": self.dc.gateway_url,
            "message_content": True,
            "commands": COMMANDS,
        }
        channel = build(**settings | changes)
        self.clock.channel = channel
        self._made.append(channel)
        return channel

    @asynccontextmanager
    async def running(self, receive: Receive | None, **changes: Any) -> AsyncIterator[Any]:
        """A channel that runs; what is said from now on reaches it, unless something is in its way."""
        channel = self.channel(**changes)
        task = asyncio.create_task(channel.run(receive))
        try:
            yield channel
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    @asynccontextmanager
    async def connected(self, receive: Receive, **changes: Any) -> AsyncIterator[Any]:
        """As `running`, with a session that has begun and the commands registered."""
        before = len(self.dc.world.sessions)
        async with self.running(receive, **changes) as channel:
            await self.dc.wait_session(before + 1)
            await self.until_told(channel, "connected")
            yield channel

    async def until_told(self, channel: Any, state: str) -> Health:
        async with asyncio.timeout(PATIENCE):
            while channel.health.state != state:
                await asyncio.sleep(0)
        health: Health = channel.health
        return health

    async def registered(self, count: int = 1) -> None:
        """Until the commands are at Discord."""
        await self.dc.wait(lambda: self.dc.commands_put >= count and self.dc.bot.commands, PATIENCE)

    async def sent(self, channel: Any, reply: Reply, *, repeated: bool = False) -> list[str]:
        """Sends a whole reply, as Delivery does."""
        parts = channel.render(reply.text)
        return [
            await channel.send(reply, part, index=index, of=len(parts), repeated=repeated)
            for index, part in enumerate(parts)
        ]

    async def close(self) -> None:
        for channel in self._made:
            await channel.close()


def reply_to(channel: str, text: str = "", *, answers: str | None = None, turn: str = "discord/1/1") -> Reply:
    """A reply of the bot in a channel."""
    return Reply(TurnId(turn), SessionKey("discord", "1", channel), Route("discord", "1", channel), text, answers)


def answer(message: IncomingMessage, text: str) -> Reply:
    """The reply to a message, as the gateway makes it."""
    return Reply(message.turn, message.session, message.route, text, message.reply_to)


def sends(fake: FakeDiscord) -> list[RestCall]:
    return fake.calls_of(SEND)
