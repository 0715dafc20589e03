"""The loop against models that say what they are told to."""

import asyncio

import pytest

from gateway.agent.answer import Answer
from gateway.agent.model import ModelRefused, ToolSpec
from gateway.agent.tool import Tool, ToolContext
from gateway.errors import AttemptClosed, Broken
from gateway.tape.attempt import Attempt
from gateway.tape.entries import Anchor, Event, Json, JsonMap, System, ToolCall, ToolResult
from gateway.tape.fork import INTERRUPTED, Appended, HandedOff, Op, Returned, Said
from tests.agent.scripted import (
    Notebook,
    PatientClock,
    ScriptedModel,
    calls,
    events,
    go,
    journal,
    past,
    tool,
    turn,
)


def results(attempt: Attempt) -> list[ToolResult]:
    return [d.fact for d in attempt.fork.drafts if isinstance(d.fact, ToolResult)]


def kinds(attempt: Attempt) -> list[str]:
    return [d.fact.name if isinstance(d.fact, Event) else type(d.fact).__name__ for d in attempt.fork.drafts]


# A plain answer


async def test_a_text_ends_the_turn_and_is_on_the_fork() -> None:
    attempt, model = turn("hi"), ScriptedModel(["Good day!"])
    assert await go(model, attempt) == Answer("Good day!", "finished")
    assert attempt.finished == "Good day!"
    assert model.seen == [[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]]


async def test_a_turn_leaves_its_events_on_the_tape_in_order() -> None:
    attempt = turn("hi")
    await go(ScriptedModel(["Good day!"]), attempt)
    assert kinds(attempt) == [
        "Anchor",
        "handoff",
        "Message",
        "loop.start",
        "System",
        "model.call",
        "loop.step",
        "run",
        "Message",
    ]
    assert events(attempt, "run")[0]["usage"] == {"prompt_tokens": 10, "completion_tokens": 2}
    assert not any(d.meta.context for d in attempt.fork.drafts if isinstance(d.fact, System))


async def test_the_system_prompt_is_kept_once_and_again_when_it_changes() -> None:
    attempt = turn("hi")
    await go(ScriptedModel([calls(("look", "{}")), "seen"]), attempt, tool("look"))
    assert kinds(attempt).count("System") == 1
    later = past("hi", "yes")
    old = later.entries[0].__class__(9, System("Be kind."), later.entries[0].date)
    known = turn("again", later.__class__("t", 9, 1, later.anchor, (*later.entries, old)))
    await go(ScriptedModel(["yes"]), known)
    assert "System" not in kinds(known)


async def test_the_preview_hears_the_text_as_it_grows() -> None:
    heard: list[str] = []
    await go(ScriptedModel(["Good day!"]), turn(), heard=heard.append)
    assert heard == ["Goo", "Good d", "Good day!"]


async def test_a_turn_that_has_spoken_asks_no_model() -> None:
    attempt = turn()
    attempt.replay((Said("done already", PatientClock().now()),))
    assert await go(ScriptedModel([]), attempt) == Answer("done already")


async def test_a_turn_that_has_spoken_of_its_failure_is_still_a_failure() -> None:
    failed = turn()
    await go(ScriptedModel([ModelRefused("no")]), failed)
    again = turn()
    again.replay(tuple(journal(failed).ops))
    assert await go(ScriptedModel([]), again) == Answer("no", "failed")


# Tools


async def test_a_tool_is_run_and_its_result_is_read() -> None:
    attempt, model = turn(), ScriptedModel([calls(("look", "{}"), text="let me see"), "it is there"])
    answer = await go(model, attempt, tool("look", {"found": "it"}))
    assert answer.text == "it is there"
    assert [m["role"] for m in model.seen[1]] == ["system", "user", "assistant", "tool"]
    assert (model.seen[1][2]["content"], model.seen[1][3]["content"]) == ("let me see", '{"found": "it"}')
    assert [s["status"] for s in events(attempt, "loop.step")] == ["continue", "ok"]
    assert events(attempt, "run")[0]["usage"] == {"prompt_tokens": 15, "completion_tokens": 2}


async def test_tools_of_one_step_run_side_by_side_and_keep_their_ids() -> None:
    second_ran = asyncio.Event()

    async def slow(context: ToolContext, arguments: JsonMap) -> Json:
        await second_ran.wait()
        return "slow"

    async def quick(context: ToolContext, arguments: JsonMap) -> Json:
        second_ran.set()
        return "quick"

    attempt = turn()
    first, second = (Tool(ToolSpec(run.__name__, "", {}), run) for run in (slow, quick))
    await go(ScriptedModel([calls(("slow", "{}", "a"), ("quick", "{}", "b")), "ok"]), attempt, first, second)
    assert results(attempt) == [ToolResult(("slow", "quick"), ("a", "b"))]
    assert [op.call for op in journal(attempt).ops if isinstance(op, Returned)] == ["b", "a"]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("nothing", "{}", "there is no tool 'nothing'; there are: look, fail"),
        ("look", '{"x": ', 'the arguments are not a JSON object: {"x":'),
        ("look", "[1]", "the arguments are not a JSON object: [1]"),
        ("look", "[" * 200_000, "the arguments are not a JSON object: " + "[" * 199 + "…"),
        ("fail", "{}", "ValueError: it is raining"),
    ],
)
async def test_a_tool_that_cannot_answer_answers_with_an_error_and_the_loop_goes_on(
    name: str, arguments: str, said: str
) -> None:
    attempt, tools = turn(), (tool("look"), tool("fail", ValueError("it is\nraining")))
    assert await go(ScriptedModel([calls((name, arguments)), "well"]), attempt, *tools) == Answer("well")
    assert results(attempt)[0].results == ({"error": said},)


async def test_a_result_that_is_no_json_is_an_error_and_half_characters_are_mended() -> None:
    odd = Tool(ToolSpec("odd", "", {}), lambda *_: _answer(object()))  # type: ignore[arg-type]
    nan = Tool(ToolSpec("nan", "", {}), lambda *_: _answer(float("nan")))
    attempt = turn()
    asked = calls(("odd", "{}"), ("nan", "{}"), ("half", "{}"))
    await go(ScriptedModel([asked, "ok"]), attempt, odd, nan, tool("half", ["a\ud800"]))
    errors = results(attempt)[0].results
    assert "not JSON serializable" in str(errors[0])
    assert "error" in str(errors[1])
    assert errors[2] == ["a\ufffd"]


async def _answer(value: Json) -> Json:
    return value


async def test_empty_arguments_mean_none() -> None:
    attempt = turn()
    await go(ScriptedModel([calls(("look", "")), "ok"]), attempt, tool("look"))
    assert results(attempt)[0].results == ("done",)


async def test_call_ids_that_a_model_repeats_are_made_unique() -> None:
    attempt = turn()
    asked = calls(("look", "{}", "x"), ("look", "{}", "x"), ("look", "{}", ""))
    await go(ScriptedModel([asked, calls(("look", "{}", "x")), "ok"]), attempt, tool("look"))
    assert [r.ids for r in results(attempt)] == [("x", "x_2", "call"), ("x_3",)]


async def test_a_tool_that_cancels_itself_leaves_no_step_open() -> None:
    async def run(context: ToolContext, arguments: JsonMap) -> Json:
        raise asyncio.CancelledError

    attempt = turn()
    model = ScriptedModel([calls(("odd", "{}")), calls(("odd", "{}", "second")), "ok"])
    assert (await go(model, attempt, Tool(ToolSpec("odd", "", {}), run))).text == "ok"
    assert [r.results for r in results(attempt)] == [({"error": INTERRUPTED},)] * 2


async def test_calls_are_on_disk_before_a_tool_runs_that_is_not_idempotent() -> None:
    attempt = turn()
    model = ScriptedModel([calls(("safe", "{}")), calls(("safe", "{}"), ("risky", "{}")), "ok"])
    await go(model, attempt, tool("safe", idempotent=True), tool("risky"))
    durable = [op.fact for op in journal(attempt).durable if isinstance(op, Appended)]
    assert [tuple(c.name for c in f.calls) for f in durable if isinstance(f, ToolCall)] == [("safe", "risky")]
    assert len(durable) == 1


async def test_a_lost_attempt_ends_the_turn_as_one_plain_error() -> None:
    with pytest.raises(AttemptClosed):
        await go(
            ScriptedModel([calls(("look", "{}"), ("gone", "{}"))]), turn(), tool("look"), tool("gone", AttemptClosed())
        )


async def test_a_journal_that_breaks_ends_the_turn() -> None:
    class Full(Notebook):
        async def write(self, op: Op, *, durable: bool = False) -> None:
            if isinstance(op, Returned):
                raise Broken("the disk is full")

    attempt = Attempt(turn().fork, Full())
    with pytest.raises(Broken, match="disk"):
        await go(ScriptedModel([calls(("look", "{}"))]), attempt, tool("look"))


async def test_a_handoff_by_a_tool_keeps_the_question_and_the_step_in_view() -> None:
    async def run(context: ToolContext, arguments: JsonMap) -> Json:
        await context.attempt.do(HandedOff("tea", {}, context.now(), {"by": "agent"}))
        return "done"

    attempt, model = turn("let us have tea", past("old", "older")), ScriptedModel([calls(("hand", "{}")), "tea"])
    await go(model, attempt, Tool(ToolSpec("hand", "", {}), run))
    assert [m["role"] for m in model.seen[0]] == ["system", "user", "assistant", "user"]
    assert [m["role"] for m in model.seen[1]] == ["system", "user", "assistant", "tool"]
    assert isinstance(attempt.fork.drafts[0].fact, Anchor)


async def test_after_so_many_steps_a_plain_sentence_ends_the_turn() -> None:
    model = ScriptedModel(lambda _messages: calls(("look", "{}")))
    attempt = turn()
    answer = await go(model, attempt, tool("look"), max_steps=3)
    assert (answer.outcome, len(model.seen)) == ("failed", 3)
    assert "3 steps" in answer.text
    assert attempt.finished == answer.text
