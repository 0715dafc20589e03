"""The real discord.py, pointed at the fake, with small words for what the tests ask it often."""

import asyncio
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest
import yarl

from tests.platforms.discord import FakeDiscord
from tests.platforms.server import Bell

with warnings.catch_warnings():
    # It imports `audioop`, which Python 3.13 takes away; the import is the SDK's.
    warnings.simplefilter("ignore", DeprecationWarning)
    import discord as discord

T = TypeVar("T")


class Client(discord.Client):
    """A bot that answers nothing by itself and remembers what it heard."""

    def __init__(self, intents: discord.Intents | None = None, **options: Any) -> None:
        every = discord.Intents.default()
        every.message_content = True
        options = {"max_messages": None, "guild_ready_timeout": 0.01, "chunk_guilds_at_startup": False} | options
        super().__init__(intents=intents or every, allowed_mentions=discord.AllowedMentions.none(), **options)
        self.bell = Bell()
        self.heard: list[discord.Message] = []
        self.changes: list[str] = []
        self.commanded: list[discord.Interaction[Any]] = []
        self.running: asyncio.Task[None] | None = None

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """The SDK waits five seconds here before each IDENTIFY but the first; the fake has no such limit."""

    async def on_message(self, message: discord.Message) -> None:
        if message.author != self.user:
            self.heard.append(message)
            self.bell.ring()

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        self.commanded.append(interaction)
        self.bell.ring()

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        self.changes.append(f"edit {event.message_id} {event.data['content']}")
        self.bell.ring()

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        self.changes.append(f"delete {event.message_id}")
        self.bell.ring()

    async def hears(self, count: int = 1) -> list[discord.Message]:
        """The messages of others, once there are that many."""
        return await self.until(lambda: self.heard if len(self.heard) >= count else [])

    async def until(self, seen: Callable[[], T], timeout: float = 30) -> T:
        """What `seen` answers once that is true; the error of the client if it ends before."""
        assert self.running is not None
        waiting = asyncio.ensure_future(self.bell.until(seen, timeout))
        await asyncio.wait({waiting, self.running}, return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            waiting.cancel()
            await self.running
        return await waiting


def pointed(monkeypatch: pytest.MonkeyPatch, fake: FakeDiscord) -> None:
    """The SDK takes no address (facts 4): both stand in its classes, for the whole process."""
    monkeypatch.setattr(discord.http.Route, "BASE", fake.url)
    monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(fake.gateway_url))


@asynccontextmanager
async def connected(fake: FakeDiscord, token: str | None = None, **options: Any) -> AsyncIterator[Client]:
    """A client whose session has begun: it hears what is said from now on."""
    client = Client(**options)
    sessions = len(fake.world.sessions)
    client.running = asyncio.create_task(client.start(token or fake.token))
    try:
        began = asyncio.ensure_future(fake.wait_session(sessions + 1))
        await asyncio.wait({began, client.running}, return_when=asyncio.FIRST_COMPLETED)
        if not began.done():
            began.cancel()
            await client.running
        yield client
    finally:
        await client.close()
        await asyncio.gather(client.running, return_exceptions=True)
