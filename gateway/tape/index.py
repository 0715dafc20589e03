"""The message index: which turn answered a message, over anchors and resets, and what of its reply was shown."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Self

from gateway.errors import Broken
from gateway.message import MessageId, Reply, TurnId
from gateway.tape.entries import Entry, Event, Json
from gateway.tape.window import Recorded


@dataclass(frozen=True, slots=True)
class MessageIndex:
    """Built from the `turn` and `delivery` events of a tape and its recent archives; pure."""

    turns: dict[TurnId, Recorded] = field(default_factory=dict)
    messages: dict[MessageId, TurnId] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Self:
        """From entries in the order of their ids."""
        index = cls()
        for entry in entries:
            index.add(entry)
        return index

    def add(self, entry: Entry) -> None:
        """Takes one more entry in. An entry of no interest changes nothing."""
        match entry.fact:
            case Event("turn", data):
                if found := _turn(data):
                    self.turns[found.turn] = found
                    self.messages.update(dict.fromkeys(found.messages, found.turn))
            case Event("delivery" | "delivery.unknown", {"turn": str(turn), "part": int(part), "of": int(of)}):
                if known := self.turns.get(TurnId(turn)):
                    before = (
                        known.receipts if known.parts in (None, of) else frozenset()
                    )  # else cut anew, and sent anew
                    self.turns[known.turn] = replace(known, receipts=before | {part}, parts=of)
            case Event("delivery.failed", {"turn": str(turn), "of": int(of)}):
                if known := self.turns.get(TurnId(turn)):
                    self.turns[known.turn] = replace(known, receipts=frozenset(range(of)), parts=of)

    def find(self, message: MessageId) -> Recorded | None:
        """The turn that recorded this message, if any did."""
        turn = self.messages.get(message)
        return None if turn is None else self.turns[turn]

    def owed(self) -> Iterator[Reply]:
        """The recorded replies that lack a receipt, oldest first."""
        for recorded in self.turns.values():
            if recorded.reply and not recorded.shown:
                yield recorded.reply


def closing(recorded: Recorded) -> Event:
    """The `turn` event that commits a merge and says what is recorded."""
    messages: list[Json] = list(recorded.messages)
    reply: Json = None if recorded.reply is None else dict(recorded.reply.to_json())
    data: dict[str, Json] = {
        "turn": recorded.turn,
        "messages": messages,
        "outcome": recorded.outcome,
        "reply": reply,
    }
    return Event("turn", data)


def delivery(turn: TurnId, part: int, of: int, platform_id: str) -> Event:
    """The receipt of one part."""
    return Event("delivery", {"turn": turn, "part": part, "of": of, "id": platform_id})


def _turn(data: object) -> Recorded | None:
    match data:
        case {"turn": str(turn), "messages": list(messages), "outcome": str(outcome), "reply": reply}:
            said = _reply(reply) if isinstance(reply, dict) else None
            return Recorded(TurnId(turn), tuple(MessageId(str(m)) for m in messages), outcome, said)
    return None


def _reply(row: dict[str, Json]) -> Reply | None:
    """None for a damaged one: one bad entry must not make the whole tape unreadable."""
    try:
        return Reply.from_json(row)
    except Broken:
        return None
