"""The message index says which turn answered a message, and what of its reply was shown."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.message import MessageId, Reply, TurnId
from gateway.tape.entries import Entry, Event, JsonMap, Meta
from gateway.tape.index import MessageIndex, closing, delivery
from gateway.tape.window import Recorded
from tests.tape.given import KEY, NOW, ROUTE
from tests.tape.strategies import entries

T1 = TurnId("m1")
REPLY = Reply(T1, KEY, ROUTE, "answer 重点", answers="7")
RECORD = Recorded(T1, (MessageId("m1"), MessageId("m2")), "finished", REPLY)


def index(*facts: Event) -> MessageIndex:
    return MessageIndex.of(Entry(number, fact, NOW) for number, fact in enumerate(facts, 1))


def test_a_record_comes_back_from_its_event() -> None:
    for record in (RECORD, Recorded(T1, (), "cancelled")):
        assert index(closing(record)).turns == {T1: record}


def test_each_message_of_a_turn_leads_to_it() -> None:
    found = index(closing(RECORD))

    assert found.find(MessageId("m1")) == found.find(MessageId("m2")) == RECORD
    assert found.find(MessageId("m3")) is None


def test_a_reply_is_owed_until_every_part_is_shown() -> None:
    receipts = [delivery(T1, part, 3, f"p{part}") for part in (0, 2, 2)]
    partly, wholly = index(closing(RECORD), *receipts), index(closing(RECORD), *receipts, delivery(T1, 1, 3, "p1"))

    assert partly.turns[T1].receipts == {0, 2}
    assert [*partly.owed()] == [REPLY]
    assert [*wholly.owed()] == []
    assert wholly.turns[T1].shown


def test_a_turn_without_a_reply_owes_nothing() -> None:
    assert [*index(closing(Recorded(T1, (MessageId("m1"),), "cancelled"))).owed()] == []


def test_a_receipt_of_an_unknown_turn_changes_nothing() -> None:
    assert index(delivery(T1, 0, 1, "p")) == MessageIndex()


def test_events_of_other_programs_change_nothing() -> None:
    odd: tuple[JsonMap, ...] = ({}, {"turn": 1}, {"turn": "m1", "messages": "m1", "outcome": "x", "reply": None})

    assert index(*(Event("turn", data) for data in odd)) == MessageIndex()


def test_a_damaged_reply_keeps_the_turn() -> None:
    event = closing(RECORD)
    found = index(Event("turn", {**event.data, "reply": {"turn": "m1", "session": "?", "route": "", "text": ""}}))

    assert found.find(MessageId("m1")) == Recorded(T1, RECORD.messages, "finished")


@given(st.lists(entries))
def test_no_entry_makes_it_fail(some: list[Entry]) -> None:
    MessageIndex.of([*some, Entry(1, Event("turn", {"turn": "t"}), NOW, Meta())])
