"""The journal of one attempt: what it answers, and what it did, in its order. Pure; the stores keep it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from gateway.errors import Broken, TapeMoved
from gateway.message import IncomingMessage, TurnId
from gateway.tape.codec import decode_date, decode_fact, dump, encode_date, encode_fact, load
from gateway.tape.commit import same_tape
from gateway.tape.entries import ToolCall
from gateway.tape.fork import Appended, HandedOff, Op, Returned, Said
from gateway.tape.index import MessageIndex
from gateway.tape.window import Window

SCHEMA = 1
"""Number of the row format below; it stands in each journal's first line."""


@dataclass(frozen=True, slots=True)
class Journal:
    """`generation` is that of the tape when the attempt began; `ops` is what it took over and did since."""

    turn: TurnId
    attempt: int
    messages: tuple[IncomingMessage, ...]
    generation: int
    ops: tuple[Op, ...] = ()

    def encode(self) -> bytes:
        """The whole journal, a line for the claim and one for each operation."""
        head = {
            "schema": SCHEMA,
            "turn": self.turn,
            "attempt": self.attempt,
            "messages": [message.to_row() for message in self.messages],
            "generation": self.generation,
        }
        return dump(head) + b"\n" + b"".join(encode_op(op) for op in self.ops)


def begin(
    messages: Sequence[IncomingMessage], earlier: Journal | None, index: MessageIndex, window: Window, attempt: int
) -> Journal:
    """The next attempt at the turn of `messages[0]`. To be asked under the writer lock.

    It answers what the earlier attempt answers, but for messages that are recorded meanwhile, and takes over what that
    one did. A final text was written for those messages on that tape: it is dropped where either is not the same.
    Raises TapeMoved if the turn is recorded.
    """
    if not messages:
        raise Broken("a turn answers at least one message")
    turn = messages[0].turn
    if turn in index.turns or index.find(messages[0].id):
        raise TapeMoved(f"message {messages[0].id!r} is recorded")
    asked = tuple(messages) if earlier is None else earlier.messages
    kept = tuple(message for message in asked if index.find(message.id) is None)
    ops = () if earlier is None else earlier.ops
    if earlier and (kept != asked or not same_tape(earlier.generation, window)):
        ops = tuple(op for op in ops if not isinstance(op, Said))
    return Journal(turn, attempt, kept, window.generation, ops)


def decode_journal(data: bytes) -> Journal | None:
    """What `Journal.encode` wrote and `encode_op` lines added; None without a readable first line.

    The first line that cannot be read ends it. Either its process died while it was being written, so that nothing had
    been done yet; or power was lost before it was on disk, and then nothing after it was durable either.
    """
    head, *lines = data.split(b"\n")[:-1] or [b""]
    match load(head):
        case {"turn": str(turn), "attempt": int(attempt), "messages": list(rows), "generation": int(generation)}:
            messages = tuple(IncomingMessage.from_row(str(row)) for row in rows)
            return Journal(TurnId(turn), attempt, messages, generation, tuple(_readable(lines)))
    return None


def encode_op(op: Op) -> bytes:
    """One operation as one line of a journal."""
    match op:
        case Appended(fact, date, context):
            kind, payload = encode_fact(fact)
            row: dict[str, Any] = {"op": "append", "kind": kind, "payload": payload, "context": context}
        case HandedOff(name, state, date, cause):
            row = {"op": "handoff", "name": name, "state": dict(state), "cause": dict(cause)}
        case Returned(call, result, date):
            row = {"op": "return", "call": call, "result": result}
        case Said(text, date):
            row = {"op": "say", "text": text}
        case _:
            assert_never(op)
    return dump({**row, "date": encode_date(date)}) + b"\n"


def cleaned(op: Op, redact: Callable[[object], object]) -> Op:
    """The operation with `redact` over all its values; its kind, its calls' ids and its date stay as they are."""
    row = load(encode_op(op)) or {}
    kept = {key: row[key] for key in ("op", "kind", "call", "date", "context") if key in row}
    clean = decode_op(dump({**{key: redact(value) for key, value in row.items()}, **kept}))
    match op, clean:
        case Appended(ToolCall(calls)), Appended(ToolCall(others) as step) if len(calls) == len(others):
            named = tuple(replace(other, id=call.id) for call, other in zip(calls, others, strict=True))
            return replace(clean, fact=replace(step, calls=named))
    return clean


def _readable(lines: Iterable[bytes]) -> Iterator[Op]:
    for line in lines:
        try:
            yield decode_op(line)
        except Broken:
            return


def decode_op(line: bytes) -> Op:
    """The inverse of `encode_op`. Raises Broken for anything else."""
    row = load(line) or {}
    date = decode_date(row.get("date"))
    if date is not None:
        match row:
            case {"op": "append", "kind": str(kind), "payload": dict(payload), "context": bool(context)}:
                return Appended(decode_fact(kind, payload), date, context)
            case {"op": "handoff", "name": str(name), "state": dict(state), "cause": dict(cause)}:
                return HandedOff(name, state, date, cause)
            case {"op": "return", "call": str(call), "result": result}:
                return Returned(call, result, date)
            case {"op": "say", "text": str(text)}:
                return Said(text, date)
    raise Broken(f"not a line of a journal: {line[:80]!r}")
