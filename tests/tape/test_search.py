"""Words are found wherever an entry has them, the best and newest first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.message import TurnId
from gateway.tape.entries import Anchor, Call, Entry, Error, Event, Fact, Message, Meta, ToolCall, ToolResult, Unknown
from gateway.tape.search import RECENT, search
from tests.tape.given import NOW
from tests.tape.strategies import any_text, entries


def tape(*facts: Fact) -> list[Entry]:
    return [Entry(number, fact, NOW) for number, fact in enumerate(facts, 1)]


def ids(entries: list[Entry], words: str, limit: int = 10) -> list[int]:
    return [hit.entry.id for hit in search(entries, words, limit=limit)]


@pytest.mark.parametrize(
    "fact",
    [
        Message("user", "where is the Eagle?"),
        Message("user", [{"type": "text", "text": "the eagle"}]),
        Anchor("phase/eagle"),
        Anchor("phase", {"summary": ["an eagle flew"]}),
        Anchor("phase", {"eagle": 1}),
        ToolCall((Call("c1", "find", '{"bird": "eagle"}'),)),
        ToolCall((Call("c1", "find_eagle", "{}"),)),
        ToolCall((Call("c1", "find", '{"bird": "\\u0065agle"}'),)),
        ToolCall((Call("c1", "find", "broken eagle"),)),
        ToolCall((), "let me look for the eagle"),
        ToolResult(({"found": ["an eagle"]},)),
        Event("note", {"about": "eagles"}),
        Error("tool", "the eagle is away"),
        Unknown("new kind", {"x": {"y": "eagle"}}),
    ],
)
def test_words_are_found_in_every_place(fact: Fact) -> None:
    assert ids(tape(Message("user", "nothing"), fact), "EAGLE") == [2]


def test_words_are_found_in_meta_before_anchors_and_outside_the_context() -> None:
    found = [
        Entry(1, Message("user", "x"), NOW, Meta(author="eagle-7")),
        Entry(2, Message("user", "x"), NOW, Meta(more={"name": "Eagle"})),
        Entry(3, Message("user", "eagle"), NOW, Meta(context=False)),
        *[Entry(4, Anchor("phase"), NOW)],
    ]

    assert ids(found, "eagle") == [3, 2, 1]


def test_exact_words_come_first_then_all_of_them_then_nearly_these_each_newest_first() -> None:
    entries = tape(
        Message("user", "blue whale song"),
        Message("user", "the song of a whale, blue"),
        Message("user", "blu whalesong, whale"),
        Message("user", "Blue  whale blue whale song"),
        Message("user", "blue whael song"),
        Message("user", "nothing of the kind"),
    )

    assert ids(entries, "blue whale song") == [4, 1, 2, 5, 3]
    assert ids(entries, "blue whale song", limit=2) == [4, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("今天的重点是预算", "重点"),
        ("明日の会議は東京で", "会議"),
        ("ＡＢＣ全角", "abc"),
        ("STRASSE", "straße"),
        ("ひらがな", "ら"),
    ],
)
def test_words_are_found_in_any_language(text: str, words: str) -> None:
    assert ids(tape(Message("user", text), Message("user", "other")), words) == [1]


@pytest.mark.parametrize("name", ["turn", "delivery", "model.call", "loop.step", "loop.start", "run", "command"])
def test_events_that_repeat_words_are_passed_over(name: str) -> None:
    assert ids(tape(Event(name, {"text": "eagle"})), "eagle") == []


def test_kinds_can_be_chosen() -> None:
    entries = tape(Message("user", "eagle"), Anchor("eagle"))

    assert [hit.entry.id for hit in search(entries, "eagle", limit=9, kinds=("anchor",))] == [2]


def test_only_recent_entries_are_looked_through_for_nearly_these_words() -> None:
    entries = tape(Message("user", "an aegle"), *[Message("user", "other")] * RECENT)

    assert ids(entries, "eagle") == []
    assert ids(entries[:RECENT], "eagle") == [1]


def test_a_snippet_is_one_line_around_the_match() -> None:
    (hit,) = search(tape(Message("user", "a " * 200 + "the\nEagle\tflew" + " b" * 200)), "eagle", limit=1)

    assert "the Eagle flew" in hit.snippet
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")
    assert len(hit.snippet) < 200


@pytest.mark.parametrize("words", ["", " ", "\n\t"])
def test_no_words_find_nothing(words: str) -> None:
    assert search(tape(Message("user", "x")), words, limit=5) == []
    assert search(tape(Message("user", "x")), "x", limit=0) == []


@given(st.lists(entries, max_size=5), any_text | st.sampled_from(["\0", "\ud800", "[", "İ", "\\", "ﬁ"]))
def test_no_words_make_a_search_fail(tape_entries: list[Entry], words: str) -> None:
    odd = Entry(1, Message("user", words + "\0\ud800" + words), NOW, Meta(turn=TurnId("t")))

    found = search([*tape_entries, odd], words, limit=3)

    assert not words.strip() or found
