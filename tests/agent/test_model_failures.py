"""Models that fail: waited for, or told of in a sentence."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from gateway.agent.answer import Answer
from gateway.agent.model import Delta, ModelBusy, ModelRefused, ModelReply, ToolSpec
from gateway.tape.attempt import Attempt
from gateway.tape.context import ChatMessage
from gateway.tape.entries import Error, Message, ToolResult
from gateway.tape.fork import Fork, Said
from tests.agent.scripted import (
    PatientClock,
    ScriptedModel,
    calls,
    events,
    go,
    past,
    tool,
    turn,
)


def results(attempt: Attempt) -> list[ToolResult]:
    return [d.fact for d in attempt.fork.drafts if isinstance(d.fact, ToolResult)]


async def test_a_busy_model_is_asked_again_after_a_growing_wait() -> None:
    clock = PatientClock()
    busy = [ModelBusy("503"), ModelBusy("503"), ModelBusy("429", after=7)]
    assert (await go(ScriptedModel([*busy, "at last"]), turn(), clock=clock)).text == "at last"
    assert clock.waits == [1.0, 2.0, 7]


async def test_a_model_that_stays_busy_is_given_up_with_a_sentence_and_an_error_fact() -> None:
    clock, attempt, model = PatientClock(), turn(), ScriptedModel(lambda _: ModelBusy("its server answers 503"))
    answer = await go(model, attempt, clock=clock)
    assert answer.outcome == "failed"
    assert "(its server answers 503). Nothing was lost" in answer.text
    assert (len(model.seen), clock.waits) == (4, [1.0, 2.0, 4.0])
    assert Error("temporary", "its server answers 503") in [d.fact for d in attempt.fork.drafts]
    assert (events(attempt, "run")[0]["status"], attempt.finished) == ("failed", answer.text)


async def test_nobody_waits_longer_than_the_patience_of_a_turn() -> None:
    clock, model = PatientClock(), ScriptedModel([ModelBusy("429", after=20), ModelBusy("429", after=50)])
    assert (await go(model, turn(), clock=clock)).outcome == "failed"
    assert clock.waits == [20]


async def test_a_refusal_is_told_at_once() -> None:
    attempt, model = turn(), ScriptedModel([ModelRefused("the key is wrong", kind="config", detail="401 sk-")])
    assert await go(model, attempt) == Answer("the key is wrong", "failed")
    assert Error("config", "401 sk-") in [d.fact for d in attempt.fork.drafts]


async def test_a_stream_without_a_reply_is_a_busy_model() -> None:
    class Broke:
        name = "broke"

        async def ask(
            self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]
        ) -> AsyncIterator[Delta | ModelReply]:
            yield Delta("par")

    assert "broke off" in (await go(Broke(), turn())).text


async def test_a_failure_after_finished_steps_keeps_them() -> None:
    attempt = turn()
    await go(ScriptedModel([calls(("look", "{}")), ModelRefused("no")]), attempt, tool("look"))
    assert results(attempt) == [ToolResult(("done",), ("c0",))]


async def test_cancelling_a_turn_closes_the_stream() -> None:
    closed, began = asyncio.Event(), asyncio.Event()

    class Slow:
        name = "slow"

        async def ask(
            self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]
        ) -> AsyncIterator[Delta | ModelReply]:
            try:
                yield Delta("so")
                began.set()
                await asyncio.Event().wait()
            finally:
                closed.set()

    running = asyncio.create_task(go(Slow(), turn()))
    await began.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert closed.is_set()


async def test_a_preview_that_raises_leaves_no_stream_open() -> None:
    closed: list[bool] = []

    class Talks:
        name = "talks"

        async def ask(
            self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]
        ) -> AsyncIterator[Delta | ModelReply]:
            try:
                yield Delta("so")
            finally:
                closed.append(True)

    def heard(_text: str) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await go(Talks(), turn(), heard=heard)
    assert closed == [True]


async def test_words_that_are_blank_still_make_a_request_that_a_provider_takes() -> None:
    assert (await go(ScriptedModel(["yes?"]), turn(" "))).text == "yes?"
    assert (await go(ScriptedModel(["yes?"]), turn(" ", past("a", "b")))).text == "yes?"


def test_a_fork_of_a_finished_turn_holds_what_was_said() -> None:
    fork = Fork(past(), turn().fork.turn)
    fork.apply(Said("x", PatientClock().now()))
    assert fork.drafts[-1].fact == Message("assistant", "x")
