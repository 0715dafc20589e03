"""A journal comes back as it was written, and an attempt takes over what it may."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import Broken, TapeMoved
from gateway.message import MessageId, TurnId
from gateway.tape.fork import Op, Returned, Said
from gateway.tape.index import MessageIndex
from gateway.tape.journal import Journal, begin, decode_journal, decode_op, encode_op
from gateway.tape.window import Recorded, Window
from tests.tape.given import NOW, called, message, returned, said
from tests.tape.strategies import any_text, ops


@given(ops)
def test_an_operation_comes_back_as_it_was(op: Op) -> None:
    line = encode_op(op)

    assert line.count(b"\n") == 1
    assert decode_op(line) == op


@given(any_text)
def test_no_text_makes_journaling_fail(text: str) -> None:
    for op in (Said(text, NOW), Returned(text, {text: text}, NOW)):
        assert encode_op(decode_op(encode_op(op))) == encode_op(op)


@given(st.lists(ops, max_size=4), st.integers(0, 9))
def test_a_journal_comes_back_as_it_was(done: list[Op], generation: int) -> None:
    journal = Journal(TurnId("m1"), 3, (message("m1", "a\n\u2028"), message("m2")), generation, tuple(done))

    assert decode_journal(journal.encode()) == journal


def test_a_line_that_cannot_be_read_ends_a_journal() -> None:
    head = Journal(TurnId("m1"), 1, (message("m1"),), 0, (called("c1"),)).encode()

    found = decode_journal(head + b"\0\0\n" + encode_op(said()))

    assert found is not None
    assert found.ops == (called("c1"),)


@pytest.mark.parametrize("data", [b"", b"\n", b'{"turn": "m1"}\n', b'{"turn": "m1", "attempt": 1, "mess', b"\0\0\n"])
def test_a_journal_without_a_first_line_is_none(data: bytes) -> None:
    assert decode_journal(data) is None


@pytest.mark.parametrize("line", [b"", b"{}", b'{"op": "say", "text": "x"}', b'{"op": "x", "date": "2026-12-01"}'])
def test_what_is_no_operation_is_broken(line: bytes) -> None:
    with pytest.raises(Broken):
        decode_op(line)


def recorded(*names: str) -> MessageIndex:
    index = MessageIndex()
    for name in names:
        index.turns[TurnId(name)] = Recorded(TurnId(name), (MessageId(name),), "finished")
        index.messages[MessageId(name)] = TurnId(name)
    return index


DONE = (called("c1"), returned("c1"), said())
EARLIER = Journal(TurnId("m1"), 4, (message("m1"), message("m2")), 7, DONE)


@pytest.mark.parametrize(
    ("index", "window", "expected"),
    [
        (recorded(), Window("t", 9, 7), DONE),
        (recorded("m3"), Window("t", 99, 7), DONE),
        (recorded("m2"), Window("t", 9, 7), DONE[:2]),
        (recorded(), Window("t", 99, 70), DONE[:2]),
    ],
)
def test_a_final_text_is_taken_over_for_the_same_messages_on_the_same_tape(
    index: MessageIndex, window: Window, expected: tuple[Op, ...]
) -> None:
    assert begin([message("m1")], EARLIER, index, window, 5).ops == expected


@pytest.mark.parametrize(("version", "kept"), [(0, 3), (4, 2)])
def test_facts_from_the_side_may_open_the_tape_that_a_text_was_written_for(version: int, kept: int) -> None:
    earlier = Journal(TurnId("m1"), 1, (message("m1"),), 0, DONE)

    assert len(begin([message("m1")], earlier, recorded(), Window("t", version, 1), 2).ops) == kept


def test_a_recorded_turn_is_not_begun_again() -> None:
    with pytest.raises(TapeMoved):
        begin([message("m1")], None, recorded("m1"), Window("t"), 1)
