"""A turn that was killed goes on from its journal, wherever that ends."""

from collections.abc import Sequence

import pytest

from gateway.tape.attempt import Attempt
from gateway.tape.context import ChatMessage
from gateway.tape.entries import Error, Event, Fact, System, ToolCall, ToolResult
from gateway.tape.fork import INTERRUPTED, Appended, Op, Returned
from tests.agent.scripted import NOW, Scripted, ScriptedModel, calls, events, go, journal, past, tool, turn


def script(messages: Sequence[ChatMessage]) -> Scripted:
    """Two steps and a text, by what has been answered so far."""
    match sum(message["role"] == "tool" for message in messages):
        case 0:
            return calls(("safe", "{}", "a"), ("risky", "{}", "b"))
        case 2:
            return calls(("risky", "{}", "c"), ("safe", "{}", "d"), text="and then")
        case _:
            return "done"


async def run(ops: Sequence[Op]) -> tuple[Attempt, list[str], list[str]]:
    """The turn after these operations, and the ids of the calls that ran."""
    safe: list[str] = []
    risky: list[str] = []
    attempt = turn("go", past("a", "b"))
    attempt.replay(tuple(ops))
    journal(attempt).ops = list(ops)
    tools = (tool("safe", "s", idempotent=True, ran=safe), tool("risky", "r", ran=risky))
    assert (await go(ScriptedModel(script), attempt, *tools)).text == "done"
    return attempt, safe, risky


def told(attempt: Attempt) -> list[Fact]:
    """The facts that matter to a reader, interruptions read as the result they stand for."""
    found: list[Fact] = []
    for draft in attempt.fork.drafts:
        match draft.fact:
            case Event() | System() | Error():
                pass
            case ToolResult(results, ids):
                names = {"a": "s", "b": "r", "c": "r", "d": "s"}
                mended = zip(results, ids, strict=True)
                found.append(ToolResult(tuple(names[i] if r == {"error": INTERRUPTED} else r for r, i in mended), ids))
            case fact:
                found.append(fact)
    return found


async def test_from_every_point_of_its_journal_a_turn_ends_as_it_would_have_and_no_finished_tool_runs_twice() -> None:
    whole, _, _ = await run([])
    ops = journal(whole).ops
    assert len(ops) > 12
    for count in range(len(ops) + 1):
        resumed, safe, risky = await run(ops[:count])
        assert told(resumed) == told(whole), count
        finished = {op.call for op in ops[:count] if isinstance(op, Returned)}
        begun = {
            c.id
            for op in ops[:count]
            if isinstance(op, Appended) and isinstance(op.fact, ToolCall)
            for c in op.fact.calls
        }
        assert not finished & {*safe, *risky}, count
        assert not begun & set(risky), count
        assert len(set(safe)) == len(safe)
        assert len(events(resumed, "loop.start")) == 1, count


async def test_an_interrupted_tool_runs_again_only_if_it_is_idempotent_and_under_the_same_id() -> None:
    whole, _, _ = await run([])
    ops = journal(whole).ops
    begun = next(i for i, op in enumerate(ops) if isinstance(op, Appended) and isinstance(op.fact, ToolCall))
    resumed, safe, risky = await run(ops[: begun + 1])
    first = next(d.fact for d in resumed.fork.drafts if isinstance(d.fact, ToolResult))
    assert first == ToolResult(("s", {"error": INTERRUPTED}), ("a", "b"))
    assert (safe, risky) == (["a", "d"], ["c"])


async def test_a_tool_that_is_gone_since_counts_as_interrupted() -> None:
    attempt = turn()
    attempt.replay((Appended(ToolCall(calls(("gone", "{}", "x")).calls), NOW),))
    assert (await go(ScriptedModel(["sorry"]), attempt)).text == "sorry"
    assert ToolResult(({"error": INTERRUPTED},), ("x",)) in [d.fact for d in attempt.fork.drafts]


@pytest.mark.parametrize("drop", ["run", "loop.step"])
async def test_an_answer_without_its_last_events_is_still_an_answer(drop: str) -> None:
    whole, _, _ = await run([])
    kept = [
        op
        for op in journal(whole).ops
        if not (isinstance(op, Appended) and isinstance(op.fact, Event) and op.fact.name == drop)
    ]
    resumed, safe, risky = await run(kept)
    assert (resumed.finished, safe, risky) == ("done", [], [])
