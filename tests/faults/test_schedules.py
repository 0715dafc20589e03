"""The schedules that break a naive gateway, each with its guard, and each red with the guard taken off.

F5, F6 and F7 are schedules of the file store (tests/tape), F9 of the inbox (tests/contracts/inbox), F14 of the embedded
server (tests/session/test_embedded).
"""

from dataclasses import replace

import pytest

from gateway.errors import LeaseLost, Refused
from gateway.tape.entries import Anchor, ToolCall
from gateway.tape.fork import Appended
from gateway.tape.index import MessageIndex
from gateway.tape.store_memory import MemoryTapeStore
from tests.faults.stage import Stage
from tests.support.memory_inbox import MemoryInbox
from tests.support.world import ROUTE, TAPE


def guarded(*guards):
    """Runs the test with its guard (and must pass), and once for each variant without (and must fail)."""
    return pytest.mark.parametrize("off", [None, *guards], ids=lambda off: "guarded" if off is None else off.__name__)


async def judged(off, schedule, judge):
    """Plays the schedule; without the guard a promise must break."""
    if off is None:
        await schedule()
        await judge()
        return
    with pytest.raises((AssertionError, LeaseLost, BaseExceptionGroup)):
        await schedule()
        await judge()


class NoClaim(MemoryTapeStore):
    """Every attempt begins from nothing and closes nobody, and a merge's record is ignored."""

    async def claim(self, tape, messages):
        self._tape(tape).journals.pop(messages[0].turn, None)
        return await super().claim(tape, messages)

    def _is_closed(self, claim):
        return False

    async def merge(self, claim, fork, closing):
        await super().merge(claim, fork, closing)
        return closing


@guarded(NoClaim)
@pytest.mark.parametrize("ahead", [1000, 0], ids=["frozen", "suspended"])
async def test_f1_a_later_attempt_adopts_the_claim_and_only_what_is_recorded_is_used(off, ahead):
    stage = Stage(off or MemoryTapeStore, ahead=ahead)
    first, second = stage.actor(), stage.actor()

    async def schedule():
        await stage.world.say("word001")
        await first.until("store.merge:before")
        await stage.world.say("word002")
        await stage.ready()
        await second.until("store.merge:before", freezes=False)
        await first.until("store.merge:after")  # where claims close the merge is refused, and it never comes there
        await first.die()
        await stage.ready()
        await second.finish()

    await judged(off, schedule, stage.judge)


class NoToken(MemoryInbox):
    """Anybody may settle."""

    async def settle(self, held, ids, replies, stops=()):
        there = self._server.session(held.session)
        if there.lock is None:
            there.lock = self._lock()
        return await super().settle(replace(held, token=there.lock.token), ids, replies, stops)

    def _lock(self):
        from tests.support.memory_server import Lock

        return Lock("anybody", self._server.now() + 30)


@guarded(NoToken)
async def test_f2_a_worker_that_wakes_after_its_reply_was_forgotten_puts_it_no_second_time(off):
    stage = Stage(inbox=off or MemoryInbox, ahead=0)
    frozen, other = stage.actor(), stage.actor()

    async def schedule():
        await stage.world.say("word001")
        await frozen.until("inbox.settle:before")
        await stage.ready()
        await other.all()
        stage.server.state.known.clear()  # two days later
        await frozen.finish()
        assert not stage.server.route(ROUTE).replies, "the reply was put a second time"

    await judged(off, schedule, stage.judge)


class SideFactsCount(MemoryTapeStore):
    """Every entry moves the version."""

    def _window(self, name):
        window, entries = super()._window(name), self._tape(name).entries
        return replace(window, version=entries[-1].id) if entries else window


@guarded(SideFactsCount)
async def test_f3_facts_from_the_side_do_not_make_a_turn_run_again(off):
    stage = Stage(off or MemoryTapeStore, ahead=0)
    actor = stage.actor()

    async def schedule():
        await stage.world.say("word001")
        await actor.until("model.ask:after")
        await stage.world.say("/reset", "bob")  # refused: one fact from the side
        await actor.finish()
        await stage.ready()
        await stage.actor().all()
        assert stage.world.model.calls == 1, "the turn ran again"

    await judged(off, schedule, lambda: stage.judge(wiped=True))


class NoIndex(MemoryTapeStore):
    """Messages are known only while they stand in the window."""

    async def recorded(self, tape, since):
        return MessageIndex.of(self._window(tape).entries)

    def _decide(self, claim, fork, closing):
        self._tape(claim.tape).index = MessageIndex.of(self._window(claim.tape).entries)
        return super()._decide(claim, fork, closing)


@guarded(NoIndex)
@pytest.mark.parametrize("cut", ["/handoff tea", "/reset"])
async def test_f4_a_message_is_known_over_anchors_and_resets(off, cut):
    stage = Stage(off or MemoryTapeStore)

    async def schedule():
        message = await stage.world.say("word001")
        await stage.actor().all()
        await stage.world.say(cut)
        await stage.actor().all()
        stage.server.wipe()
        await stage.world.intake.receive(message)
        await stage.actor().all()
        said = [e.meta.message for reel in await stage.world.entries() for e in reel if e.meta.message == message.id]
        assert len(said) == 1, "a message stands twice on the tape"

    await judged(off, schedule, lambda: stage.judge(wiped=True))


class FinishedStepsOnly(MemoryTapeStore):
    """A tool call is not journaled before it runs."""

    def write(self, claim, op):
        if not (isinstance(op, Appended) and isinstance(op.fact, ToolCall)):
            super().write(claim, op)


@guarded(FinishedStepsOnly)
async def test_f8a_a_tool_that_ran_when_its_process_died_is_not_run_again(off):
    stage = Stage(off or MemoryTapeStore)
    actor = stage.actor()

    async def schedule():
        await stage.world.say("tool001")
        await actor.until("tool.press:after")
        await actor.die()
        await stage.ready()
        await stage.actor().all()
        assert stage.world.pressed.total() == 1, "the tool ran twice"

    await judged(off, schedule, stage.judge)


class OpenJournals(MemoryTapeStore):
    """A claim does not close the attempts before it."""

    def _is_closed(self, claim):
        return False


@guarded(OpenJournals)
async def test_f8b_a_thawed_worker_runs_no_tool(off):
    stage = Stage(off or MemoryTapeStore, ahead=0)
    frozen, other = stage.actor(), stage.actor()

    async def schedule():
        await stage.world.say("tool001")
        await frozen.until("model.ask:after")
        await stage.ready()
        await other.until("store.merge:before")
        await frozen.finish()
        await stage.ready()
        await other.finish()
        assert stage.world.pressed.total() == 1, "the tool ran twice"

    await judged(off, schedule, stage.judge)


async def test_f8c_an_anchor_of_a_turn_stands_before_its_first_entry():
    stage = Stage()
    await stage.world.say("word001")
    await stage.world.say("/handoff tea")
    await stage.world.say("word002")
    await stage.actor().all()

    entries = stage.world.store._tape(TAPE).entries
    anchors = [e for e in entries if isinstance(e.fact, Anchor)]
    assert [a.fact.name for a in anchors] == ["session/start", "tea"]
    assert all(e.id > anchors[1].id for e in entries if e.meta.message and e.meta.message.endswith("002"))


async def test_f15_a_second_store_on_the_same_server_is_refused(redis_server):
    from gateway.session.binding_redis import bind_store

    await bind_store(redis_server, "ours")
    await bind_store(redis_server, "ours")
    with pytest.raises(Refused, match="another tape store"):
        await bind_store(redis_server, "theirs")
