"""The default selector against a strict provider's rules, written down here once more."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.tape.context import NO_RESULT, OPENING, View, default_view
from gateway.tape.entries import (
    Anchor,
    Call,
    Draft,
    Error,
    Event,
    Fact,
    Json,
    JsonMap,
    Message,
    Meta,
    System,
    ToolCall,
    ToolResult,
    Unknown,
)

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def view(*facts: Fact) -> View:
    return default_view([Draft(fact, NOW) for fact in facts])


def messages(*facts: Fact) -> list[JsonMap]:
    return list(view(*facts).messages)


def asked(*ids: str, content: str = "") -> ToolCall:
    return ToolCall(tuple(Call(i, f"tool_{n}", "{}") for n, i in enumerate(ids)), content)


HELLO = Message("user", "hello")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
unhurried = settings(deadline=None)  # a busy machine is no failure


def pairs(found: Sequence[JsonMap]) -> list[tuple[Json, Json]]:
    return [(m["tool_call_id"], m["content"]) for m in found if m["role"] == "tool"]


# What each kind becomes


def test_a_message_is_shown_as_it_was_saved() -> None:
    assert messages(Message("user", "hello", {"name": "ada"})) == [{"role": "user", "content": "hello", "name": "ada"}]


def test_a_tool_call_keeps_its_text_and_is_followed_by_its_results() -> None:
    call = ToolCall((Call("a", "look", '{"x": 1}'),), "let me look")
    assert messages(HELLO, call, ToolResult(({"found": [1, "ä"]},), ("a",)))[1:] == [
        {
            "role": "assistant",
            "content": "let me look",
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"x": 1}'}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": '{"found": [1, "ä"]}'},
    ]


def test_what_is_marked_as_no_context_is_dropped_before_anything_else() -> None:
    hidden = Draft(Message("user", "psst"), NOW, Meta(context=False))
    assert default_view([Draft(HELLO, NOW), hidden]).messages == ({"role": "user", "content": "hello"},)


def test_system_entries_events_errors_and_unknown_kinds_never_enter() -> None:
    assert messages(System("old"), HELLO, Event("run"), Error("tool", "oh"), Unknown("x", {})) == messages(HELLO)


def test_an_anchor_inside_is_told_and_one_that_would_open_the_view_moves_into_the_system_message() -> None:
    tea = Anchor("tea", {"summary": "grün"})
    told = '[Anchor created: tea]: {"summary": "grün"}'
    assert view(tea, HELLO) == View(({"role": "user", "content": "hello"},), told)
    assert messages(HELLO, tea)[1] == {"role": "assistant", "content": told}


def test_blank_turns_are_skipped() -> None:
    blanks = [Message("assistant", ""), Message("assistant", None), Message("user", " \n"), Message("user", [])]
    assert messages(HELLO, *blanks, ToolCall((), " ")) == messages(HELLO)


def test_blank_parts_and_half_characters_are_mended() -> None:
    said = Message("user", [{"type": "text", "text": " "}, {"type": "text", "text": "hi\ud800"}], {"extra": "\ud800"})
    assert messages(said) == [{"role": "user", "content": [{"type": "text", "text": "hi\ufffd"}], "extra": "\ufffd"}]


def test_an_unknown_role_and_a_stray_tool_message_are_left_out() -> None:
    stray = Message("tool", "42", {"tool_call_id": "gone"})
    assert messages(HELLO, Message("narrator", "meanwhile"), stray) == messages(HELLO)


def test_a_saved_message_cannot_smuggle_in_an_unanswered_call() -> None:
    saved = Message("assistant", "hm", {"tool_calls": [{"id": "x"}], "function_call": {}})
    assert messages(HELLO, saved)[1] == {"role": "assistant", "content": "hm"}


def test_a_view_that_the_assistant_would_open_is_opened_by_a_note() -> None:
    assert messages(Message("assistant", "as I said"), HELLO)[:2] == [
        {"role": "user", "content": OPENING},
        {"role": "assistant", "content": "as I said"},
    ]


# Pairing (C86, C89)


def test_results_are_paired_by_id_and_a_missing_one_gets_a_placeholder() -> None:
    found = messages(HELLO, asked("1", "2", "3"), ToolResult(("three", "one", "stray"), ("3", "1", "never called")))
    assert pairs(found) == [("1", "one"), ("2", NO_RESULT), ("3", "three")]


def test_results_without_ids_are_paired_by_position_and_a_surplus_is_dropped() -> None:
    assert pairs(messages(HELLO, asked("1", "2"), ToolResult(("one", "two", "three")))) == [("1", "one"), ("2", "two")]


def test_results_follow_their_call_directly_whatever_stands_between() -> None:
    found = messages(HELLO, asked("1"), Message("user", "are you there?"), Anchor("x"), ToolResult(("one",), ("1",)))
    assert [m["role"] for m in found] == ["user", "assistant", "tool", "user", "assistant"]
    assert pairs(found) == [("1", "one")]


def test_a_result_whose_call_was_cut_off_is_left_out() -> None:
    assert messages(ToolResult(("one",), ("1",)), ToolResult(("two",)), HELLO) == messages(HELLO)


def test_a_second_result_of_the_same_call_is_left_out() -> None:
    found = messages(HELLO, asked("1"), ToolResult(("one",), ("1",)), ToolResult(("again",), ("1",)))
    assert pairs(found) == [("1", "one")]


def test_of_two_results_without_ids_the_first_counts() -> None:
    found = messages(HELLO, asked("1", "2"), ToolResult(("one",)), ToolResult(("again", "two")))
    assert pairs(found) == [("1", "one"), ("2", "two")]


def test_a_result_by_position_is_not_replaced_by_a_later_one_with_an_id() -> None:
    assert pairs(messages(HELLO, asked("1"), ToolResult(("one",)), ToolResult(("again",), ("1",)))) == [("1", "one")]


def test_a_result_without_words_says_so() -> None:
    assert pairs(messages(HELLO, asked("1", "2"), ToolResult(("", " \n"))))[1] == ("2", "(no output)")


def test_ids_that_a_model_used_again_are_told_apart() -> None:
    results = ToolResult(("a", "b"), ("0", "0"))
    found = messages(HELLO, asked("0", "0"), results, asked("0"), ToolResult(("c",), ("0",)))
    assert pairs(found) == [("0", "a"), ("0_2", "b"), ("0_3", "c")]


def test_a_call_that_no_provider_would_take_back_is_made_readable() -> None:
    call = ToolCall((Call("", "functions.look up", '{"x": '),))
    assert messages(HELLO, call)[1]["tool_calls"] == [
        {
            "id": "call",
            "type": "function",
            "function": {"name": "functions_look_up", "arguments": '{"unreadable": "{\\"x\\": "}'},
        }
    ]


# Any tape at all

texts = st.text(st.characters(exclude_categories=()), max_size=8) | st.sampled_from(["", " ", "hi", "\ud800", "{}"])
ids = st.sampled_from(["", " ", "a", "b", "c", "a_2"])
jsons: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
parts = st.fixed_dictionaries({"type": st.sampled_from(["text", "image_url", "odd"]), "text": texts}) | jsons
maps: st.SearchStrategy[JsonMap] = st.dictionaries(
    st.sampled_from(["name", "tool_calls", "tool_call_id", "role", "content", "extra"]), jsons, max_size=3
)
made_calls = st.builds(Call, ids, st.sampled_from(["look", "", "a b", "x" * 80]), texts | st.just('{"a": 1}'))
facts: st.SearchStrategy[Fact] = st.one_of(
    st.builds(
        Message,
        st.sampled_from(["user", "assistant", "system", "developer", "tool", "function", ""]),
        texts | st.lists(parts, max_size=3) | jsons,
        maps,
    ),
    st.builds(ToolCall, st.lists(made_calls, max_size=3).map(tuple), texts),
    st.builds(ToolResult, st.lists(jsons, max_size=4).map(tuple), st.lists(ids, max_size=4).map(tuple)),
    st.builds(Anchor, texts, maps),
    st.builds(System, texts),
    st.builds(Event, texts),
    st.builds(Error, texts, texts),
)


@st.composite
def exchanges(draw: st.DrawFn) -> list[Fact]:
    """A step and its results, some of them missing or in another order."""
    step = ToolCall(tuple(draw(st.lists(made_calls, min_size=1, max_size=3))), draw(texts))
    found = draw(st.permutations([call.id for call in step.calls]))[: draw(st.integers(0, 3))]
    results = tuple(draw(jsons) for _ in found)
    between = draw(st.lists(facts, max_size=1))
    return [step, *between, ToolResult(results, tuple(found) if draw(st.booleans()) else ())]


tapes: st.SearchStrategy[list[Draft]] = st.lists(facts.map(lambda fact: [fact]) | exchanges(), max_size=8).flatmap(
    lambda groups: st.tuples(
        *(
            st.builds(Draft, st.just(f), st.just(NOW), st.builds(Meta, context=st.sampled_from([True, True, False])))
            for group in groups
            for f in group
        )
    ).map(list)
)


def complain(found: Sequence[JsonMap]) -> str | None:
    """What a strict provider would say, if anything."""
    waiting: list[Json] = []
    used: set[str] = set()
    for place, message in enumerate(found):
        json.dumps(dict(message), ensure_ascii=False, allow_nan=False).encode()  # raises for half characters
        match message:
            case {"role": "tool", "tool_call_id": i, "content": str(text)} if waiting and waiting[0] == i:
                waiting.pop(0)
                blank = not text.strip()
            case _ if waiting:
                return f"{place}: calls {waiting} have no results"
            case {"role": "assistant", "content": str(), "tool_calls": [_, *_] as made}:
                for call in made if isinstance(made, list) else []:
                    match call:
                        case {"id": str(i), "type": "function", "function": {"name": str(name), "arguments": str(a)}}:
                            if not i.strip() or i in used or not NAME.fullmatch(name):
                                return f"{place}: bad call {call}"
                            if not isinstance(json.loads(a), dict):
                                return f"{place}: bad arguments {a}"
                            used.add(i)
                            waiting.append(i)
                        case _:
                            return f"{place}: not a call {call}"
                blank = False
            case {"role": "user" | "assistant", "content": str(text)}:
                blank = not text.strip()
            case {"role": "user" | "assistant", "content": [_, *_] as many} if isinstance(many, list):
                blank = any(isinstance(p, dict) and p["type"] == "text" and not str(p["text"]).strip() for p in many)
            case _:
                return f"{place}: not a message {message}"
        if blank:
            return f"{place}: blank"
    if waiting:
        return "the last calls have no results"
    return None if not found or found[0]["role"] == "user" else "opens with the assistant"


@unhurried
@given(tapes)
def test_every_tape_gives_a_view_that_a_strict_provider_takes(tape: list[Draft]) -> None:
    """P10."""
    assert complain(default_view(tape).messages) is None


@unhurried
@given(tapes)
def test_no_words_and_no_calls_of_the_tape_are_lost(tape: list[Draft]) -> None:
    shown = json.dumps([dict(m) for m in default_view(tape).messages], ensure_ascii=False)
    kept = [d.fact for d in tape if d.meta.context]
    assert sum(len(f.calls) for f in kept if isinstance(f, ToolCall)) == shown.count('"type": "function"')
    for fact in kept:
        match fact:
            case Message("user" | "assistant", str(text)) if text.strip() and text.isalnum() and text.isascii():
                assert text in shown


@unhurried
@given(tapes, tapes)
def test_the_view_of_a_longer_tape_begins_as_the_shorter_one_did(tape: list[Draft], more: list[Draft]) -> None:
    # Prompt caches live by it. A result that comes later may only fill the place that was held for it.
    short, long = default_view(tape), default_view([*tape, *(d for d in more if not isinstance(d.fact, ToolResult))])
    if short.messages:
        assert long.messages[: len(short.messages)] == short.messages


@pytest.mark.parametrize(
    "bad",
    [
        [{"role": "assistant", "content": "first"}],
        [{"role": "user", "content": " "}],
        [{"role": "user", "content": "x"}, {"role": "tool", "tool_call_id": "1", "content": "stray"}],
    ],
)
def test_the_strict_provider_of_this_file_does_complain(bad: list[JsonMap]) -> None:
    assert complain(bad)
