"""One handoff a turn, at most two calls that do not fit, and then a sentence (C91, C92, C94)."""

from collections.abc import Callable, Sequence

import pytest

from gateway.agent.loop import OVERFLOW
from gateway.agent.model import ContextOverflow
from gateway.tape.attempt import Attempt
from gateway.tape.context import ChatMessage
from gateway.tape.entries import Anchor, Entry, Event, Message, ToolCall
from gateway.tape.fork import HandedOff, Op
from gateway.tape.window import Window
from tests.agent.scripted import NOW, Scripted, ScriptedModel, calls, events, go, journal, past, tool, turn

LONG = past("an old question", "an old answer", "another", "and another")


def too_long_from(count: int) -> Callable[[Sequence[ChatMessage]], Scripted]:
    """A model with room for so many messages, the system's included."""
    return lambda messages: ContextOverflow("maximum context length") if len(messages) >= count else "it fits"


def auto_anchors(attempt: Attempt) -> list[Anchor]:
    return [d.fact for d in attempt.fork.drafts if isinstance(d.fact, Anchor) and d.fact.name == OVERFLOW]


async def test_an_overflow_is_answered_by_one_call_more_on_this_turns_words_alone() -> None:
    model, attempt = ScriptedModel(too_long_from(4)), turn("and now?", LONG)
    assert (await go(model, attempt)).text == "it fits"
    assert [len(m) for m in model.seen] == [6, 2]
    assert model.seen[1][-1] == {"role": "user", "content": "and now?"}
    assert [s["status"] for s in events(attempt, "loop.step")] == ["auto_handoff", "ok"]


async def test_the_anchor_stands_before_the_question_and_says_why() -> None:
    model = ScriptedModel([ContextOverflow("too long " * 100), "it fits"])
    attempt = turn("and now?", LONG)
    await go(model, attempt)
    anchor, event, question, *_ = (d.fact for d in attempt.fork.drafts)
    assert isinstance(anchor, Anchor)
    assert isinstance(event, Event)
    assert anchor.name == "auto_handoff/context_overflow"
    assert anchor.state["reason"] == "context_length_exceeded"
    assert 100 < len(str(anchor.state["error"])) <= 200
    assert (event.data["by"], event.data["via"]) == ("gateway", "overflow")
    assert question == Message("user", "and now?")


async def test_what_never_fits_costs_two_calls_and_ends_in_a_sentence_that_names_it() -> None:
    model, attempt = ScriptedModel(too_long_from(0)), turn("word " * 4000, LONG)
    answer = await go(model, attempt)
    assert (answer.outcome, len(model.seen), len(auto_anchors(attempt))) == ("failed", 2, 1)
    assert "your message (about 5,000 tokens)" in answer.text
    assert events(attempt, "run")[0]["status"] == "failed"


async def test_with_nothing_before_the_turn_there_is_no_second_call() -> None:
    for base in (None, past(), Window("t", 2, 1, past().anchor, (Entry(3, Event("run"), NOW),))):
        model, attempt = ScriptedModel(too_long_from(0)), turn("hi", base)
        answer = await go(model, attempt)
        assert (answer.outcome, len(model.seen), auto_anchors(attempt)) == ("failed", 1, [])
        assert "the bot's own instructions and tools" in answer.text


async def test_the_turn_after_it_is_answered() -> None:
    model = ScriptedModel(too_long_from(3))
    first = turn("x", past("a", "b"))
    first.fork.apply(HandedOff(OVERFLOW, {}, NOW, {}))
    assert (await go(model, first)).text == "it fits"
    second = turn("y", past("c", "d"))
    assert (await go(model, second)).text == "it fits"
    assert len(auto_anchors(second)) == 1


async def test_the_one_chance_is_the_turns_not_the_steps() -> None:
    script: list[Scripted] = [ContextOverflow("1"), calls(("look", "{}")), ContextOverflow("2")]
    model, attempt = ScriptedModel(script), turn("x", LONG)
    answer = await go(model, attempt, tool("look", "y" * 90_000))
    assert (answer.outcome, len(model.seen)) == ("failed", 3)
    assert "what the tools answered" in answer.text


async def test_a_resumed_attempt_has_no_second_chance() -> None:
    first = turn("x", LONG)
    await go(ScriptedModel([ContextOverflow("1"), "it fits"]), first)
    cut: list[Op] = journal(first).ops
    again = turn("x", LONG)
    again.replay(tuple(cut[: next(i for i, op in enumerate(cut) if isinstance(op, HandedOff)) + 1]))
    model = ScriptedModel([ContextOverflow("2")])
    assert (await go(model, again)).outcome == "failed"
    assert (len(model.seen), len(auto_anchors(again))) == (1, 1)


async def test_a_known_window_is_respected_before_the_call_and_spends_the_same_chance() -> None:
    base = past("long " * 2000, "yes")
    model, attempt = ScriptedModel(["it fits"]), turn("hi", base)
    assert (await go(model, attempt, context_window=1000)).text == "it fits"
    assert ([len(m) for m in model.seen], len(auto_anchors(attempt))) == ([2], 1)
    stubborn, again = ScriptedModel(too_long_from(0)), turn("hi", base)
    assert (await go(stubborn, again, context_window=1000)).outcome == "failed"
    assert (len(stubborn.seen), len(auto_anchors(again))) == (1, 1)


async def test_a_window_that_is_large_enough_drops_nothing() -> None:
    model, attempt = ScriptedModel(["it fits"]), turn("hi", LONG)
    await go(model, attempt, context_window=1000)
    assert ([len(m) for m in model.seen], auto_anchors(attempt)) == ([6], [])


async def test_an_overflow_in_mid_turn_keeps_the_finished_steps() -> None:
    model, attempt = ScriptedModel([calls(("look", "{}")), ContextOverflow("1"), "it fits"]), turn("x", LONG)
    assert (await go(model, attempt, tool("look"))).text == "it fits"
    assert [m["role"] for m in model.seen[2]] == ["system", "user", "assistant", "tool"]
    assert any(isinstance(d.fact, ToolCall) for d in attempt.fork.drafts)


@pytest.mark.parametrize("name", ["tea", "session/other"])
async def test_an_anchor_by_somebody_else_does_not_spend_the_chance(name: str) -> None:
    attempt = turn("x", past())
    attempt.fork.apply(HandedOff(name, {}, NOW, {}))
    model = ScriptedModel([ContextOverflow("1")])
    assert (await go(model, attempt)).outcome == "failed"
    assert len(model.seen) == 1  # the view was this turn's own already
