"""Delivery against a channel that fails in every way it may."""

import asyncio
from collections import deque
from contextlib import suppress

import pytest

from gateway.channel import Ambiguous, Part
from gateway.errors import Refused, Retryable
from gateway.message import Reply, Route, TurnId
from gateway.tape.entries import Draft, Entry, Event, Meta
from gateway.tape.index import MessageIndex, closing, delivery
from gateway.tape.window import Recorded
from gateway.turn.delivery import FAULTS, MUCH_LATER
from tests.faults.stage import Stage
from tests.support.gate import Gate
from tests.support.world import HALL, KEY, ROUTE, TAPE, Chat, Process


class Moody(Chat):
    """Raises what is queued, one a send; `None` sends."""

    def __init__(self, moods):
        super().__init__()
        self.moods = deque(moods)

    def render(self, text):
        return [Part(word) for word in text.split()]

    async def send(self, reply, part, *, index, of, repeated):
        mood = self.moods.popleft() if self.moods else None
        if isinstance(mood, Ambiguous):
            await super().send(reply, part, index=index, of=of, repeated=repeated)
        if mood is not None:
            raise mood
        return await super().send(reply, part, index=index, of=of, repeated=repeated)


async def nothing(_gate, _place): ...


class Desk:
    """A stage whose one process delivers through a moody chat."""

    def __init__(self, *moods):
        self.stage = Stage()
        self.chat = self.stage.world.chat = Moody(moods)
        self.process = Process(self.stage.world, Gate(nothing, set()))
        self.process.delivery._channels = lambda: [self.chat]

    async def put(self, number, text):
        await self.stage.world.outbox.put(Reply(TurnId(f"t{number}"), KEY, ROUTE, text))

    async def once(self):
        return await self.process.deliveries()

    def shown(self):
        return [("*" if s.repeated else "") + s.text for s in self.chat.sent]

    def facts(self):
        return [e.fact.name for e in self.stage.world.store._tape(TAPE).entries if isinstance(e.fact, Event)]


async def test_replies_of_a_route_leave_in_order_and_each_part_once():
    """P8"""
    desk = Desk()
    await desk.put(1, "one two")
    await desk.put(2, "three")
    while await desk.once():
        pass

    assert desk.shown() == ["one", "two", "three"]
    assert desk.facts() == ["delivery"] * 3


async def test_a_wait_that_the_platform_asks_for_is_a_time_and_no_attempt():
    """C07, C08: nothing is sent before it is over, then everything once."""
    desk = Desk(None, Retryable("slow down", after=30))
    await desk.put(1, "one two")
    await desk.once()
    assert desk.stage.server.route(ROUTE).tries == 0
    assert not await desk.once()
    desk.stage.clock.advance(29)
    assert not await desk.once()
    desk.stage.clock.advance(2)
    while await desk.once():
        pass

    assert desk.shown() == ["one", "two"]


async def test_a_send_that_never_left_is_tried_again_until_it_arrives():
    """C02"""
    desk = Desk(*[Retryable("refused")] * 6)
    await desk.put(1, "one")
    for _ in range(8):
        desk.stage.clock.advance(61)
        await desk.once()

    assert desk.shown() == ["one"]


async def test_an_unanswered_send_is_repeated_once_and_marked_then_parked():
    """C01: what nobody can know blocks no later reply."""
    desk = Desk(Ambiguous(), Ambiguous())
    await desk.put(1, "one two")
    await desk.put(2, "three")
    for _ in range(6):
        desk.stage.clock.advance(5)
        await desk.once()

    assert desk.shown() == ["one", "*one", "two", "three"]
    assert desk.facts() == ["delivery.unknown", "delivery", "delivery"]


async def test_a_reply_that_can_never_arrive_ends_with_a_fact_and_lets_the_next_one_go():
    desk = Desk(Refused("blocked by the user"))
    await desk.put(1, "one two")
    await desk.put(2, "three")
    while await desk.once():
        pass

    assert desk.shown() == ["three"]
    assert desk.facts() == ["delivery.failed", "delivery"]


@pytest.mark.parametrize("fault", [ValueError("ours"), RuntimeError("theirs")])
async def test_a_fault_of_the_channel_leaves_the_reply_for_later(fault):
    desk = Desk(fault)
    await desk.put(1, "one")
    parcel = await desk.stage.world.outbox.take([("chat", "bot")])
    desk.process.delivery._open += 1
    await desk.process.delivery._bring(parcel)
    assert not await desk.once()
    desk.stage.clock.advance(31)
    await desk.once()

    assert desk.shown() == ["*one"]


async def test_a_reply_whose_channel_went_away_is_kept():
    desk = Desk()
    await desk.put(1, "one")
    parcel = await desk.stage.world.outbox.take([("chat", "bot")])
    desk.process.delivery._channels = list
    await desk.process.delivery.deliver(parcel)
    desk.process.delivery._channels = lambda: [desk.chat]
    desk.stage.clock.advance(6)
    await desk.once()

    assert desk.shown() == ["one"]


async def test_a_channel_that_fails_in_an_unknown_way_gets_the_part_once_more_and_no_third_time():
    """C01, P8: nobody knows whether the part left, so it is as if no answer came."""
    desk = Desk(ValueError("ours"), KeyError("ours"))
    await desk.put(1, "one two")
    await desk.put(2, "three")
    for _ in range(6):
        desk.stage.clock.advance(5)
        await desk.once()

    assert desk.shown() == ["two", "three"]
    assert desk.facts() == ["delivery.unknown", "delivery", "delivery"]


async def test_a_reply_that_cannot_be_cut_ends_with_a_fact_and_lets_the_next_one_go():
    desk = Desk()
    render = desk.chat.render

    def faulty(text):
        if text == "one":
            raise ZeroDivisionError
        return render(text)

    desk.chat.render = faulty
    await desk.put(1, "one")
    await desk.put(2, "two")
    delivery = desk.process.delivery
    for tries in range(FAULTS):
        parcel = await desk.stage.world.outbox.take([("chat", "bot")])
        assert parcel.reply.text == "one", tries
        delivery._open += 1
        await delivery._bring(parcel)
        desk.stage.clock.advance(MUCH_LATER + 1)
    await desk.once()

    assert desk.shown() == ["two"]
    assert desk.facts() == ["delivery.failed", "delivery"]


async def test_an_outage_of_days_is_waited_for():
    """C02: a day of tries is a large number."""
    desk = Desk(Retryable("refused"))
    await desk.put(1, "one")
    desk.stage.server.route(ROUTE).tries = 5000
    await desk.once()
    desk.stage.clock.advance(65)
    await desk.once()

    assert desk.shown() == ["one"]


async def test_a_route_that_waits_does_not_hold_up_another():
    """C08"""
    desk = Desk(Retryable("slow down", after=120))
    hall = Route("chat", "bot", "hall")
    await desk.put(1, "one")
    await desk.stage.world.outbox.put(Reply(TurnId("t2"), HALL, hall, "ping"))
    await desk.once()
    await desk.once()

    assert desk.shown() == ["ping"]


@pytest.mark.parametrize("before", ["one two three", "one"], ids=["fewer", "more"])
async def test_a_reply_that_is_cut_anew_after_some_receipts_is_sent_whole_and_marked(before):
    """P12: receipts tell of the parts of another cut, so none of these is known to be there."""
    desk = Desk()
    stage, chat = desk.stage, desk.chat
    asked = await stage.world.say("word000")
    actor = stage.actor()
    await actor.all_turns()
    of = len(before.split())
    receipt = Draft(delivery(asked.turn, 0, of + 4, "1"), stage.clock.now(), Meta(context=False))
    await stage.world.store.append(TAPE, [receipt])
    while await desk.once():
        pass

    assert [(s.text, s.repeated) for s in chat.sent] == [("#1", True), ("word000", False)]
    assert stage.world.store._tape(TAPE).index.find(asked.id).shown


async def test_a_reply_that_is_shown_is_not_cut_again():
    stage = Stage()
    await stage.world.say("word000")
    await stage.actor().all()
    [turn] = stage.world.store._tape(TAPE).index.turns.values()
    before = len(stage.world.chat.sent)
    stage.server.wipe()
    await stage.world.outbox.put(turn.reply)
    desk = Process(stage.world, Gate(nothing, set()))
    desk.chat.render = lambda text: [Part("another"), Part("cut")]
    await desk.deliveries()

    assert len(stage.world.chat.sent) == before
    assert not stage.server.route(ROUTE).replies


async def test_an_orderly_stop_gives_the_route_back_and_says_what_is_not_known():
    """C05, P8: the send was begun, so the next process marks it."""
    desk = Desk()
    started, chat_send = asyncio.Event(), desk.chat.send

    async def hang(*_args, **_named):
        started.set()
        await asyncio.Event().wait()

    desk.chat.send = hang
    await desk.put(1, "one")
    delivery_ = desk.process.delivery
    task = asyncio.create_task(delivery_.run())
    delivery_._due.set()
    await started.wait()
    assert await delivery_.owes()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    desk.chat.send = chat_send
    await desk.once()

    assert desk.shown() == ["*one"]


async def test_a_reply_that_nobody_has_taken_yet_is_owed_and_one_that_must_wait_is_not():
    """C110: what a stop waits for."""
    desk = Desk(Retryable("slow down", after=30))
    delivery_ = desk.process.delivery
    assert not await delivery_.owes()
    await desk.put(1, "one")
    assert await delivery_.owes()
    await desk.once()
    assert not await delivery_.owes()
    desk.stage.server.away = True
    assert not await delivery_.owes()


def test_receipts_of_another_cut_do_not_count_beside_new_ones():
    """P12: the second of six parts says nothing about the second of two."""
    now, turn = Stage().clock.now(), TurnId("t1")
    record = closing(Recorded(turn, (), "finished", Reply(turn, KEY, ROUTE, "one two")))
    receipts = [delivery(turn, 1, 6, "a"), delivery(turn, 0, 2, "b")]
    index = MessageIndex.of(Entry(number, fact, now) for number, fact in enumerate([record, *receipts], 1))

    assert not index.turns[turn].shown
    index.add(Entry(9, delivery(turn, 1, 2, "c"), now))
    assert index.turns[turn].shown
