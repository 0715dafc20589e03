"""Tapes in the memory of one process: for tests, for trying out, and to say what a store is in the fewest words."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import uuid4

from gateway.clock import Clock
from gateway.errors import AttemptClosed
from gateway.message import IncomingMessage, TurnId
from gateway.tape.codec import written
from gateway.tape.commit import aside, decide, numbered, opening, sealed
from gateway.tape.entries import Anchor, Draft, Entry
from gateway.tape.fork import Fork, Op
from gateway.tape.index import MessageIndex
from gateway.tape.journal import Journal, begin, decode_op, encode_op
from gateway.tape.name import safe
from gateway.tape.query import Query
from gateway.tape.store import Claim
from gateway.tape.window import Recorded, Window


@dataclass(slots=True)
class _Tape:
    """What is known of one tape. `index` outlives resets; `last` is the highest id ever given."""

    entries: list[Entry] = field(default_factory=list)
    archives: list[list[Entry]] = field(default_factory=list)
    journals: dict[TurnId, Journal] = field(default_factory=dict)
    index: MessageIndex = field(default_factory=MessageIndex)
    last: int = 0


class MemoryClaim:
    """A claim whose journal is the store's; see the port."""

    def __init__(self, store: "MemoryTapeStore", tape: str, journal: Journal) -> None:
        self._store = store
        self.tape, self.turn, self.attempt = tape, journal.turn, journal.attempt
        self.messages, self.ops = journal.messages, journal.ops

    async def write(self, op: Op, *, durable: bool = False) -> None:
        """See the port. Nothing here is durable."""
        self._store.write(self, op)


class MemoryTapeStore:
    """See the port. No method awaits anything, so that each is one step for all tasks of the loop."""

    def __init__(self, *, clock: Clock | None = None, workspace: str = "memory") -> None:
        self.uuid, self.workspace = str(uuid4()), workspace
        self._clock = clock or Clock()
        self._tapes: dict[str, _Tape] = {}

    async def list_tapes(self) -> Sequence[str]:
        """See the port."""
        return sorted(name for name, tape in self._tapes.items() if tape.entries)

    async def window(self, tape: str) -> Window:
        """See the port."""
        return self._window(tape)

    async def fetch_all(self, query: Query) -> Sequence[Entry]:
        """See the port."""
        return query.select(self._tape(query.tape).entries)

    async def append(self, tape: str, drafts: Sequence[Draft]) -> Sequence[Entry]:
        """See the port."""
        return self._extend(tape, aside(drafts))

    async def claim(self, tape: str, messages: Sequence[IncomingMessage]) -> Claim:
        """See the port."""
        known = self._tape(tape)
        earlier = known.journals.get(messages[0].turn) if messages else None
        attempt = 1 if earlier is None else earlier.attempt + 1
        journal = begin(messages, earlier, known.index, self._window(tape), attempt)
        known.journals[journal.turn] = journal
        return MemoryClaim(self, tape, journal)

    async def merge(self, claim: Claim, fork: Fork, closing: Recorded) -> Recorded:
        """See the port."""
        if known := self._decide(claim, fork, closing):
            return known
        self._extend(claim.tape, sealed(fork, closing, self._clock.now()))
        return self._done(claim)

    async def reset(self, claim: Claim, fork: Fork, closing: Recorded, *, archive: bool) -> Recorded:
        """See the port. What is discarded is gone; archives are kept, and no verb shows them."""
        if known := self._decide(claim, fork, closing):
            return known
        tape = self._tape(claim.tape)
        old, tape.entries = tape.entries, []
        if archive:
            tape.archives.append(old)
        drafts = sealed(fork, closing, self._clock.now())
        self._extend(claim.tape, opening(drafts, [entry.id for entry in old]))
        return self._done(claim)

    async def recorded(self, tape: str, since: datetime) -> MessageIndex:
        """See the port: everything, at this store's choice."""
        index = self._tape(tape).index
        return MessageIndex(dict(index.turns), dict(index.messages))

    def write(self, claim: Claim, op: Op) -> None:
        """The part of a claim that the store does. The operation is kept as a file would give it back."""
        tape = self._tape(claim.tape)
        if self._is_closed(claim):
            raise AttemptClosed(f"a later attempt has claimed turn {claim.turn!r}")
        journal = tape.journals[claim.turn]
        tape.journals[claim.turn] = replace(journal, ops=(*journal.ops, decode_op(encode_op(op))))

    def _tape(self, name: str) -> _Tape:
        return self._tapes.setdefault(safe(name), _Tape())

    def _is_closed(self, claim: Claim) -> bool:
        journal = self._tape(claim.tape).journals.get(claim.turn)
        return journal is None or journal.attempt != claim.attempt

    def _decide(self, claim: Claim, fork: Fork, closing: Recorded) -> Recorded | None:
        index = self._tape(claim.tape).index
        window = self._window(claim.tape)
        return decide(index, window, fork, closing, claim.messages, closed=self._is_closed(claim))

    def _window(self, name: str) -> Window:
        entries = self._tape(name).entries
        if not entries:
            return Window(name)
        version = max((entry.id for entry in entries if entry.moves), default=0)
        places = [place for place, entry in enumerate(entries) if isinstance(entry.fact, Anchor) and entry.moves]
        if not places:
            return Window(name, version, entries[0].id, None, tuple(entries))
        return Window(name, version, entries[0].id, entries[places[-1]], tuple(entries[places[-1] + 1 :]))

    def _extend(self, name: str, drafts: Sequence[Draft]) -> Sequence[Entry]:
        tape = self._tape(name)
        added = [written(entry) for entry in numbered(drafts, tape.last)]
        tape.entries += added
        tape.last += len(added)
        for entry in added:
            tape.index.add(entry)
        return added

    def _done(self, claim: Claim) -> Recorded:
        tape = self._tape(claim.tape)
        tape.journals.pop(claim.turn, None)
        return tape.index.turns[claim.turn]
