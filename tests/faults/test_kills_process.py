"""kill -9 and freezes of a real gateway, between a real server and both fakes (crash table of DESIGN section 5)."""

import asyncio
import random
from collections import Counter

from tests.faults.crowd import MARK, Crowd, answer_to, delivered, sessions_are_straight
from tests.platforms.openai import Stall, Text, ToolCalls, echo
from tests.platforms.telegram import Slow
from tests.scenarios.friends import outcomes, session, words


async def test_a_kill_in_the_middle_of_a_model_call_is_answered_once_and_unasked_after_the_restart(tg, ai, home):
    """Done when 4: the embedded server lived on, the next start adopts it; nothing is doubled on tape or in the chat."""
    never = asyncio.Event()
    ai.answers += [ToolCalls([("clock_now", {})]), Stall(never, after_chunks=1, then=Text("never said"))]
    ann = tg.person(1, "Ann")
    room = tg.private(ann)
    first = await (await home.start()).polls()
    room.says(ann, "what time is it?")
    await ai.wait_stalled()
    await first.kill()
    ai.answers.append(Text("it is noon"))

    second = await home.start()
    await second.logged("embedded.adopted")
    await tg.wait_sent(1)
    entries = await home.tape(session(room))
    assert words(entries, "user") == ["what time is it?"]
    assert words(entries, "assistant") == ["it is noon"]
    assert outcomes(entries) == ["finished"]
    assert [e.fact.results for e in entries if hasattr(e.fact, "results")] != []
    assert len(ai.requests) == 3, "the finished tool step was asked for again"
    assert len(ai.requests[-1].results) == 1, "the resumed turn does not know its tool's result"
    room.says(ann, "still there?")
    await tg.wait_sent(2)
    assert [s.text for s in tg.sent] == ["it is noon", "echo: still there?"]
    assert await second.stop() == 0


async def test_updates_that_come_once_more_after_a_kill_make_no_new_turn(tg, ai, home):
    """Case C26: the platform delivers again what was answered before the crash."""
    ann = tg.person(1, "Ann")
    room = tg.private(ann)
    first = await (await home.start()).polls()
    updates = [room.says(ann, f"question {n}")["update_id"] for n in range(3)]
    await tg.wait(lambda: "question 2" in "".join(s.text for s in tg.sent) and not tg.pending)
    await delivered(home, room, first)
    await first.kill()
    asked, sent = len(ai.requests), len(tg.sent)
    second = await (await home.start()).polls()
    tg.redeliver(*updates)
    await second.logged("message.accepted", how="known", count=3)
    room.says(ann, "the last one")
    await tg.wait_sent(sent + 1)
    assert (len(ai.requests), len(tg.sent)) == (asked + 1, sent + 1)
    assert await second.stop() == 0


async def test_a_kill_in_mid_delivery_leaves_one_copy_of_each_part_or_a_second_that_says_so(tg, ai, home):
    """Case C05: kill -9 (a) before the platform was asked, (b) after it stored the part and before the receipt."""
    long = "\n\n".join(f"paragraph {n} " + "word " * 150 for n in range(8))
    ai.script = lambda request: Text(long) if request.last_user == "long" else echo(request)
    rooms = {name: tg.private(tg.person(number, name)) for number, name in enumerate(("short", "long", "unasked"), 1)}
    never, parts = asyncio.Event(), Counter()

    def hits(call, name, part):
        if call.form["chat_id"] != str(rooms[name].id):
            return False
        parts[name] += 1
        return parts[name] == part + 1

    tg.inject("sendMessage", Slow(never, after=True), when=lambda call: hits(call, "short", 0))
    tg.inject("sendMessage", Slow(never, after=True), when=lambda call: hits(call, "long", 1))
    tg.inject("sendMessage", Slow(never), when=lambda call: hits(call, "unasked", 0))
    first = await (await home.start()).polls()
    for name, room in rooms.items():
        room.says(room.members[0], name)
    await tg.wait(lambda: len(tg.sent) == 3 and parts == {"short": 1, "long": 2, "unasked": 1})
    await first.kill()

    second = await (await home.start()).polls()
    for name, room in rooms.items():
        await delivered(home, room, second)
        assert outcomes(await home.tape(session(room))) == ["finished"]
        texts = [s.text for s in tg.sent if s.chat_id == room.id]
        marked = [text.removeprefix(MARK) for text in texts if text.startswith(MARK)]
        unmarked = [text for text in texts if not text.startswith(MARK)]
        assert len(unmarked) == len(set(unmarked)), "a second copy that does not say so"
        assert len(marked) <= 1
        assert set(marked) <= {unmarked[-1] if name == "short" else unmarked[1]} if name != "unasked" else not unmarked
        assert len({*marked, *unmarked}) == {"short": 1, "long": 2, "unasked": 1}[name]
    assert len(ai.requests) == 3
    assert await second.stop() == 0


async def test_a_gateway_frozen_past_its_lease_answers_once_when_it_thaws(tg, ai, home):
    """Done when 4, as a freeze: another one has answered meanwhile; the thawed one neither merges nor replies."""
    thawed = asyncio.Event()
    ai.answers.append(Stall(thawed, after_chunks=1, then=Text("from before the freeze")))
    ann = tg.person(1, "Ann")
    room = tg.private(ann)
    first = await (await home.start()).polls()
    room.says(ann, "hello")
    await ai.wait_stalled()
    first.freeze()
    second = await home.start()
    await tg.wait_sent(1)
    first.thaw()
    thawed.set()
    lost = asyncio.create_task(first.logged("session.lost"))
    room.says(ann, "and now?")
    await tg.wait_sent(2)
    await lost
    assert [s.text for s in tg.sent] == ["echo: hello", "echo: and now?"]
    entries = await home.tape(session(room))
    assert words(entries, "assistant") == ["echo: hello", "echo: and now?"]
    assert outcomes(entries) == ["finished", "finished"]
    assert await first.stop() == 0
    assert await second.stop() == 0


async def test_sixty_messages_in_six_chats_survive_ten_kills(tg, ai, home):
    """Done when 4: nothing lost, doubled or out of order on the tapes, and each chat got its answers."""
    dice = random.Random(60)
    ai.script = lambda request: Text(answer_to(request), chunks=4, pause=dice.uniform(0, 0.1))
    crowd = Crowd(tg, chats=6)
    gateways = [await home.begin() for _ in range(2)]
    for number in range(10):
        victim, before = dice.randrange(2), len(ai.requests)
        for chat in range(6):
            crowd.says(chat, number)
        await gateways[victim].ready()
        await ai.wait_requests(before + dice.randrange(1, 7))  # each chat asks the model at least once more
        await asyncio.sleep(dice.uniform(0, 0.2))  # the moment of the kill: anywhere in model calls, merges and sends
        await gateways[victim].kill()
        gateways[victim] = await home.begin()
    await crowd.answered()
    for chat in range(6):
        assert sessions_are_straight(await home.tape(crowd.session(chat))) == crowd.words(chat)
        crowd.got_its_answers(chat)
    for gateway in gateways:
        assert await (await gateway.ready()).stop() == 0
