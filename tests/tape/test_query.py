"""A query against the plainest reading of what it says."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import Refused
from gateway.tape.codec import kind_of
from gateway.tape.entries import Anchor, Entry, Event, Message, Meta
from gateway.tape.query import Query
from tests.tape.given import NOW, later

names = st.sampled_from(["a", "b", "c"])
some_facts = st.one_of(
    st.builds(Message, st.just("user"), st.sampled_from(["one", "two words", "重点 one"])),
    st.builds(Anchor, names),
    st.builds(Event, st.just("note"), st.just({"why": "one"})),
)
dates = st.integers(0, 5).map(lambda hours: later(hours=hours))
tapes = st.lists(
    st.builds(Entry, st.just(0), some_facts, dates, st.builds(Meta, context=st.booleans())), max_size=12
).map(lambda entries: [Entry(n, e.fact, e.date, e.meta) for n, e in enumerate(entries, 1)])
stretches = st.one_of(st.none(), st.just(()), names.map(lambda name: (name,)), st.tuples(names, names))


def query(stretch: tuple[str, ...] | None) -> Query:
    match stretch:
        case None:
            return Query("t")
        case ():
            return Query("t").last_anchor()
        case (name,):
            return Query("t").after_anchor(name)
        case (first, last):
            return Query("t").between_anchors(first, last)
    raise AssertionError(stretch)


def naive_stretch(tape: list[Entry], stretch: tuple[str, ...] | None) -> list[Entry] | None:
    """None for a missing anchor."""

    def is_anchor(entry: Entry, name: str | None = None) -> bool:
        return isinstance(entry.fact, Anchor) and name in (None, entry.fact.name)

    if stretch is None:
        return tape
    if len(stretch) < 2:
        name = stretch[0] if stretch else None
        for start in range(len(tape) - 1, -1, -1):
            if is_anchor(tape[start], name):
                return tape[start + 1 :]
        return None
    for start in range(len(tape) - 1, -1, -1):
        if is_anchor(tape[start], stretch[0]):
            for end in range(start + 1, len(tape)):
                if is_anchor(tape[end], stretch[1]):
                    return tape[start + 1 : end]
    return None


@given(
    tapes,
    stretches,
    st.sets(st.sampled_from(["message", "anchor", "event"])),
    st.tuples(st.none() | dates, st.none() | dates),
    st.sampled_from(["", "ONE", "重点", "why", "nothing"]),
    st.booleans(),
    st.none() | st.integers(0, 4),
)
def test_a_query_says_what_the_plain_reading_says(
    tape: list[Entry],
    stretch: tuple[str, ...] | None,
    kinds: set[str],
    between: tuple[datetime | None, datetime | None],
    words: str,
    backward: bool,
    limit: int | None,
) -> None:
    asked = query(stretch).kinds(*kinds).between_dates(*between).text(words)
    asked = asked.reverse() if backward else asked
    asked = asked if limit is None else asked.limit(limit)
    expected = naive_stretch(tape, stretch)
    if expected is None:
        with pytest.raises(Refused):
            asked.select(tape)
        return
    said = {"one": "one", "two words": "", "重点 one": "one 重点"}

    def says(entry: Entry) -> bool:
        match entry.fact:
            case Message(_, str(content)):
                return words.lower() in said[content].split() or not words
            case Event():
                return words in ("", "ONE", "why")
        return not words

    expected = [e for e in expected if not kinds or kind_of(e.fact) in kinds]
    expected = [e for e in expected if (between[0] or e.date) <= e.date <= (between[1] or e.date)]
    expected = [e for e in expected if says(e)]
    expected = expected[::-1] if backward else expected
    assert asked.select(tape) == expected[:limit]


def test_a_query_is_never_changed_and_the_order_of_its_calls_does_not_matter() -> None:
    start = Query("t")
    one = start.kinds("message").limit(3).after_anchor("a").reverse()
    other = start.reverse().after_anchor("a").limit(3).kinds("message")

    assert one == other
    assert start == Query("t")
    assert one.reverse() != one
    assert one.reverse().reverse() == one


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Query("t").after_anchor("nowhere"), "nowhere"),
        (Query("t").between_anchors("nowhere", "a"), "nowhere"),
        (Query("t").between_anchors("a", "nowhere"), "nowhere"),
        (Query("t").between_anchors("b", "a"), "'a' after 'b'"),
    ],
)
def test_a_missing_anchor_is_named(asked: Query, said: str) -> None:
    tape = [Entry(1, Anchor("a"), NOW), Entry(2, Anchor("b"), NOW)]

    with pytest.raises(Refused, match=said):
        asked.select(tape)
    with pytest.raises(Refused, match="no anchor"):
        Query("t").last_anchor().select([])


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(Refused):
        Query("t").limit(-1)


def test_a_date_without_a_zone_is_utc() -> None:
    tape = [Entry(1, Message("user", "x"), NOW)]

    assert Query("t").between_dates(NOW.replace(tzinfo=None), NOW.replace(tzinfo=None)).select(tape) == tape
