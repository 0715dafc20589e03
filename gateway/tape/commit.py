"""What may be written on a tape, and which of what is written counts.

A merge ends with its `turn` event, the commit mark. Every entry of a merge carries `meta.turn`; a fact from the side
that names a turn too carries `meta.side` as well, since it counts without a mark. So an entry is *open* if it carries
`meta.turn`, is not from the side and is no mark. The unbroken run of open entries at the very end of a tape is half a
merge, and no part of the tape. A merge is one contiguous write, and whoever writes next takes such a run away first:
an open run that something else follows was left there by another program, and stays.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from gateway.errors import AttemptClosed, Broken, TapeMoved
from gateway.message import IncomingMessage
from gateway.tape.entries import Draft, Entry, Event, Json, Meta
from gateway.tape.fork import Fork
from gateway.tape.index import MessageIndex, closing
from gateway.tape.window import Recorded, Window

KEPT = timedelta(hours=48)
"""How long a store knows at least what was recorded, also where nothing waits any more."""

_SIDE = "side"
_SKEW = timedelta(hours=1)


def is_open(entry: Entry) -> bool:
    """Whether the entry counts only if a mark follows."""
    return entry.meta.turn is not None and _SIDE not in entry.meta.more and not is_mark(entry)


def is_mark(entry: Entry) -> bool:
    """Whether the entry is the closing event of a merge."""
    return isinstance(entry.fact, Event) and entry.fact.name == "turn" and entry.meta.turn is not None


def aside(drafts: Sequence[Draft]) -> Sequence[Draft]:
    """Facts from the side, as they will be written. Raises Broken for one that only a merge may write."""
    for draft in drafts:
        if draft.meta.context:
            raise Broken("a fact from the side must be `context: false`")
        if isinstance(draft.fact, Event) and draft.fact.name == "turn":
            raise Broken("only a merge records a turn")
    return [draft if draft.meta.turn is None else _from_the_side(draft) for draft in drafts]


def sealed(fork: Fork, recorded: Recorded, date: datetime) -> Sequence[Draft]:
    """All that a merge writes, the mark last. Raises Broken for a fork that brings a mark of its own."""
    if any(isinstance(draft.fact, Event) and draft.fact.name == "turn" for draft in fork.drafts):
        raise Broken("only a merge records a turn")
    mark = Draft(closing(recorded), date, Meta(turn=recorded.turn))
    return [*(_of_the_turn(draft, recorded) for draft in fork.drafts), mark]


def opening(drafts: Sequence[Draft], old: Sequence[int]) -> Sequence[Draft]:
    """The drafts of a reset: its `session/start` event tells which entries (by id) it closes."""
    closes: dict[str, Json] = {"first": old[0] if old else 0, "last": old[-1] if old else 0, "count": len(old)}
    return [_telling(draft, closes) for draft in drafts]


def numbered(drafts: Iterable[Draft], last: int) -> Sequence[Entry]:
    """The drafts as entries, with the ids after `last`."""
    return [Entry(number, d.fact, d.date, d.meta) for number, d in enumerate(drafts, last + 1)]


def look_back(now: datetime, messages: Iterable[IncomingMessage] = ()) -> datetime:
    """Since when turns matter to these messages: for as long as one of them waits, and for KEPT in any case."""
    return min([now - KEPT, *(message.received_at - _SKEW for message in messages)])


def same_tape(generation: int, window: Window) -> bool:
    """Whether the tape was not reset since it had this generation; facts from the side may open one that had none."""
    return generation == window.generation or (generation == 0 and window.version == 0)


def decide(
    index: MessageIndex,
    window: Window,
    fork: Fork,
    recorded: Recorded,
    messages: Iterable[IncomingMessage],
    *,
    closed: bool,
) -> Recorded | None:
    """Whether a merge or a reset may write: None, or what is recorded already. To be asked under the writer lock.

    Raises AttemptClosed; TapeMoved where the tape is not the fork's base or a message is recorded in another turn.
    """
    if fork.turn != recorded.turn:
        raise Broken(f"a fork of turn {fork.turn!r} cannot be recorded as turn {recorded.turn!r}")
    if known := index.turns.get(recorded.turn):
        return known
    if closed:
        raise AttemptClosed(f"a later attempt has claimed turn {recorded.turn!r}")
    for message in (*(m.id for m in messages), *recorded.messages):
        if other := index.find(message):
            raise TapeMoved(f"message {message!r} is recorded in turn {other.turn!r}")
    if fork.base.version != window.version or not same_tape(fork.base.generation, window):
        raise TapeMoved(f"the tape is at {window.version}, the fork began at {fork.base.version}")
    return None


def _from_the_side(draft: Draft) -> Draft:
    return replace(draft, meta=replace(draft.meta, more={**draft.meta.more, _SIDE: True}))


def _of_the_turn(draft: Draft, recorded: Recorded) -> Draft:
    more = {key: value for key, value in draft.meta.more.items() if key != _SIDE}
    return replace(draft, meta=replace(draft.meta, turn=recorded.turn, more=more))


def _telling(draft: Draft, closes: dict[str, Json]) -> Draft:
    match draft.fact:
        case Event("handoff", {"name": "session/start"} as data):
            return replace(draft, fact=replace(draft.fact, data={**data, "closes": closes}))
    return draft
