"""A conversation as the tape tells it. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from gateway.message import MessageId
from gateway.tape.entries import Anchor, Entry, Event, Message
from gateway.tape.index import MessageIndex

Kind = Literal["person", "bot", "note"]

_OUTCOMES = {"cancelled": "Stopped before an answer", "failed": "This was not answered"}


@dataclass(frozen=True, slots=True)
class Line:
    """One thing to see. `id` is the same each time the tape is read.

    person: `id` is the message's. bot: `id` is the turn's, as in the live `reply`. note: a divider between phases.
    """

    kind: Kind
    id: str
    text: str
    date: datetime
    turn: str | None = None


def lines(entries: Iterable[Entry]) -> list[Line]:
    """What was said, in the order of the tape: people's words, the recorded replies, and where phases begin."""
    found: dict[tuple[Kind, str], Line] = {}
    first = True
    for entry in entries:
        for line in _of(entry, first):
            found.setdefault((line.kind, line.id), line)
        first = False
    return list(found.values())


def settled(entries: Sequence[Entry]) -> frozenset[MessageId]:
    """The messages that the tape has: nothing is pending about them."""
    seen = {entry.meta.message for entry in entries if entry.meta.message is not None}
    return frozenset(seen | MessageIndex.of(entries).messages.keys())


def _of(entry: Entry, first: bool) -> Iterator[Line]:
    id_, date, turn, message = f"entry:{entry.id}", entry.date, entry.meta.turn, entry.meta.message
    match entry.fact:
        case Message("user") as said:
            yield Line("person", message or id_, said.text, date, turn)
        case Message("assistant") as said if turn is None and said.text:
            # A tape that another program wrote: no turn closes over these words.
            yield Line("bot", id_, said.text, date)
        case Event("turn", {"turn": str(closed), "reply": {"text": str(text)}}):
            yield Line("bot", closed, text, date, closed)
        case Event("turn", {"turn": str(closed), "outcome": str(outcome), "reply": None}) if outcome in _OUTCOMES:
            yield Line("note", closed, _OUTCOMES[outcome], date, closed)
        case Event("command", {"raw": str(raw)}) if turn is not None:
            # Its answer is the reply of the turn.
            yield Line("person", message or turn, raw, date, turn)
        case Event("command", {"raw": str(raw), "answer": answer}):
            yield Line("person", message or id_, raw, date, message)
            if isinstance(answer, str) and answer:
                yield Line("bot", message or id_, answer, date, message)
        case Anchor("session/start"):
            # The first one opens the conversation; ids go on counting over a reset, so a later tape opens above 1.
            if first and entry.id > 1:
                yield Line("note", id_, "A fresh start", date)
        case Anchor(name):
            yield Line("note", id_, name, date)
