"""People who write numbered messages in many chats at once, and what must have become of them."""

import re
from collections.abc import Sequence

from gateway.tape.entries import Entry, Event, Message
from tests.faults.crew import Crew
from tests.platforms.openai_answers import Request, text_of
from tests.platforms.telegram import Chat

MARK = "(possibly repeated) "


class Crowd:
    """One person a chat; each message is one word that is said nowhere else, `c<chat>n<number>`."""

    def __init__(self, crew: Crew, *, chats: int) -> None:
        self._crew = crew
        self._rooms = [crew.room(f"Person {n}") for n in range(chats)]
        self._said: list[list[str]] = [[] for _ in range(chats)]

    def says(self, number: int) -> None:
        """Everybody says one word more."""
        for chat, room in enumerate(self._rooms):
            self._said[chat].append(f"c{chat:02}n{number:03}")
            self._crew.says(room, self._said[chat][-1])

    async def answered(self, timeout: float = 90) -> None:
        """Returns when the last word of each chat was answered."""
        await self._crew.tg.wait(
            lambda: all(
                self._heard(room)[-1:] == said[-1:] for room, said in zip(self._rooms, self._said, strict=True)
            ),
            timeout,
        )

    async def is_whole(self) -> None:
        """Nothing was lost, doubled or out of order on the tapes, and each chat got its answers in order.

        A second copy of an answer is there only if it says that it may be one.
        """
        for room, said in zip(self._rooms, self._said, strict=True):
            await self._crew.delivered(room)
            assert words_of(await self._crew.tape(room)) == said
            texts = self._crew.heard(room)
            own = [text for text in texts if not text.startswith(MARK)]
            assert len(own) == len(set(own)), f"an answer came twice, unmarked: {texts}"
            firsts = list(dict.fromkeys(text.removeprefix(MARK) for text in texts))
            assert [w for text in firsts for w in _words(text)] == said

    def _heard(self, room: Chat) -> list[str]:
        return [w for text in self._crew.heard(room) for w in _words(text)]


def words_of(entries: Sequence[Entry]) -> list[str]:
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
    assert answered == said, f"an answer was not written for its messages: {said} {answered}"
    return said


def answer_to(request: Request) -> str:
    """The words of all messages that the model was not asked about before."""
    asked: list[str] = []
    for message in request.messages:
        asked = [*asked, text_of(message)] if message["role"] == "user" else []
    return "heard " + " ".join(w for text in asked for w in _words(text))


def _words(text: str) -> list[str]:
    return re.findall(r"c\d\dn\d\d\d", text)
