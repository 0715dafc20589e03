"""SIGTERM to a real gateway: what runs ends and is delivered, what is not taken in is left to the platform (C110)."""

import asyncio
import signal

from tests.faults.crowd import delivered
from tests.platforms.openai import Stall, Text
from tests.platforms.telegram import Slow
from tests.scenarios.friends import outcomes, session, words
from tests.support.locks import is_locked


async def test_a_stop_during_a_model_call_lets_the_turn_end_and_its_answer_leave(tg, ai, home):
    """SIGTERM with `session.drain`: the answer is given before the process ends, with its receipt."""
    go = asyncio.Event()
    ai.answers.append(Stall(go, after_chunks=1, then=Text("the whole answer", chunks=3)))
    ann = tg.person(1, "Ann")
    room = tg.private(ann)
    gateway = await (await home.start(session__drain="30")).polls()
    room.says(ann, "hello")
    await ai.wait_stalled()
    gateway.signal(signal.SIGTERM)
    room.says(ann, "too late for this one")
    await asyncio.sleep(0.5)  # it has the signal by now; that it goes on is what is shown
    assert gateway.alive
    assert not tg.sent
    go.set()
    assert await gateway.ended() == 0
    assert [s.text for s in tg.sent] == ["the whole answer"]
    entries = await home.tape(session(room))
    assert outcomes(entries) == ["finished"]
    assert [e for e in entries if getattr(e.fact, "name", "") == "delivery"], "it ended before its receipt"
    assert not is_locked(home.data / "redis" / "running.lock"), "it left the embedded server running"

    second = await (await home.start()).polls()
    await tg.wait_sent(2)
    assert [s.text for s in tg.sent] == ["the whole answer", "echo: too late for this one"]
    assert words(await home.tape(session(room)), "user") == ["hello", "too late for this one"]
    assert await second.stop() == 0


async def test_a_stop_while_the_platform_is_slow_waits_for_the_receipt(tg, ai, home):
    """Case C110: a finished answer that is being sent counts as work."""
    tg.inject("sendMessage", Slow(1.5))
    ann = tg.person(1, "Ann")
    room = tg.private(ann)
    gateway = await (await home.start(session__drain="30")).polls()
    room.says(ann, "hello")
    await tg.wait_calls("sendMessage")
    assert await gateway.stop() == 0
    assert [s.text for s in tg.sent] == ["echo: hello"]
    await delivered_on_tape(home, room)


async def test_a_stop_between_the_merge_and_the_send_still_sends(tg, ai, home):
    """Case C110: "owes a reply" counts as work until the receipt, also before anybody has begun to send it."""
    rooms = [tg.private(tg.person(n, f"P{n}")) for n in range(1, 9)]
    go = asyncio.Event()
    ai.script = lambda request: Stall(go, after_chunks=1, then=Text(f"answer to {request.last_user}"))
    gateway = await (await home.start(session__drain="30")).polls()
    for room in rooms:
        room.says(room.members[0], f"question of {room.id}")
    await ai.wait_stalled(len(rooms))
    gateway.signal(signal.SIGTERM)
    go.set()
    assert await gateway.ended() == 0
    assert sorted(s.text for s in tg.sent) == [f"answer to question of {room.id}" for room in rooms]
    for room in rooms:
        await delivered_on_tape(home, room)


async def test_a_second_stop_leaves_at_once_and_the_next_start_answers(tg, ai, home):
    """The turn is given back: it is not lost, and nobody waits for the drain."""
    never = asyncio.Event()
    ai.answers.append(Stall(never, after_chunks=1, then=Text("never said")))
    ann = tg.person(1, "Ann")
    room = tg.private(ann)
    gateway = await (await home.start(session__drain="3600")).polls()
    room.says(ann, "hello")
    await ai.wait_stalled()
    gateway.signal(signal.SIGTERM)
    await asyncio.sleep(0.3)  # two signals that are pending together are one
    gateway.signal(signal.SIGTERM)
    assert await gateway.ended(timeout=15) == 0
    assert not tg.sent
    second = await (await home.start()).polls()
    await tg.wait_sent(1)
    await delivered(home, room, second)
    assert [s.text for s in tg.sent] == ["echo: hello"]
    assert outcomes(await home.tape(session(room))) == ["finished"]
    assert await second.stop() == 0


async def test_a_stop_after_the_drain_time_gives_the_turn_back(tg, ai, home):
    """A turn that does not end within `session.drain` goes on at the next start."""
    never = asyncio.Event()
    ai.answers.append(Stall(never, after_chunks=1, then=Text("never said")))
    ann = tg.person(1, "Ann")
    room = tg.private(ann)
    gateway = await (await home.start(session__drain="0.5")).polls()
    room.says(ann, "hello")
    await ai.wait_stalled()
    assert await gateway.stop() == 0
    await gateway.logged("gateway.leaves_work", turns=1)
    second = await (await home.start()).polls()
    await tg.wait_sent(1)
    assert [s.text for s in tg.sent] == ["echo: hello"]
    assert await second.stop() == 0


async def delivered_on_tape(home, room):
    entries = await home.tape(session(room))
    assert [e for e in entries if getattr(e.fact, "name", "") == "delivery"], "there is no receipt"
