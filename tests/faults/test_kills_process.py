"""kill -9 and freezes of a real gateway, between a real server and both fakes (crash table of DESIGN section 5)."""

import asyncio
import random
from collections import Counter

import pytest

from gateway.tape.entries import ToolResult
from tests.faults.crowd import MARK, Crowd, answer_to
from tests.platforms.openai import Stall, Text, ToolCalls, echo
from tests.platforms.telegram import Slow
from tests.scenarios.friends import facts, outcomes, words

pytestmark = pytest.mark.asyncio(loop_scope="module")

KILLS = (2, 0, 1, 2, 0, 2, 1, 0, 2, 0)
"""How many of two gateways are killed after each round of messages: ten in all, also both at once."""


async def test_a_kill_in_the_middle_of_a_model_call_is_answered_once_and_unasked_after_the_restart(crew):
    """Done when 4: the embedded server lived on, the next start adopts it; nothing is doubled."""
    never, room, asked = asyncio.Event(), crew.room(), len(crew.ai.requests)
    crew.ai.answers += [ToolCalls([("clock_now", {})]), Stall(never, after_chunks=1, then=Text("never said"))]
    first = await crew.one()
    stalled = crew.stalls()
    crew.says(room, "what time is it?")
    await stalled
    await first.kill()
    crew.ai.answers.append(Text("it is noon"))

    second = await crew.home.start()
    await second.logged("embedded.adopted")
    await crew.hears(room)
    entries = await crew.tape(room)
    assert words(entries, "user") == ["what time is it?"]
    assert words(entries, "assistant") == ["it is noon"]
    assert outcomes(entries) == ["finished"]
    assert len(facts(entries, ToolResult)) == 1
    assert len(crew.ai.requests) == asked + 3, "the finished tool step was asked for again"
    assert len(crew.ai.requests[-1].results) == 1, "the resumed turn does not know its tool's result"
    crew.says(room, "still there?")
    assert await crew.hears(room, 2) == ["it is noon", "echo: still there?"]


async def test_updates_that_come_once_more_after_a_kill_make_no_new_turn(crew):
    """Case C26: the platform delivers again what was answered before the crash."""
    room = crew.room()
    first = await crew.one()
    updates = [room.says(room.members[0], f"question {n}")["update_id"] for n in range(3)]
    await crew.tg.wait(lambda: "question 2" in "".join(crew.heard(room)) and not crew.tg.pending)
    await crew.delivered(room)
    await first.kill()
    asked, heard = len(crew.ai.requests), crew.heard(room)
    second = await crew.one()
    crew.tg.redeliver(*updates)
    await second.logged("message.accepted", how="known", count=3)
    crew.says(room, "the last one")
    assert await crew.hears(room, len(heard) + 1) == [*heard, "echo: the last one"]
    assert len(crew.ai.requests) == asked + 1


async def test_a_kill_in_mid_delivery_leaves_one_copy_of_each_part_or_a_second_that_says_so(crew):
    """Case C05: kill -9 (a) before the platform was asked, (b) after it stored the part and before the receipt."""
    long = "\n\n".join(f"paragraph {n} " + "word " * 150 for n in range(8))
    crew.ai.script = lambda request: Text(long) if request.last_user == "long" else echo(request)
    rooms = {name: crew.room(name) for name in ("short", "long", "unasked")}
    never, parts, asked = asyncio.Event(), Counter(), len(crew.ai.requests)

    def hits(call, name, part):
        if call.form["chat_id"] != str(rooms[name].id):
            return False
        parts[name] += 1
        return parts[name] == part + 1

    first = await crew.one()
    crew.tg.inject("sendMessage", Slow(never, after=True), when=lambda call: hits(call, "short", 0))
    crew.tg.inject("sendMessage", Slow(never, after=True), when=lambda call: hits(call, "long", 1))
    crew.tg.inject("sendMessage", Slow(never), when=lambda call: hits(call, "unasked", 0))
    for name, room in rooms.items():
        crew.says(room, name)
    await crew.tg.wait(lambda: [len(crew.heard(r)) for r in rooms.values()] == [1, 2, 0] and parts["unasked"] == 1)
    await first.kill()

    await crew.one()
    for name, room in rooms.items():
        await crew.delivered(room)
        assert outcomes(await crew.tape(room)) == ["finished"]
        texts = crew.heard(room)
        marked = [text.removeprefix(MARK) for text in texts if text.startswith(MARK)]
        unmarked = [text for text in texts if not text.startswith(MARK)]
        assert len(unmarked) == len(set(unmarked)), "a second copy that does not say so"
        assert len({*marked, *unmarked}) == (2 if name == "long" else 1)
        assert marked in ([], unmarked[-1:] if name == "short" else unmarked[1:]) or name == "unasked"
    assert len(crew.ai.requests) == asked + 3


async def test_a_gateway_frozen_past_its_lease_answers_once_when_it_thaws(crew):
    """Done when 4, as a freeze: another one has answered meanwhile; the thawed one neither merges nor replies."""
    thawed, room = asyncio.Event(), crew.room()
    crew.ai.answers.append(Stall(thawed, after_chunks=1, then=Text("from before the freeze")))
    first = await crew.one()
    stalled = crew.stalls()
    crew.says(room, "hello")
    await stalled
    first.freeze()
    second = await crew.home.start()
    await crew.hears(room)
    first.thaw()
    thawed.set()
    await first.logged("session.lost")
    crew.says(room, "and now?")
    assert await crew.hears(room, 2) == ["echo: hello", "echo: and now?"]
    entries = await crew.tape(room)
    assert words(entries, "assistant") == ["echo: hello", "echo: and now?"]
    assert outcomes(entries) == ["finished", "finished"]
    assert await first.stop() == 0
    assert second.alive


async def test_sixty_messages_in_six_chats_survive_ten_kills(crew):
    """Done when 4: nothing lost, doubled or out of order on the tapes, and each chat got its answers."""
    dice = random.Random(60)
    crew.ai.script = lambda request: Text(answer_to(request), chunks=4, pause=dice.uniform(0, 0.1))
    crowd = Crowd(crew, chats=6)
    gateways = list(await crew.two())
    for number, kills in enumerate(KILLS):
        before = len(crew.ai.requests)
        await asyncio.gather(*(gateway.ready() for gateway in gateways[:kills]))
        crowd.says(number)
        await crew.ai.wait_requests(before + dice.randrange(1, 7))  # each chat asks the model at least once more
        for _ in range(kills):
            await asyncio.sleep(dice.uniform(0, 0.1))  # the moment: anywhere in model calls, merges and sends
            await gateways.pop(0).kill()  # the one that has lived longest
            gateways.append(await crew.home.begin())
    await crowd.answered()
    await crowd.is_whole()
    for gateway in gateways:
        assert await (await gateway.ready()).stop() == 0
