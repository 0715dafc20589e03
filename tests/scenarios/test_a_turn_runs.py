"""While a turn runs: /status answers, /stop stops, and a model that fails is told in a sentence."""

import asyncio

import pytest

from gateway.tape.entries import Anchor, Error
from tests.platforms.openai import Error as ModelError
from tests.platforms.openai import Overflow, Stall, Text
from tests.scenarios.friends import anchors, events, facts, outcomes, session, words

pytestmark = pytest.mark.asyncio(loop_scope="package")

SOON = 2
"""Seconds (case C46)."""


async def stalled(bot, room, person, text, **how):
    """A turn in the middle of its model call; set the event to let it end as "the whole answer"."""
    go, before = asyncio.Event(), bot.ai.stalled
    bot.ai.answers.append(Stall(go, after_chunks=1, then=Text("the whole answer", chunks=3)))
    room.says(person, text, **how)
    await bot.ai.wait_stalled(before + 1)
    return go


async def test_status_answers_during_a_running_turn_and_does_not_disturb_it(bot, ben):
    """Case C46: within two seconds, past the queue and the lock."""
    room = bot.tg.private(ben)
    go = await stalled(bot, room, ben, "take your time")
    async with asyncio.timeout(SOON):
        answer = await bot.asks(room, ben, "/status")
    assert answer.text.startswith("A turn is running; 1 message not answered yet.")
    go.set()
    await bot.hears(room, 2)
    assert [s.text for s in bot.said(room)][1:] == ["the whole answer"]
    idle = await bot.asks(room, ben, "/status")
    assert idle.text.startswith("Nothing is running; 0 messages")


async def test_stop_in_the_middle_of_a_call_says_so_and_the_turn_is_on_the_tape_as_interrupted(bot, ben):
    """Case C46: told "Stopped" within two seconds, no reply, the model is not kept busy, the next message works."""
    room = bot.tg.private(ben)
    gone = bot.ai.disconnected
    await stalled(bot, room, ben, "a long story, please")
    async with asyncio.timeout(SOON):
        answer = await bot.asks(room, ben, "/stop")
    assert answer.text == "Stopped."
    await bot.ai.wait_disconnected(gone + 1)
    entries = await bot.tape(room)
    assert words(entries, "user") == ["a long story, please"]
    assert not words(entries, "assistant")
    assert outcomes(entries) == ["cancelled"]
    [error] = facts(entries, Error)
    assert error.kind == "cancelled"
    assert (await bot.asks(room, ben, "something short")).text == "echo: something short"
    assert [s.text for s in bot.said(room)] == ["Stopped.", "echo: something short"]


async def test_stop_takes_what_waits_too_and_a_second_stop_says_that_nothing_runs(bot, ben):
    """Case C47: A runs, B waits, /stop, /stop, then C: C runs alone, and what was dropped stands on the tape."""
    room = bot.tg.private(ben)
    await stalled(bot, room, ben, "A")
    room.says(ben, "B")
    await bot.gateway.logged("message.accepted", session=session(room), count=2)
    first = await bot.asks(room, ben, "/stop")
    assert first.text == "Stopped: 2 messages will not be answered."
    second = await bot.asks(room, ben, "/stop")
    assert second.text == "Nothing is running and nothing waits."
    assert (await bot.asks(room, ben, "C")).text == "echo: C"
    entries = await bot.tape(room)
    assert outcomes(entries) == ["cancelled", "cancelled", "finished"]
    assert words(entries, "user") == ["A", "B", "C"]


async def test_a_member_of_a_group_stops_only_their_own_turn(bot, ann, ben, number):
    """DESIGN 8: an author stops their own messages, an admin everybody's."""
    group = bot.tg.group(-7000 - number, "Shared", members=[ann, ben])
    cid = bot.tg.person(8500 + number, "Cid")
    go = await stalled(bot, group, ben, "mine", mention=True)
    refused = await bot.asks(group, cid, "/stop")
    assert refused.text.startswith("Nothing of yours is running")
    go.set()
    await bot.tg.wait(lambda: "the whole answer" in [s.text for s in bot.said(group)])
    await stalled(bot, group, ben, "mine again", mention=True)
    assert (await bot.asks(group, ann, "/stop")).text == "Stopped."
    assert outcomes(await bot.tape(group)) == ["finished", "cancelled"]


async def test_an_overflow_gets_exactly_one_retry_on_a_shorter_context(bot, ben):
    """Done when 3: once - two calls, the second without the history; the handoff stands before the question."""
    room = bot.tg.private(ben)
    await bot.asks(room, ben, "some history")
    bot.ai.answers.append(Overflow())
    before = len(bot.ai.requests)
    assert (await bot.asks(room, ben, "one question more")).text == "echo: one question more"
    first, second = bot.ai.requests[before:]
    assert "some history" in first.text
    assert [m["content"] for m in second.messages if m["role"] != "system"] == ["one question more"]
    entries = await bot.tape(room)
    anchor = anchors(entries)[-1]
    assert (anchor.name, anchor.state["reason"]) == ("auto_handoff/context_overflow", "context_length_exceeded")
    assert len(str(anchor.state["error"])) <= 200
    at = [e.id for e in entries if isinstance(e.fact, Anchor)][-1]
    assert at < next(e.id for e in entries if getattr(e.fact, "content", None) == "one question more")
    assert "auto_handoff" in [e.data["status"] for e in events(entries, "loop.step")]


async def test_an_overflow_that_stays_gets_two_calls_and_a_plain_sentence_and_the_next_turn_works(bot, ben):
    """Done when 3, cases C91 and C92: the one chance is the turn's, not the session's."""
    room = bot.tg.private(ben)
    await bot.asks(room, ben, "some history")
    bot.ai.answers += [Overflow(), Overflow()]
    before = len(bot.ai.requests)
    told = await bot.asks(room, ben, "one question more")
    assert len(bot.ai.requests) == before + 2
    assert "does not fit into the model's context window" in told.text
    assert "traceback" not in told.text.lower()
    entries = await bot.tape(room)
    assert [a.name for a in anchors(entries)] == ["session/start", "auto_handoff/context_overflow"]
    assert outcomes(entries) == ["finished", "failed"]
    assert (await bot.asks(room, ben, "hi")).text == "echo: hi"
    bot.ai.answers.append(Overflow())
    assert (await bot.asks(room, ben, "and again")).text == "echo: and again"


async def test_an_overflow_with_nothing_to_set_aside_is_told_after_one_call(bot, ben):
    """DESIGN 7: with nothing before the turn to drop there is no second call."""
    room = bot.tg.private(ben)
    bot.ai.answers.append(Overflow())
    before = len(bot.ai.requests)
    told = await bot.asks(room, ben, "far too long")
    assert "does not fit" in told.text
    assert len(bot.ai.requests) == before + 1
    assert (await bot.asks(room, ben, "hi")).text == "echo: hi"


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ModelError(401, "invalid_api_key", "Incorrect API key provided: sk-a***"), "does not accept the key"),
        (ModelError(404, "model_not_found", "The model does not exist"), "knows no model"),
        (ModelError(429, "insufficient_quota", "You exceeded your current quota"), "no credit"),
        (ModelError(400, None, "Invalid value: 'x'"), "refused this request"),
    ],
    ids=["key", "model", "quota", "request"],
)
async def test_what_the_models_provider_refuses_is_told_in_a_sentence_and_the_next_turn_works(bot, ben, error, says):
    """Contents 4: errors told to the person in a plain sentence."""
    room = bot.tg.private(ben)
    bot.ai.answers.append(error)
    told = await bot.asks(room, ben, "hello")
    assert says in told.text
    assert len(told.text.splitlines()) == 1
    entries = await bot.tape(room)
    assert outcomes(entries) == ["failed"]
    assert len(facts(entries, Error)) == 1
    assert (await bot.asks(room, ben, "hello again")).text == "echo: hello again"


async def test_a_model_that_is_busy_for_a_moment_is_asked_again(bot, ben):
    """DESIGN 7: wait and repeat; the person sees nothing of it."""
    room = bot.tg.private(ben)
    bot.ai.answers += [ModelError(503), ModelError(429, None, "Rate limit reached", headers={"Retry-After": "1"})]
    before = len(bot.ai.requests)
    assert (await bot.asks(room, ben, "hello")).text == "echo: hello"
    assert len(bot.ai.requests) == before + 3
