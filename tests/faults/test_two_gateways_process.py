"""Two `gateway run` on one data folder: one polls, both work, and each can go at any time (cases C29, C43, C121)."""

import asyncio

from tests.faults.crowd import LEASE, Crowd, answer_to, delivered, sessions_are_straight
from tests.platforms.openai import Text
from tests.scenarios.friends import outcomes, session
from tests.support.page import Page


async def both(home):
    """Two gateways, the one that polls first."""
    first, second = await asyncio.gather(home.start(), home.start())

    def polling():
        return [g for g in (first, second) if any(line.get("state") == "connected" for line in g.log)]

    await asyncio.wait(
        {asyncio.create_task(g.polls()) for g in (first, second)}, return_when=asyncio.FIRST_COMPLETED, timeout=60
    )
    [poller] = polling()
    return poller, second if poller is first else first


async def test_one_polls_and_the_other_stands_by_until_the_poller_is_killed(tg, ai, home):
    """Done when 5: the other one polls within the lease's time, and what was written meanwhile is answered."""
    poller, other = await both(home)
    async with Page(other) as page:
        health = (await page.health())["parts"]["telegram"]
    assert health["state"] == "standby"
    assert "another process" in health["detail"]
    ann = tg.person(1, "Ann")
    room = tg.private(ann)
    room.says(ann, "before")
    await tg.wait_sent(1)
    await delivered(home, room, other)
    polls = len(tg.calls_of("getUpdates"))
    loop = asyncio.get_running_loop()

    await poller.kill()
    killed = loop.time()
    room.says(ann, "after")
    await tg.wait_calls("getUpdates", polls + 1)
    took = loop.time() - killed
    assert took < 2 * LEASE + 3, f"{took:.1f} s until the other one polled"
    await tg.wait(lambda: [s for s in tg.sent if s.text == "echo: after"])
    assert [s.text for s in tg.sent] == ["echo: before", "echo: after"]
    assert not [c for c in tg.calls_of("getUpdates") if c.token != tg.token]
    assert await other.stop() == 0


async def test_the_one_that_stands_by_works_on_turns(tg, ai, home):
    """Done when 5: with the poller frozen after it took messages in, the other one answers them all."""
    poller, other = await both(home)
    crowd = Crowd(tg, chats=4)
    ai.script = lambda request: Text(answer_to(request), chunks=4, pause=0.05)
    for number in range(5):
        for chat in range(4):
            crowd.says(chat, number)
    await crowd.answered()
    merged = [{line["session"] for line in g.log if line["event"] == "turn.merged"} for g in (poller, other)]
    assert merged[1], "the one that stands by did no work"
    for chat in range(4):
        assert sessions_are_straight(await home.tape(crowd.session(chat))) == crowd.words(chat)
        crowd.got_its_answers(chat)
    assert await poller.stop() == 0
    assert await other.stop() == 0


async def test_two_hundred_numbered_messages_in_ten_chats_come_out_in_order(tg, ai, home):
    """Done when 5: in order and once each on every tape and in every chat; turns of one session never interleave."""
    poller, other = await both(home)
    crowd = Crowd(tg, chats=10)
    ai.script = lambda request: Text(answer_to(request))
    for number in range(20):
        for chat in range(10):
            crowd.says(chat, number)
        if number % 5 == 4:  # else one turn would answer them all: some wait for a turn, some arrive within one
            await tg.wait(lambda: not tg.pending)
    await crowd.answered()
    for chat in range(10):
        assert sessions_are_straight(await home.tape(crowd.session(chat))) == crowd.words(chat)
        crowd.got_its_answers(chat)
    assert await poller.stop() == 0
    assert await other.stop() == 0


async def test_a_gateway_that_leaves_in_order_hands_its_bot_over_at_once(tg, ai, home):
    """Case C29: an orderly stop gives the token back, so nobody waits for a lease to run out; nothing is lost."""
    poller, other = await both(home)
    ann = tg.person(1, "Ann")
    room = tg.private(ann)
    assert await poller.stop() == 0
    room.says(ann, "hello")
    await tg.wait_sent(1)
    await delivered(home, room, other)
    assert outcomes(await home.tape(session(room))) == ["finished"]
    assert await other.stop() == 0
    assert [s.text for s in tg.sent] == ["echo: hello"]


async def test_two_bots_with_different_tokens_both_poll(tg, ai, home):
    """Case C29: a lease is one bot's alone."""
    tg.add_bot("43:TEST", "second_bot")
    first = await home.start()
    second = await home.start(telegram__token="43:TEST")
    await first.polls()
    await second.polls()
    assert {call.token for call in tg.calls_of("getUpdates")} == {"42:TEST", "43:TEST"}
    assert await first.stop() == 0
    assert await second.stop() == 0
