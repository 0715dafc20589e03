"""A fork is decided by its base, its words and its operations, and by nothing else."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import Broken
from gateway.message import Quote, TurnId
from gateway.tape.attempt import Attempt
from gateway.tape.entries import Anchor, Call, Draft, Entry, Event, Message, ToolCall, ToolResult
from gateway.tape.fork import (
    INTERRUPTED,
    QUOTED,
    Appended,
    Fork,
    HandedOff,
    Op,
    Returned,
    Said,
    bootstrap,
    interruptions,
    note,
    words,
)
from gateway.tape.journal import decode_op, encode_op
from gateway.tape.window import Window
from tests.tape.given import KEY, NOW, called, message, returned, said
from tests.tape.strategies import json_values, objects

EMPTY = Window("t")
GROWN = Window("t", 9, 1, Entry(1, Anchor("session/start"), NOW), (Entry(9, Message("user", "before"), NOW),))
M1 = message("m1", "question")


def fork(base: Window = GROWN, *ops: Op) -> Fork:
    made = Fork(base, M1.turn, opening=bootstrap(str(KEY), NOW, M1.turn, {"by": "u1"}), words=words([M1]))
    for op in ops:
        made.apply(op)
    return made


def facts(items: tuple[Entry | Draft, ...]) -> list[object]:
    return [item.fact for item in items]


@st.composite
def runs(draw: st.DrawFn) -> list[Op]:
    """The operations of a turn: steps, some of them open at the end, notes and handoffs in between."""
    ops: list[Op] = []
    for step in range(draw(st.integers(0, 3))):
        ops += draw(st.lists(others, max_size=2))
        calls = [Call(f"c{step}.{n}", "tool", "{}") for n in range(draw(st.integers(1, 3)))]
        ops.append(Appended(ToolCall(tuple(calls)), NOW))
        for call in draw(st.permutations(calls)):
            ops.append(Returned(call.id, draw(json_values), NOW))
            ops += draw(st.lists(others, max_size=1))
    is_cut: bool = draw(st.booleans())
    if is_cut:
        return ops[: draw(st.integers(0, len(ops)))]
    return [*ops, Said(draw(st.text(max_size=5)), NOW)]


others: st.SearchStrategy[Op] = st.one_of(
    objects.map(lambda data: note("loop.step", data, NOW)),
    st.builds(HandedOff, st.sampled_from(["phase", "auto_handoff/context_overflow"]), objects, st.just(NOW), objects),
)


@given(runs(), st.sampled_from([EMPTY, GROWN]), st.data())
def test_replaying_what_the_journal_says_gives_the_same_fork(ops: list[Op], base: Window, data: st.DataObject) -> None:
    lived = fork(base, *ops)
    cut = data.draw(st.integers(0, len(ops)))
    resumed = fork(base, *[decode_op(encode_op(op)) for op in ops[:cut]])
    for op in ops[cut:]:
        resumed.apply(op)

    assert resumed.drafts == lived.drafts
    assert resumed.view == lived.view
    assert (resumed.said, resumed.unanswered, resumed.steps) == (lived.said, lived.unanswered, lived.steps)


@given(runs(), st.sampled_from([EMPTY, GROWN]))
def test_each_call_on_the_fork_has_its_result_right_after_once_the_open_ones_are_closed(
    ops: list[Op], base: Window
) -> None:
    made = fork(base, *ops)
    for op in interruptions(made, NOW):
        made.apply(op)
    steps = [f for f in facts(made.drafts) if isinstance(f, ToolCall | ToolResult)]

    assert made.unanswered == ()
    for asked, given_back in zip(steps[::2], steps[1::2], strict=True):
        assert isinstance(asked, ToolCall)
        assert isinstance(given_back, ToolResult)
        assert given_back.ids == tuple(call.id for call in asked.calls)
    assert {draft.meta.turn for draft in made.drafts} == {M1.turn}


@given(runs(), st.sampled_from([EMPTY, GROWN]))
def test_the_question_stays_in_the_view_whatever_is_handed_off(ops: list[Op], base: Window) -> None:
    made = fork(base, *ops)

    assert Message("user", "question") in facts(made.view)
    assert not any(isinstance(f, Anchor) for f in facts(made.view))


def test_the_first_turn_of_a_tape_opens_it() -> None:
    start = facts(fork(EMPTY).drafts)

    assert start[0] == Anchor("session/start", {"owner": "human"})
    assert isinstance(start[1], Event)
    assert start[1].data == {"name": "session/start", "state": {"owner": "human"}, "by": "u1"}
    assert fork(EMPTY).drafts[0].meta.more["session"] == str(KEY)
    assert facts(fork(GROWN).drafts) == [Message("user", "question")]


def test_words_tell_who_said_them_and_when() -> None:
    (draft,) = words([M1])

    assert (draft.meta.author, draft.meta.message, draft.meta.turn) == ("u1", "m1", "m1")
    assert draft.date == M1.received_at


def test_what_was_overheard_stands_before_the_words_marked_and_without_an_author() -> None:
    heard = replace(M1, quotes=(Quote("Ben", "at six?\nor seven"), Quote("Cid", "yes")))
    quoted, asked = words([heard])

    assert quoted.fact == Message("user", f"{QUOTED}\n> Ben: at six?\n> Ben: or seven\n> Cid: yes")
    assert (quoted.meta.author, quoted.meta.message, quoted.meta.turn) == (None, None, "m1")
    assert quoted.meta.more == {"quoted": True}
    assert (asked,) == words([M1])


def test_a_handoff_goes_before_the_turn_and_drops_what_was_before() -> None:
    made = fork(GROWN, called("c1"), returned("c1"), HandedOff("phase", {"k": 1}, NOW, {"cause": "tool"}), said())

    assert [type(f) for f in facts(made.drafts)] == [Anchor, Event, Message, ToolCall, ToolResult, Message]
    assert facts(made.view) == facts(made.drafts)[2:]
    assert facts(fork(GROWN).view) == [Message("user", "before"), Message("user", "question")]
    assert made.handed_off == ("phase",)


def test_results_keep_the_order_of_the_calls() -> None:
    calls = ToolCall((Call("a", "x", "{}"), Call("b", "y", "{}")))
    made = fork(GROWN, Appended(calls, NOW), returned("b", "second"))

    assert [call.id for call in made.unanswered] == ["a"]
    assert facts(made.drafts)[-1] == calls
    made.apply(returned("a", "first"))
    assert facts(made.drafts)[-1] == ToolResult(("first", "second"), ("a", "b"))


def test_a_call_that_nobody_saw_the_end_of_is_closed_as_interrupted() -> None:
    made = fork(GROWN, called("c1"))
    for op in interruptions(made, NOW):
        made.apply(op)

    assert facts(made.drafts)[-1] == ToolResult(({"error": INTERRUPTED},), ("c1",))


@pytest.mark.parametrize(
    "ops",
    [
        (returned("c1"),),
        (called("c1"), returned("c2")),
        (called("c1"), returned("c1"), returned("c1")),
        (called("c1"), called("c2")),
        (said(), said()),
    ],
)
def test_operations_that_do_not_follow_from_each_other_are_broken(ops: tuple[Op, ...]) -> None:
    with pytest.raises(Broken):
        fork(GROWN, *ops)


def test_a_text_can_be_taken_back_until_it_is_merged() -> None:
    made = fork(GROWN, said("answer"))
    made.withdraw()

    assert made.said is None
    assert facts(made.drafts) == [Message("user", "question")]


class Notebook:
    def __init__(self, *, closed: bool = False) -> None:
        self.lines: list[tuple[Op, bool]] = []
        self.closed = closed

    async def write(self, op: Op, *, durable: bool = False) -> None:
        if self.closed:
            raise Broken("closed")
        self.lines.append((op, durable))


async def test_an_attempt_writes_down_before_it_does() -> None:
    book = Notebook()
    attempt = Attempt(fork(), book)
    attempt.replay((called("c1"),))
    await attempt.do(returned("c1"), durable=True)
    book.closed = True

    with pytest.raises(Broken):
        await attempt.do(said())
    assert book.lines == [(returned("c1"), True)]
    assert attempt.fork.unanswered == ()
    assert attempt.fork.said is None
    assert attempt.fork.turn == TurnId("m1")
