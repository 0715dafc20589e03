"""The promises of DESIGN section 5, as sets over the tape, the queue, the chat and the world."""

from collections import Counter

from gateway.message import SessionKey
from gateway.tape.entries import Entry, Event, Message, ToolCall, ToolResult
from gateway.tape.index import MessageIndex
from gateway.turn.commands import parse
from tests.support.world import ROOMS, World

CONTROL = ("stop", "status", "whoami")


async def check(
    world: World,
    *,
    excused: Counter[tuple[str, int]],
    wiped: bool = False,
) -> None:
    """Raises AssertionError, with the promise's name, for the first one that is broken.

    `excused`: parts that were under way when their process died or froze. `wiped`: the server lost its data, so
    that what was accepted and not recorded may be gone.
    """
    sent: dict[str, Counter[int]] = {}
    for part in world.chat.sent:
        sent.setdefault(part.turn, Counter())[part.index] += 1
    for room in ROOMS:
        await _room(world, room, sent, excused=excused, wiped=wiped)
    commands = {m.id for m in world.accepted if parse(m.text) is not None}
    assert set(sent) <= commands, "a reply of no turn was shown"
    if not wiped:
        asked = {m.id for m in world.accepted if (c := parse(m.text)) is not None and c.name in CONTROL}
        assert asked <= set(sent), "a command of the control lane was not answered"


async def _room(
    world: World, room: SessionKey, sent: dict[str, Counter[int]], *, excused: Counter[tuple[str, int]], wiped: bool
) -> None:
    """The promises to one session. Takes out of `sent` what is explained by its turns."""
    reels = await world.entries(room)
    accepted = [m for m in world.accepted if m.session == room]
    index = MessageIndex.of(entry for reel in reels for entry in reel)
    turns = list(index.turns.values())
    queued = [m for m in accepted if (c := parse(m.text)) is None or c.name not in CONTROL]
    recorded = [m for turn in turns for m in turn.messages]

    assert (await world.inbox.status(room)).waiting == 0, "stranded: something waits and nobody works"
    assert len(recorded) == len(set(recorded)), "a message is in two turns"
    if not wiped:
        assert set(recorded) == {m.id for m in queued}, "an accepted message is in no turn"
        assert recorded == sorted(recorded), "the tape's order is not the order of acceptance"
    ids = [entry.id for reel in reels for entry in reel]
    assert ids == sorted(set(ids)), "an id was given twice, or fell"

    for turn in turns:
        copies = sent.pop(turn.turn, Counter())
        if turn.outcome == "cancelled":
            assert not copies, "a cancelled turn replied"
            continue
        assert turn.reply is not None
        parts = world.chat.render(turn.reply.text)
        shown = {(p.index, p.text) for p in world.chat.sent if p.turn == turn.turn}
        assert shown == {(i, p.text) for i, p in enumerate(parts)}, "what was shown is not what is recorded"
        for index_, n in copies.items():
            assert n <= 1 + excused[turn.turn, index_], "a second copy without a crash between send and receipt"
        repeats = [p for p in world.chat.sent if p.turn == turn.turn and p.repeated]
        if not wiped:  # a reply that a lost server forgot may be put by its question's second delivery, unmarked
            assert len(repeats) >= sum(copies.values()) - len(parts), "a second copy is not marked"
        texts = [m.text for m in accepted if m.id in turn.messages and parse(m.text) is None]
        if texts and turn.outcome == "finished":
            after = set(recorded[recorded.index(turn.messages[-1]) + 1 :])
            later = [m.text for m in queued if m.id in after and parse(m.text) is None]
            assert all(text in turn.reply.text for text in texts), "the reply was not written for its messages"
            assert not any(text in turn.reply.text.split() for text in later), "the reply answers another turn's words"
    facts = Counter(e.meta.message for reel in reels for e in reel if _is_answer(e))
    assert wiped or max(facts.values(), default=0) <= 3, "an answer of the control lane is noted again and again"

    for reel in reels:
        _straight(reel, world)


def _is_answer(entry: Entry) -> bool:
    return isinstance(entry.fact, Event) and entry.fact.name == "command" and entry.meta.turn is None


def _straight(reel: list[Entry], world: World) -> None:
    """Within one tape: turns do not interleave, calls and results pair, effects are known."""
    open_turn, done, calls = None, set(), []
    for entry in reel:
        if not entry.meta.context and entry.meta.turn is None:
            continue
        match entry.fact:
            case Event("turn", data):
                assert open_turn in (None, data["turn"]), "entries of two turns interleave"
                done.add(data["turn"])
                open_turn = None
                continue
            case ToolCall(found):
                calls += [c.id for c in found]
            case ToolResult(_, answered):
                assert set(answered) <= set(calls), "a result without its call"
                calls = [c for c in calls if c not in answered]
        turn = entry.meta.turn
        assert turn is None or turn not in done, "an entry after its turn was closed"
        assert open_turn in (None, turn), "entries of two turns interleave"
        open_turn = turn
    assert not calls, "a call without its result"
    assert open_turn is None, "a turn without its closing event"
    for turn, times in world.pressed.items():
        if any(e.meta.turn == turn for e in reel):
            known = [c for e in reel if e.meta.turn == turn and isinstance(e.fact, ToolCall) for c in e.fact.calls]
            assert times <= 1, "a tool ran twice in one turn"
            assert times <= len(known), "a tool ran that the tape does not know"
    said = [e.fact.text for e in reel if isinstance(e.fact, Message) and e.fact.role == "user"]
    assert len(said) == len(set(said)), "a person's words stand twice"
