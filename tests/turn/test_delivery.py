"""Delivery against a channel that fails in every way it may."""

from collections import deque

import pytest

from gateway.channel import Ambiguous, Part
from gateway.errors import Refused, Retryable
from gateway.message import Reply, TurnId
from gateway.tape.entries import Event
from gateway.turn.sweep import Sweep
from tests.faults.stage import Stage
from tests.support.gate import Gate
from tests.support.world import KEY, ROUTE, TAPE, Chat, Process


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
    assert not await desk.once()
    desk.stage.clock.advance(29)
    assert not await desk.once()
    desk.stage.clock.advance(2)
    while await desk.once():
        pass

    assert desk.shown() == ["one", "two"]
    assert desk.stage.server.route(ROUTE).tries == 0


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


async def test_what_the_tape_knows_as_delivered_is_not_sent_again_after_redis_lost_everything():
    """V7, P8"""
    stage = Stage()
    await stage.world.say("word001")
    await stage.actor().all()
    before = len(stage.world.chat.sent)
    stage.server.wipe()
    await stage.judge(wiped=True)

    assert len(stage.world.chat.sent) == before


async def test_a_part_that_may_have_left_before_redis_lost_everything_is_marked():
    """V7, P8: the sweep cannot know how far the delivery was."""
    stage = Stage()
    await stage.world.say("word001")
    actor = stage.actor()
    await actor.all_turns()
    stage.server.wipe()
    await Sweep(stage.world.outbox, stage.world.store, None, stage.clock).once()
    await stage.actor().all()

    assert [s.repeated for s in stage.world.chat.sent] == [True]
