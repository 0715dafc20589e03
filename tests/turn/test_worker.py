"""The worker: what fails in one session leaves the others alone, and an orderly stop gives everything back."""

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest

from gateway.errors import Broken, LeaseLost, Retryable
from gateway.turn.worker import IN_A_ROW, LATER, MUCH_LATER, Worker
from tests.support.clock import ManualClock
from tests.support.memory_inbox import MemoryInbox
from tests.support.memory_server import MemoryServer
from tests.support.messages import message
from tests.support.world import TTL


class Scripted:
    """A pipeline: settles a message at a time, waits where it is told to, raises what it is told to."""

    def __init__(self, inbox):
        self._inbox = inbox
        self.faults, self.gates, self.done = {}, {}, []
        self.began = asyncio.Condition()
        self.running, self.most = 0, 0

    async def drain(self, session, *, more):
        waiting, room = session.held.waiting, session.held.session.conversation
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            while waiting is not None:
                async with self.began:
                    self.began.notify_all()
                if gate := self.gates.get(room):
                    await gate.wait()
                if fault := self.faults.pop(room, None):
                    raise fault
                head = waiting.messages[0]
                self.done.append(head.text)
                waiting = await self._inbox.settle(session.held, [head.id], [])
                if waiting is not None and not more():
                    return False
            return True
        finally:
            self.running -= 1


class Rig:
    def __init__(self, inbox=MemoryInbox):
        self.clock = ManualClock()
        self.server = MemoryServer(self.clock)
        self.inbox = inbox(self.server, ttl=TTL)
        self.pipeline = Scripted(self.inbox)
        self.numbers = iter(range(1, 1000))

    def worker(self, at_once=4):
        wakes = self.server.wakes
        worker = Worker(
            self.inbox, self.pipeline, self.clock, workspace="w", ttl=TTL, at_once=at_once, ready=wakes.ready
        )
        wakes.marked = worker.marked
        return worker

    async def say(self, *rooms):
        for room in rooms:
            number = next(self.numbers)
            await self.inbox.put(message(number, room, text=f"{room}{number}"))

    async def quiet(self):
        for _ in range(60):
            await asyncio.sleep(0)

    def held(self, room):
        lock = self.server.session(message(1, room).session).lock
        return lock is not None and lock.until > self.clock.boot()


@asynccontextmanager
async def running(worker):
    """The worker runs while the body does, and was cancelled in order when this ends."""
    task = asyncio.create_task(worker.run())
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.mark.parametrize(
    ("fault", "after"),
    [
        (KeyError("ours"), MUCH_LATER),
        (Broken("a damaged row"), MUCH_LATER),
        (Retryable("away"), LATER),
        (Retryable("away", after=12), 12),
        (TimeoutError(), MUCH_LATER),
    ],
    ids=repr,
)
async def test_what_fails_in_one_session_is_tried_again_later_and_the_others_go_on(fault, after):
    """P7"""
    rig = Rig()
    rig.pipeline.faults["bad"] = fault
    async with running(rig.worker()) as task:
        await rig.say("bad", "good")
        await rig.quiet()
        assert rig.pipeline.done == ["good2"]
        assert not rig.held("bad"), "a session that is tried later is not held meanwhile"
        await rig.clock.pass_by(after - 1)
        assert rig.pipeline.done == ["good2"]
        await rig.clock.pass_by(3)
        assert rig.pipeline.done == ["good2", "bad1"]
        assert not task.done()


async def test_a_session_that_is_lost_is_dropped_and_the_worker_goes_on():
    rig = Rig()
    rig.pipeline.faults["bad"] = LeaseLost("another's")
    async with running(rig.worker()):
        await rig.say("bad", "good")
        await rig.clock.pass_by(3)

    assert sorted(rig.pipeline.done) == ["bad1", "good2"]


async def test_an_orderly_stop_gives_held_sessions_back_at_once():
    """P7: whoever comes next need not wait for the lease to run out."""
    rig = Rig()
    rig.pipeline.gates["slow"] = asyncio.Event()
    async with running(rig.worker()):
        await rig.say("slow")
        await rig.quiet()
        assert rig.held("slow")

    assert not rig.held("slow")
    assert await rig.inbox.take() is not None


async def test_no_more_sessions_are_served_side_by_side_than_there_is_room_for():
    rig = Rig()
    rooms = [f"r{n}" for n in range(7)]
    rig.pipeline.gates = {room: asyncio.Event() for room in rooms}
    worker = rig.worker(at_once=3)
    async with running(worker):
        await rig.say(*rooms)
        await rig.quiet()
        assert worker.busy == 3
        for gate in rig.pipeline.gates.values():
            gate.set()
        await rig.quiet()
        assert len(rig.pipeline.done) == 7

    assert rig.pipeline.most == 3


async def test_a_session_with_much_to_do_lets_the_others_go_first_after_a_while():
    """F9: one hand, a session that never ends, and one that waits."""
    rig = Rig()
    await rig.say(*["busy"] * (IN_A_ROW + 5), "other")
    rig.clock.advance(1)
    async with running(rig.worker(at_once=1)):
        await rig.clock.pass_by(3)

    assert rig.pipeline.done.index(f"other{IN_A_ROW + 6}") == IN_A_ROW
    assert [t for t in rig.pipeline.done if t[:4] == "busy"] == [f"busy{n}" for n in range(1, IN_A_ROW + 6)]


async def test_a_closed_worker_ends_the_turn_that_runs_and_begins_no_other():
    """C110"""
    rig = Rig()
    go = rig.pipeline.gates["room"] = asyncio.Event()
    worker = rig.worker()
    async with running(worker):
        await rig.say("room")
        await rig.quiet()
        await rig.say("room", "elsewhere")
        worker.close()
        await rig.quiet()
        assert worker.busy == 1
        go.set()
        await rig.clock.pass_by(3)
        assert worker.busy == 0

    assert rig.pipeline.done == ["room1"]
    assert not rig.held("room")


class Unreadable(MemoryInbox):
    """The first thing that it takes cannot be read; and a release fails in a way that nobody expects."""

    left = 1

    async def take(self):
        held = await super().take()
        if held and self.left:
            self.left -= 1
            raise Broken("not a message row")
        return held

    async def recover(self):
        if self.left:
            raise Broken("not a number")
        return await super().recover()

    async def release(self, held, *, after):
        raise Broken("the script is wrong")


async def test_a_server_that_answers_nonsense_does_not_end_the_worker():
    rig = Rig(Unreadable)
    rig.pipeline.faults["b"] = KeyError("ours")
    async with running(rig.worker()) as task:
        await rig.say("a", "b", "c")
        await rig.clock.pass_by(3)
        assert rig.pipeline.done == ["c3"]
        await rig.clock.pass_by(2 * TTL)
        assert sorted(rig.pipeline.done) == ["a1", "b2", "c3"]
        assert not task.done()
        rig.pipeline.gates.clear()


async def test_while_the_server_is_away_nothing_is_taken_and_afterwards_all_goes_on():
    """P13"""
    rig = Rig()
    async with running(rig.worker()) as task:
        await rig.say("room")
        rig.server.away = True
        await rig.clock.pass_by(5)
        assert not rig.pipeline.done
        rig.server.away = False
        await rig.clock.pass_by(2)
        assert rig.pipeline.done == ["room1"]
        assert not task.done()


async def test_a_mark_reaches_every_session_of_that_name_that_is_held_here():
    """C46: also one that was lost and is held again before its first turn has ended."""
    rig = Rig()
    rig.pipeline.gates["room"] = asyncio.Event()
    worker = rig.worker()
    async with running(worker):
        await rig.say("room")
        await rig.quiet()
        rig.server.expire(message(1, "room").session)
        await rig.clock.pass_by(2)
        assert worker.busy == 2
        heard = []
        for session in worker._serving.values():
            session.lease.hurry = lambda: heard.append(1)
        worker.marked(str(message(1, "room").session))
        assert heard == [1, 1]
