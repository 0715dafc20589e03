"""SIGTERM to a real gateway: what runs ends and is delivered, what is not taken in is left to the platform (C110)."""

import asyncio
import signal

import pytest

from gateway.tape.index import MessageIndex
from tests.platforms.openai import Stall, Text, echo
from tests.platforms.telegram import Slow
from tests.scenarios.friends import outcomes, words
from tests.support.locks import is_locked

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_stop_during_a_model_call_lets_the_turn_end_and_its_answer_leave(crew):
    """SIGTERM with `session.drain`: the answer is given before the process ends, with its receipt."""
    go, room = asyncio.Event(), crew.room()
    crew.ai.answers.append(Stall(go, after_chunks=1, then=Text("the whole answer", chunks=3)))
    gateway = await crew.one()
    stalled = crew.stalls()
    crew.says(room, "hello")
    await stalled
    gateway.signal(signal.SIGTERM)
    crew.says(room, "too late for this one")
    await asyncio.sleep(0.5)  # it has the signal by now; that it goes on is what is shown
    assert gateway.alive
    assert not crew.heard(room)
    go.set()
    assert await gateway.ended() == 0
    assert crew.heard(room) == ["the whole answer"]
    entries = await crew.tape(room)
    assert outcomes(entries) == ["finished"]
    assert not owed(entries), "it ended before its receipt"
    assert not is_locked(crew.home.data / "redis" / "running.lock"), "it left the embedded server running"

    await crew.one()
    assert await crew.hears(room, 2) == ["the whole answer", "echo: too late for this one"]
    assert words(await crew.tape(room), "user") == ["hello", "too late for this one"]


async def test_a_second_stop_leaves_at_once_and_the_next_start_answers(crew):
    """The turn is given back: it is not lost, and nobody waits for the drain."""
    never, room = asyncio.Event(), crew.room()
    crew.ai.answers.append(Stall(never, after_chunks=1, then=Text("never said")))
    gateway = await crew.one()
    stalled = crew.stalls()
    crew.says(room, "hello")
    await stalled
    gateway.signal(signal.SIGTERM)
    await asyncio.sleep(0.3)  # two signals that are pending together are one
    gateway.signal(signal.SIGTERM)
    assert await gateway.ended(timeout=15) == 0
    await gateway.logged("gateway.leaves_work", turns=1)
    assert not crew.heard(room)
    await crew.one()
    await crew.delivered(room)
    assert crew.heard(room) == ["echo: hello"]
    assert outcomes(await crew.tape(room)) == ["finished"]


async def test_a_stop_while_answers_are_owed_waits_for_their_receipts(crew):
    """Case C110: "owes a reply" counts as work, before anybody has begun to send it and while the platform is slow."""
    go, rooms, slow = asyncio.Event(), [crew.room() for _ in range(8)], crew.room()
    crew.ai.script = lambda request: (
        echo(request)
        if request.last_user == "slow"
        else Stall(go, after_chunks=1, then=Text(f"to {request.last_user}"))
    )
    gateway = await crew.one()
    crew.tg.inject("sendMessage", Slow(1.5), when=lambda call: call.form["chat_id"] == str(slow.id))
    sends = len(crew.tg.calls_of("sendMessage"))
    stalled = crew.stalls(len(rooms))
    for room in rooms:
        crew.says(room, f"room {room.id}")
    crew.says(slow, "slow")
    await stalled
    await crew.tg.wait_calls("sendMessage", sends + 1)
    gateway.signal(signal.SIGTERM)
    go.set()
    assert await gateway.ended() == 0
    for room in rooms:
        assert crew.heard(room) == [f"to room {room.id}"]
        assert not owed(await crew.tape(room)), "there is no receipt"
    assert crew.heard(slow) == ["echo: slow"]
    assert not owed(await crew.tape(slow)), "there is no receipt"


async def test_a_stop_after_the_drain_time_gives_the_turn_back(crew):
    """A turn that does not end within `session.drain` goes on at the next start."""
    never, room = asyncio.Event(), crew.room()
    crew.ai.answers.append(Stall(never, after_chunks=1, then=Text("never said")))
    gateway = await (await crew.home.start(session__drain="0.5")).polls()
    stalled = crew.stalls()
    crew.says(room, "hello")
    await stalled
    assert await gateway.stop() == 0
    await gateway.logged("gateway.leaves_work", turns=1)
    second = await crew.one()
    assert await crew.hears(room) == ["echo: hello"]
    assert await second.stop() == 0


def owed(entries):
    """The replies that a tape knows and that lack a receipt."""
    return list(MessageIndex.of(entries).owed())
