"""The model that is there before any other is set."""

import pytest

from gateway.agent.model import Delta, ModelReply
from gateway.agent.model_demo import INTRO, MARKDOWN, DemoModel
from gateway.tape.entries import Anchor
from tests.agent.room import Room


async def test_its_first_answer_says_what_it_is_and_how_to_set_a_real_one() -> None:
    text = (await Room(DemoModel()).say("hello")).text
    assert "demo model" in text
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "GATEWAY_MODEL__BASE_URL"):
        assert name in text


async def test_it_says_so_once_and_again_in_a_new_window() -> None:
    room = Room(DemoModel())
    assert INTRO in (await room.say("hello")).text
    assert INTRO not in (await room.say("hello again")).text
    assert INTRO not in (await room.say("handoff tea")).text
    assert INTRO not in (await room.say("what is left of this chapter?")).text
    assert INTRO in (await Room(DemoModel()).say("time")).text


async def test_it_repeats_what_it_heard_and_tells_what_it_can_do() -> None:
    room = Room(DemoModel())
    await room.say("hello")
    text = (await room.say("my cat\nis *old*")).text
    assert text.startswith("I heard:\n> my cat\n> is *old*\n")
    assert "`search`" in text


async def test_it_searches_the_tape_also_before_an_anchor() -> None:
    room = Room(DemoModel())
    await room.say("the apples are in the cellar")
    await room.say("handoff tea we had apples")
    text = (await room.say("search apples")).text
    assert "the apples are in the cellar" in text
    assert "search apples" not in text
    assert "I found nothing" in (await room.say("search zebras")).text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("what time is it?", "**Tuesday 2026-12-01 09:00** (UTC)"),
        ("time", "(UTC)"),
        ("What time is it in Asia/Tokyo", "**Tuesday 2026-12-01 18:00** (Asia/Tokyo)"),
        ("what time is it in Nowhere/Land?", "That did not work: no time zone 'Nowhere/Land'"),
        ("info", "This tape holds"),
        ("show markdown", MARKDOWN),
        ("a long time ago", "I heard:"),
    ],
)
async def test_it_answers_by_its_rules(words: str, said: str) -> None:
    assert said in (await Room(DemoModel()).say(words)).text


async def test_it_hands_off_with_a_name_and_a_summary() -> None:
    room = Room(DemoModel())
    await room.say("hello")
    assert "the chapter `tea` begins here" in (await room.say("Handoff tea we had cake")).text
    anchors = [e.fact for e in await room.tape() if isinstance(e.fact, Anchor)]
    assert anchors[-1] == Anchor("tea", {"summary": "we had cake"})


async def test_it_streams_in_several_pieces_at_the_pace_it_is_given() -> None:
    paces = 0

    async def pace() -> None:
        nonlocal paces
        paces += 1

    pieces = [p async for p in DemoModel(pace=pace).ask([{"role": "user", "content": "show markdown"}], [])]
    *deltas, reply = pieces
    assert isinstance(reply, ModelReply)
    assert "".join(d.text for d in deltas if isinstance(d, Delta)) == reply.text
    assert paces == len(deltas) - 1 > 10


async def test_it_calls_no_tool_that_it_was_not_offered() -> None:
    text = (await Room(DemoModel(), tools=()).say("what time is it")).text
    assert "I heard:" in text
