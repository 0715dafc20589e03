"""One attempt at a turn, where something is wrong with it."""

import asyncio

import pytest

from gateway.errors import Broken, Retryable, TapeMoved
from gateway.tape.entries import Error, Event, Message
from gateway.turn.access import Access, Rules
from gateway.turn.pipeline import LOOKS, session_of
from gateway.turn.work import GAVE_UP, MOST_ATTEMPTS, NOT_ANY_MORE
from tests.faults.stage import Stage
from tests.support.world import TAPE, TTL, WORKSPACE


class Agent:
    """Raises what it is given, or says what it is given after it was let."""

    def __init__(self, fault):
        self.fault, self.runs = fault, 0

    async def run(self, attempt, run):
        self.runs += 1
        raise self.fault


def failing(stage, fault):
    """A process whose agent fails, and the agent."""
    process = stage.actor()._process
    process.pipeline._work._agent = agent = Agent(fault)
    return process, agent


def facts(stage):
    return [e.fact for e in stage.world.store._tape(TAPE).entries]


async def test_a_turn_that_always_fails_ends_after_ten_attempts_and_its_person_is_told():
    """P7: those who wait behind it are answered."""
    stage = Stage()
    process, agent = failing(stage, Broken("a bug"))
    await stage.world.say("word000")
    await stage.world.say("word001", "bob")
    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(Broken):
            await process.turns()
        stage.server.expire(next(iter(stage.server.state.sessions)))
        await stage.ready()
    assert agent.runs == MOST_ATTEMPTS
    await stage.actor().all()

    assert next(s.text for s in stage.world.chat.sent if s.turn == "chat/bot/000") == GAVE_UP[:24]
    assert [f.message for f in facts(stage) if isinstance(f, Error)] == [GAVE_UP]
    assert [f.text for f in facts(stage) if isinstance(f, Message) and f.role == "user"] == ["word000", "word001"]
    outcomes = [f.data["outcome"] for f in facts(stage) if isinstance(f, Event) and f.name == "turn"]
    assert outcomes == ["failed", "finished"]


async def test_an_agent_that_is_cancelled_by_nobody_is_tried_again_and_not_recorded_as_stopped():
    """P9: a library may cancel the task that it runs in."""
    stage = Stage()
    process, _ = failing(stage, asyncio.CancelledError())
    message = await stage.world.say("word000")
    held = await stage.world.inbox.take()
    session = session_of(held, WORKSPACE, stage.world.inbox, stage.clock, ttl=TTL)
    with pytest.raises(Retryable, match="from within"):
        await process.pipeline.drain(session)
    await stage.world.inbox.release(held, after=0)
    await stage.actor().all()

    assert stage.world.store._tape(TAPE).index.find(message.id).outcome == "finished"


@pytest.mark.parametrize("fault", [Broken("a bug"), KeyError("a bug"), Retryable("away")], ids=repr)
async def test_an_agent_that_fails_leaves_no_task_behind(fault):
    stage = Stage()
    process, _ = failing(stage, fault)
    before = asyncio.all_tasks()
    await stage.world.say("word000")
    if isinstance(fault, Retryable):
        await process.turns()
    else:
        with pytest.raises(type(fault)):
            await process.turns()
    for _ in range(5):
        await asyncio.sleep(0)

    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("text", ["/reset", "/handoff tea"])
async def test_rights_are_judged_again_when_the_command_runs(text):
    """C97, C98: a role that changed while the command waited counts."""
    stage = Stage()
    await stage.world.say("word000")
    command = await stage.world.say(text)
    actor = stage.actor()
    access = stage.world.access
    actor._process.pipeline._work._access = Access({"chat": Rules(direct="open", group="open")}, access.approvals)
    await actor.all()

    said = "".join(s.text for s in stage.world.chat.sent if s.turn == command.id)
    assert said == f"{text.split()[0]} is for admins here. Nothing was changed."
    assert not stage.world.store._tape(TAPE).archives
    await stage.judge()


async def test_a_person_who_was_revoked_meanwhile_runs_no_command():
    stage = Stage()
    await stage.world.say("/search word", "bob")
    actor = stage.actor()
    rules = {"chat": Rules(direct="allowlist", group="allowlist")}
    actor._process.pipeline._work._access = Access(rules, stage.world.access.approvals)
    await actor.all()

    assert "".join(s.text for s in stage.world.chat.sent) == NOT_ANY_MORE


async def test_a_claim_that_outlived_redis_is_answered_whole_though_only_its_first_message_came_again():
    """F4, V5: the claim names both, the queue only one; each is answered once."""
    stage = Stage()
    first = await stage.world.say("word000")
    second = await stage.world.say("word001")
    actor = stage.actor()
    await actor.until("model.ask:before")
    await actor.die()
    stage.server.wipe()
    await stage.world.intake.receive(first)
    await stage.actor().all()
    await stage.world.intake.receive(second)
    await stage.actor().all()

    index = stage.world.store._tape(TAPE).index
    assert index.find(first.id) == index.find(second.id)
    assert stage.world.model.calls == 1
    await stage.judge(wiped=True)


async def test_a_tape_that_keeps_moving_is_looked_at_a_few_times_and_then_left_for_later():
    stage = Stage()
    await stage.world.say("word000")
    actor = stage.actor()
    process = actor._process
    looks = []

    async def merge(claim, fork, closing):
        looks.append(claim.attempt)
        raise TapeMoved("again")

    process.pipeline._work._store.merge = merge
    await process.turns()
    assert len(looks) == LOOKS
    assert (await stage.world.inbox.status(next(iter(stage.server.state.sessions)))).running is False


class Thinks:
    """An agent that never ends by itself."""

    def __init__(self):
        self.began, self.ended = asyncio.Event(), False

    async def run(self, attempt, run):
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True


async def test_a_stop_ends_an_agent_that_would_think_for_ever():
    """C46: the news comes with the next renewal at the latest."""
    stage = Stage()
    process = stage.actor()._process
    process.pipeline._work._agent = agent = Thinks()
    message = await stage.world.say("word000")
    turns = asyncio.create_task(process.turns())
    await agent.began.wait()
    await stage.world.say("/stop")
    async with asyncio.timeout(20):
        while not turns.done():
            await stage.clock.pass_by(1)

    assert agent.ended
    assert stage.world.store._tape(TAPE).index.find(message.id).outcome == "cancelled"


async def test_a_lost_lease_ends_the_agent_and_records_nothing():
    """P2, P9"""
    stage = Stage()
    process = stage.actor()._process
    process.pipeline._work._agent = agent = Thinks()
    await stage.world.say("word000")
    turns = asyncio.create_task(process.turns())
    await agent.began.wait()
    stage.server.expire(next(iter(stage.server.state.sessions)))
    async with asyncio.timeout(20):
        while not turns.done():
            await stage.clock.pass_by(1)

    assert agent.ended
    assert not stage.world.store._tape(TAPE).entries
