"""The gateways of one home and the people that write to them."""

import asyncio
from collections.abc import Awaitable, Sequence
from itertools import count

from gateway.tape.entries import Entry
from gateway.tape.index import MessageIndex
from tests.platforms.openai import FakeOpenAI
from tests.platforms.telegram import Chat, FakeTelegram
from tests.scenarios.friends import session
from tests.support.gateway import Gateway, Home

LEASE = 2
"""Seconds: how long a lease outlives a killed gateway in these tests."""


class Crew:
    """Any number of gateways on one data folder. Tests of a module share it, and bring chats of their own."""

    def __init__(self, tg: FakeTelegram, ai: FakeOpenAI, home: Home) -> None:
        self.tg, self.ai, self.home = tg, ai, home
        self._people = count(1)

    async def one(self) -> Gateway:
        """The only gateway, which polls: the one that the last test left, or a new one."""
        alive = [g for g in self.home.gateways if g.alive]
        for gateway in alive[1:]:
            assert await gateway.stop() == 0
        return await (alive[0] if alive else await self.home.start()).polls()

    async def two(self) -> tuple[Gateway, Gateway]:
        """Two gateways: the one that polls, and the one that stands by."""
        alive = [g for g in self.home.gateways if g.alive]
        first, second = await asyncio.gather(
            *(g.ready() for g in [*alive, *[await self.home.begin() for _ in range(2 - len(alive))]])
        )
        await self.tg.wait(lambda: [g for g in (first, second) if g.is_polling])
        return (first, second) if first.is_polling else (second, first)

    def room(self, name: str = "Ann") -> Chat:
        """The private chat of somebody whom no test has met."""
        return self.tg.private(self.tg.person(next(self._people), name))

    def says(self, room: Chat, text: str) -> None:
        room.says(room.members[0], text)

    def heard(self, room: Chat) -> list[str]:
        """What the bot has said there."""
        return [s.text for s in self.tg.sent if s.chat_id == room.id]

    async def hears(self, room: Chat, count: int = 1, timeout: float = 40) -> list[str]:
        """The same, once there is so much."""
        await self.tg.wait(lambda: len(self.heard(room)) >= count, timeout)
        return self.heard(room)

    def stalls(self, count: int = 1) -> Awaitable[None]:
        """To await: until so many model calls more than now have come to their `Stall`."""
        return self.ai.wait_stalled(self.ai.stalled + count)

    async def tape(self, room: Chat) -> Sequence[Entry]:
        return await self.home.tape(session(room))

    async def delivered(self, room: Chat, timeout: float = 60) -> None:
        """Returns when the tape of a chat holds a receipt of every part of every reply."""
        async with asyncio.timeout(timeout):
            while not _is_delivered(MessageIndex.of(await self.tape(room))):
                await asyncio.sleep(0.05)


def _is_delivered(index: MessageIndex) -> bool:
    return bool(index.turns) and not list(index.owed())
