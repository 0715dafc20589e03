"""Two `gateway run` on one data folder: one polls, both work, and each can go at any time (cases C29, C43, C121)."""

import asyncio

import pytest

from tests.faults.crew import LEASE
from tests.faults.crowd import Crowd, answer_to
from tests.platforms.openai import Text
from tests.scenarios.friends import outcomes
from tests.support.page import Page

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_the_one_that_stands_by_works_on_turns(crew):
    """Done when 5: what one takes in, both answer."""
    poller, other = await crew.two()
    async with Page(other) as page:
        health = (await page.health())["parts"]["telegram"]
    assert health["state"] == "standby"
    assert "another process" in health["detail"]
    crowd = Crowd(crew, chats=4)
    crew.ai.script = lambda request: Text(answer_to(request), chunks=4, pause=0.05)
    for number in range(5):
        crowd.says(number)
    await crowd.answered()
    await crowd.is_whole()
    assert not [line for line in other.log if line["event"] == "message.accepted"], "both took messages in"
    assert [line for line in other.log if line["event"] == "turn.merged"], "the one that stands by did no work"
    assert poller.alive


async def test_two_hundred_numbered_messages_in_ten_chats_come_out_in_order(crew):
    """Done when 5: in order and once each on every tape and in every chat; turns of one session never interleave."""
    await crew.two()
    crowd = Crowd(crew, chats=10)
    crew.ai.script = lambda request: Text(answer_to(request))
    for number in range(20):
        crowd.says(number)
        if number % 5 == 4:  # else one turn would answer them all: some wait for a turn, some arrive within one
            await crew.tg.wait(lambda: not crew.tg.pending)
    await crowd.answered()
    await crowd.is_whole()


async def test_when_the_poller_is_killed_the_other_polls_within_the_leases_time(crew):
    """Done when 5, case C29: and what was written meanwhile is answered."""
    poller, other = await crew.two()
    room, loop = crew.room(), asyncio.get_running_loop()
    crew.says(room, "before")
    await crew.hears(room)
    await crew.delivered(room)
    polls = len(crew.tg.calls_of("getUpdates"))
    await poller.kill()
    killed = loop.time()
    crew.says(room, "after")
    await crew.tg.wait_calls("getUpdates", polls + 1)
    took = loop.time() - killed
    assert took < 2 * LEASE, f"{took:.1f} s until the other one polled"
    assert await crew.hears(room, 2) == ["echo: before", "echo: after"]
    assert other.is_polling


async def test_a_gateway_that_leaves_in_order_hands_its_bot_over_at_once(crew):
    """Case C29: an orderly stop gives the token back, so nobody waits for a lease to run out; nothing is lost."""
    poller, other = await crew.two()
    room = crew.room()
    assert await poller.stop() == 0
    crew.says(room, "hello")
    assert await crew.hears(room) == ["echo: hello"]
    assert outcomes(await crew.tape(room)) == ["finished"]
    assert other.is_polling


async def test_a_page_that_is_open_finds_every_answer_at_its_next_beat_whichever_gateway_worked_on_it(crew):
    """Two gateways with a page each, on one data folder: what the other one sent is read again at a beat."""
    poller, _ = await crew.two()
    async with Page(poller, chat="open") as page:
        events = page.follow()
        assert (await anext(events))[0] == "hello"
        asked = set()
        for number in range(20):
            asked.add(turn := await page.says(f"question {number}"))
            await page.answer(turn)
        try:
            async with asyncio.timeout(30):
                while (await anext(events))[0] != "beat":
                    pass
        finally:
            await events.aclose()
        answered = {line["turn"] for line in await page.lines() if line["kind"] == "bot"}
    assert asked <= answered


async def test_two_bots_with_different_tokens_both_poll(crew):
    """Case C29: a lease is one bot's alone."""
    crew.tg.add_bot("43:TEST", "second_bot")
    first = await crew.one()
    second = await (await crew.home.start(telegram__token="43:TEST")).polls()
    crew.tg.calls.clear()
    crew.says(crew.room(), "hello")
    await crew.tg.wait_calls("getUpdates")
    assert first.is_polling
    assert second.is_polling
    assert not [line for line in first.log + second.log if line.get("state") == "degraded"]
    assert await second.stop() == 0
    assert await first.stop() == 0
