"""People who write numbered messages in many chats at once, and what must have become of them."""

import asyncio
import re
from collections.abc import Sequence

from gateway.tape.entries import Entry, Event, Message
from gateway.tape.index import MessageIndex
from tests.platforms.openai_answers import Request, text_of
from tests.platforms.telegram import Chat, FakeTelegram
from tests.scenarios.friends import session
from tests.support.gateway import Gateway, Home

LEASE = 2
"""Seconds: the shortest time that a lease outlives a killed gateway in these tests."""

MARK = "(possibly repeated) "


class Crowd:
    """One person a chat; each message is one word that is said nowhere else, `c<chat>n<number>`."""

    def __init__(self, tg: FakeTelegram, *, chats: int) -> None:
        self._tg = tg
        self._people = [tg.person(1 + n, f"Person {n}") for n in range(chats)]
        self._said: list[list[str]] = [[] for _ in range(chats)]

    def says(self, chat: int, number: int) -> None:
        word = f"c{chat:02}n{number:03}"
        self._said[chat].append(word)
        person = self._people[chat]
        self._tg.private(person).says(person, word)

    def words(self, chat: int) -> list[str]:
        """What was said in one chat, in its order."""
        return list(self._said[chat])

    def session(self, chat: int) -> str:
        return f"telegram/42/{self._people[chat].id}"

    async def answered(self, timeout: float = 90) -> None:
        """Returns when the last word of each chat was answered."""
        await self._tg.wait(lambda: all(self._heard(n)[-1:] == said[-1:] for n, said in enumerate(self._said)), timeout)

    def got_its_answers(self, chat: int) -> None:
        """Each word was answered in its own chat, in order, and a second copy says that it may be one."""
        texts = [s.text for s in self._tg.sent if s.chat_id == self._people[chat].id]
        own = [text for text in texts if not text.startswith(MARK)]
        firsts = list(dict.fromkeys(text.removeprefix(MARK) for text in texts))
        assert len(own) == len(set(own)), f"an answer came twice, unmarked: {texts}"
        assert [w for text in firsts for w in _words(text)] == self._said[chat]

    def _heard(self, chat: int) -> list[str]:
        return [w for s in self._tg.sent if s.chat_id == self._people[chat].id for w in _words(s.text)]


def sessions_are_straight(entries: Sequence[Entry]) -> list[str]:
    """The words that people said, as one tape has them; no turn is doubled, or stands within another."""
    ids = [entry.id for entry in entries]
    assert ids == sorted(set(ids)), "an id stands twice, or fell"
    done: list[str] = []
    running: str | None = None
    for entry in entries:
        if entry.meta.turn is None:
            continue
        assert entry.meta.turn not in done, "an entry after the end of its turn"
        assert running in (None, entry.meta.turn), "entries of two turns interleave"
        running = entry.meta.turn
        match entry.fact:
            case Event("turn", data):
                assert data["outcome"] == "finished"
                done.append(running)
                running = None
    assert running is None, "a turn has no end"
    answered = [
        w for e in entries if isinstance(e.fact, Message) and e.fact.role == "assistant" for w in _words(e.fact.text)
    ]
    said = [e.fact.text for e in entries if isinstance(e.fact, Message) and e.fact.role == "user"]
    assert answered == said, "an answer was not written for its messages"
    return said


def answer_to(request: Request) -> str:
    """The words of all messages that the model was not asked about before."""
    asked: list[str] = []
    for message in request.messages:
        asked = [*asked, text_of(message)] if message["role"] == "user" else []
    return "heard " + " ".join(w for text in asked for w in _words(text))


async def delivered(home: Home, room: Chat, gateway: Gateway, timeout: float = 60) -> None:
    """Returns when the tape of a chat holds a receipt of every part of every reply."""
    async with asyncio.timeout(timeout):
        while not _is_delivered(MessageIndex.of(await home.tape(session(room)))):
            assert gateway.alive, gateway.told()
            await asyncio.sleep(0.05)


def _is_delivered(index: MessageIndex) -> bool:
    return bool(index.turns) and not list(index.owed())


def _words(text: str) -> list[str]:
    return re.findall(r"c\d\dn\d\d\d", text)
