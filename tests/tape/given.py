"""What tests of tapes begin with: messages, forks, and whole turns."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from gateway.message import Author, IncomingMessage, MessageId, Reply, Route, SessionKey, TurnId
from gateway.tape.codec import decode
from gateway.tape.entries import Call, Draft, Entry, Event, Message, Meta, ToolCall
from gateway.tape.fork import Appended, Fork, Op, Returned, Said, bootstrap, words
from gateway.tape.store import Claim, TapeStore
from gateway.tape.window import Recorded, Window

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
KEY = SessionKey("telegram", "bot", "42")
ROUTE = Route("telegram", "bot", "42")
TAPE = "tape"


def message(name: str, text: str = "hello", *, at: datetime = NOW) -> IncomingMessage:
    return IncomingMessage(MessageId(name), KEY, ROUTE, Author("u1", "Ann"), text, at, at)


def called(number: str, name: str = "buy") -> Appended:
    return Appended(ToolCall((Call(number, name, "{}"),)), NOW)


def returned(number: str, result: str = "done") -> Returned:
    return Returned(number, result, NOW)


def said(text: str = "answer") -> Said:
    return Said(text, NOW)


def side(name: str = "audit", *, turn: str | None = None) -> Draft:
    return Draft(Event(name, {"why": "because"}), NOW, Meta(turn=None if turn is None else TurnId(turn), context=False))


def fork_of(base: Window, claim: Claim, *ops: Op) -> Fork:
    start = bootstrap(str(KEY), NOW, claim.turn, {"by": "u1"})
    fork = Fork(base, claim.turn, opening=start, words=words(claim.messages))
    for op in (*claim.ops, *ops):
        fork.apply(op)
    return fork


def opening_fork(base: Window, claim: Claim) -> Fork:
    """The fork of a /reset: it opens a tape, wherever the base stands."""
    start = bootstrap(str(KEY), NOW, claim.turn, {"by": "u1"})
    return Fork(Window(base.tape, base.version, base.generation), claim.turn, opening=start)


def finished(claim: Claim, text: str = "answer") -> Recorded:
    ids = tuple(m.id for m in claim.messages)
    return Recorded(claim.turn, ids, "finished", Reply(claim.turn, KEY, ROUTE, text))


async def turn(store: TapeStore, *messages: IncomingMessage, text: str = "answer", tape: str = TAPE) -> Recorded:
    """One whole turn without tools."""
    claim = await store.claim(tape, messages)
    fork = fork_of(await store.window(tape), claim)
    await claim.write(said(text))
    fork.apply(said(text))
    return await store.merge(claim, fork, finished(claim, text))


async def reset(store: TapeStore, name: str, *, archive: bool = True, tape: str = TAPE) -> Recorded:
    """One whole /reset."""
    claim = await store.claim(tape, [message(name, "/reset")])
    fork = opening_fork(await store.window(tape), claim)
    return await store.reset(claim, fork, finished(claim, "started over"), archive=archive)


def speech(entries: Sequence[Entry]) -> list[str]:
    return [entry.fact.text for entry in entries if isinstance(entry.fact, Message)]


def entries_of(content: bytes) -> list[Entry]:
    return [entry for line in content.split(b"\n") if line and (entry := decode(line))]


def later(**time: float) -> datetime:
    return NOW + timedelta(**time)
