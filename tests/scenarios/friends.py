"""The bot of a module's tests, and what tests ask about it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway.tape.entries import Anchor, Entry, Event, Fact, Message
from tests.platforms.openai import FakeOpenAI
from tests.platforms.telegram import Chat, FakeTelegram, Json, Person, Sent
from tests.support.gateway import Gateway, Home

ADMIN = 1001
FRIENDS = range(2001, 2501)


@dataclass(frozen=True, slots=True)
class Bot:
    """Both fakes, the home, and the one gateway in it."""

    tg: FakeTelegram
    ai: FakeOpenAI
    home: Home
    gateway: Gateway

    async def hears(self, chat: Chat, count: int = 1, *, after: int = 0, topic: int | None = None) -> list[Sent]:
        """What the bot said in a chat (or topic), once there are so many messages beyond the first `after`."""

        def said() -> list[Sent]:
            found = self.said(chat, topic)[after:]
            return found if len(found) >= count else []

        return await self.tg.wait(said)

    def said(self, chat: Chat, topic: int | None = None) -> list[Sent]:
        """What the bot has said in a chat (or topic) until now."""
        return [s for s in self.tg.sent if s.chat_id == chat.id and topic in (None, s.thread_id)]

    async def asks(self, chat: Chat, person: Person, text: str, **how: bool | int | Sent | Json | str | None) -> Sent:
        """Somebody writes, and the bot's next message in the chat is the answer."""
        before = len(self.said(chat))
        chat.says(person, text, **how)  # type: ignore[arg-type]
        return (await self.hears(chat, after=before))[0]

    async def tape(self, chat: Chat, topic: int | None = None) -> Sequence[Entry]:
        return await self.home.tape(session(chat, topic))

    async def until_tape(self, chat: Chat, seen: Callable[[Sequence[Entry]], bool]) -> Sequence[Entry]:
        """The tape of a chat once it is as wanted."""
        async with asyncio.timeout(30):
            while not seen(entries := await self.tape(chat)):
                await asyncio.sleep(0.05)
        return entries


def session(chat: Chat, topic: int | None = None) -> str:
    """The key of the session of a chat, with the bot of the tests."""
    return f"telegram/42/{chat.id}" + ("" if topic is None else f"/t={topic}")


def words(entries: Sequence[Entry], role: str) -> list[str]:
    """What people (`user`) or the model (`assistant`) said."""
    return [e.fact.text for e in entries if isinstance(e.fact, Message) and e.fact.role == role]


def anchors(entries: Sequence[Entry]) -> list[Anchor]:
    return [e.fact for e in entries if isinstance(e.fact, Anchor)]


def events(entries: Sequence[Entry], name: str) -> list[Event]:
    return [e.fact for e in entries if isinstance(e.fact, Event) and e.fact.name == name]


def outcomes(entries: Sequence[Entry]) -> list[str]:
    """How the recorded turns ended, oldest first."""
    return [str(event.data["outcome"]) for event in events(entries, "turn")]


def facts(entries: Sequence[Entry], kind: type[Fact]) -> list[Fact]:  # type: ignore[valid-type]
    return [e.fact for e in entries if isinstance(e.fact, kind)]
