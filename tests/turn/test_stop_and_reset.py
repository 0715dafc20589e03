"""/stop and /reset while a turn runs: what is said, what is recorded, what is shown."""

from dataclasses import replace

from gateway.tape.entries import Anchor, Error, Event
from gateway.tape.fork import Fork, words
from gateway.tape.window import Recorded
from tests.faults.stage import Stage
from tests.support.world import ROUTE, TAPE


def shown(stage, message):
    """What the chat shows of the reply to one message."""
    return "".join(p.text for p in stage.world.chat.sent if p.turn == message.id)


def outcomes(stage):
    return {turn.turn[-3:]: turn.outcome for turn in stage.world.store._tape(TAPE).index.turns.values()}


async def test_stop_ends_the_running_turn_and_what_waits_and_says_so_from_the_record():
    """C46, C47, F13: A runs, B is queued; both end; the second /stop finds nothing."""
    stage = Stage()
    actor = stage.actor()
    await stage.world.say("tool001")
    await actor.until("tool.press:after", freezes=False)
    await stage.world.say("word002")
    stop = await stage.world.say("/stop")
    await actor.finish()
    again = await stage.world.say("/stop")
    await stage.world.say("word003")
    await stage.actor().all()

    assert shown(stage, stop) == "Stopped: 2 messages will not be answered."
    assert shown(stage, again) == "Nothing is running and nothing waits."
    assert outcomes(stage) == {"000": "cancelled", "001": "cancelled", "004": "finished"}
    await stage.judge()


async def test_stop_between_the_last_check_and_the_merge_says_that_it_came_too_late():
    """V2: a mark is a request; the record decides."""
    stage = Stage()
    actor = stage.actor()
    await stage.world.say("word001")
    await actor.until("store.merge:before", freezes=False)
    stop = await stage.world.say("/stop")
    await actor.finish()
    await stage.actor().all()

    assert shown(stage, stop) == "Too late to stop: that was already answered."
    assert outcomes(stage) == {"000": "finished"}
    await stage.judge()


async def test_an_author_stops_only_their_own_messages():
    """P9"""
    stage = Stage()
    actor = stage.actor()
    await stage.world.say("word001", "ann")
    await actor.until("model.ask:before", freezes=False)
    await stage.world.say("word002", "bob")
    stop = await stage.world.say("/stop", "bob")
    await actor.finish()
    await stage.actor().all()

    assert shown(stage, stop) == "Stopped."
    assert outcomes(stage) == {"000": "finished", "001": "cancelled"}


async def test_a_stop_that_is_delivered_again_stops_nothing_more():
    """F13b"""
    stage = Stage()
    await stage.world.say("word001")
    stop = await stage.world.say("/stop")
    await stage.actor().all()
    await stage.world.say("word002")
    await stage.world.intake.receive(stop)
    await stage.actor().all()

    assert outcomes(stage) == {"000": "cancelled", "002": "finished"}
    assert [p.turn for p in stage.world.chat.sent].count(stop.id) == 1


async def test_a_stop_whose_holder_is_dead_is_obeyed_by_the_next_worker():
    """F13a"""
    stage = Stage()
    actor = stage.actor()
    await stage.world.say("word001")
    await actor.until("model.ask:after")
    stop = await stage.world.say("/stop")
    await actor.die()
    await stage.actor().all()

    assert shown(stage, stop) == "Stopped."
    assert outcomes(stage) == {"000": "cancelled"}


async def test_a_stopped_turn_keeps_what_happened_and_closes_its_calls():
    stage = Stage()
    actor = stage.actor()
    await stage.world.say("tool001")
    await actor.until("tool.press:after", freezes=False)
    await stage.world.say("/stop")
    await actor.finish()

    facts = [e.fact for e in stage.world.store._tape(TAPE).entries if e.meta.turn]
    assert any(isinstance(f, Error) and f.kind == "cancelled" for f in facts)
    await stage.judge()


async def test_a_reset_stops_the_running_turn_and_later_words_belong_to_the_new_tape():
    """C103, P9: the old turn neither merges as finished nor replies."""
    stage = Stage()
    actor = stage.actor()
    first = await stage.world.say("word001")
    await actor.until("model.ask:after", freezes=False)
    reset = await stage.world.say("/reset")
    later = await stage.world.say("word003")
    await actor.finish()
    await stage.actor().all()

    assert shown(stage, first) == ""
    assert shown(stage, reset).startswith("Started over.")
    assert "word003" in shown(stage, later)
    archives, tape = stage.world.store._tape(TAPE).archives, stage.world.store._tape(TAPE).entries
    assert [e.meta.message for e in archives[0] if e.meta.message] == [first.id]
    assert first.id not in [e.meta.message for e in tape]
    assert isinstance(tape[0].fact, Anchor)
    await stage.judge()


async def test_a_strangers_reset_is_refused_at_once_and_disturbs_no_turn():
    """C97, F3: one fact beside the context, and the running turn goes on."""
    stage = Stage()
    actor = stage.actor()
    await stage.world.say("word001")
    await actor.until("model.ask:after", freezes=False)
    before = len(stage.world.store._tape(TAPE).entries)
    refused = await stage.world.say("/reset", "bob")
    entries = stage.world.store._tape(TAPE).entries[before:]
    await stage.actor().all()
    await actor.finish()

    assert [(e.fact.name, e.meta.context) for e in entries if isinstance(e.fact, Event)] == [("command", False)]
    assert shown(stage, refused) == "/reset is for admins here. Nothing was changed."
    assert outcomes(stage) == {"000": "finished"}
    assert not await stage.world.outbox.put(next(iter(_replies(stage, refused))))


def _replies(stage, message):
    from gateway.message import Reply

    yield Reply(message.turn, message.session, ROUTE, "again")


async def test_a_stop_is_answered_when_the_last_of_its_messages_is_recorded():
    """F13, C47: two people's turns, one answer that counts both."""
    stage = Stage()
    await stage.world.say("word000", "ann")
    await stage.world.say("word001", "bob")
    stop = await stage.world.say("/stop")
    await stage.actor().all()

    assert shown(stage, stop) == "Stopped: 2 messages will not be answered."
    assert outcomes(stage) == {"000": "cancelled", "001": "cancelled"}
    await stage.judge()


async def test_a_turn_that_is_recorded_as_cancelled_shows_no_reply_whoever_recorded_it():
    """P9: also where a record of another hand has one."""
    stage = Stage()
    message = await stage.world.say("word000")
    store, reply = stage.world.store, next(_replies(stage, await stage.world.say("word001", "bob")))
    claim = await store.claim(TAPE, [message])
    fork = Fork(await store.window(TAPE), claim.turn, words=words([message]))
    await store.merge(claim, fork, Recorded(claim.turn, (message.id,), "cancelled", replace(reply, turn=claim.turn)))
    await stage.actor().all()

    assert shown(stage, message) == ""


async def test_a_reset_is_stopped_as_any_other_message_and_then_restarts_nothing():
    """DESIGN 8: what is dropped by a stop stands on the tape as cancelled."""
    stage = Stage()
    actor = stage.actor()
    await stage.world.say("word000")
    await actor.until("model.ask:after", freezes=False)
    await stage.world.say("/reset")
    stop = await stage.world.say("/stop")
    await actor.finish()
    await stage.actor().all()

    assert outcomes(stage) == {"000": "cancelled", "001": "cancelled"}
    assert shown(stage, stop) == "Stopped."
    assert not stage.world.store._tape(TAPE).archives
    await stage.judge()
