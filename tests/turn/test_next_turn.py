"""Which messages are answered together."""

from dataclasses import replace

from gateway.message import Author, IncomingMessage, MessageId, Route
from gateway.tape.entries import Entry
from gateway.tape.index import MessageIndex, closing
from gateway.tape.window import Recorded
from gateway.turn.turn import TOGETHER, next_turn
from tests.support.clock import ManualClock
from tests.support.world import KEY, ROUTE

NOTHING = MessageIndex()


def message(number, text="words", author="ann", route=ROUTE):
    """One message that waits."""

    now = ManualClock().now()
    return IncomingMessage(MessageId(f"chat/bot/{number:03}"), KEY, route, Author(author, author), text, now, now)


def ids(found):
    return [m.id[-3:] for m in found.messages]


def test_adjacent_plain_messages_of_one_author_are_one_turn():
    assert ids(next_turn([message(1), message(2), message(3)], frozenset(), NOTHING)) == ["001", "002", "003"]


def test_another_author_another_route_and_a_command_begin_the_next_turn():
    elsewhere = Route("chat", "bot", "room", "topic")
    for other in (message(2, author="bob"), message(2, route=elsewhere), message(2, "/help")):
        assert ids(next_turn([message(1), other, message(3)], frozenset(), NOTHING)) == ["001"]


def test_a_command_stands_alone():
    assert ids(next_turn([message(1, "/help"), message(2)], frozenset(), NOTHING)) == ["001"]


def test_cancelled_messages_are_not_answered_with_others():
    waiting = [message(1), message(2), message(3)]

    assert ids(next_turn(waiting, frozenset({"chat/bot/001"}), NOTHING)) == ["001"]
    assert ids(next_turn(waiting, frozenset({"chat/bot/002"}), NOTHING)) == ["001"]
    assert ids(next_turn(waiting, frozenset({"chat/bot/001", "chat/bot/002"}), NOTHING)) == ["001", "002"]


def test_a_turn_is_bounded():
    assert len(next_turn([message(n) for n in range(99)], frozenset(), NOTHING).messages) == TOGETHER


def test_a_recorded_message_is_settled_by_its_record_and_never_answered_again():
    """P4"""
    first = message(1)
    record = Recorded(first.turn, (first.id,), "finished")
    index = MessageIndex.of([Entry(1, closing(record), first.received_at)])

    assert next_turn([first, message(2)], frozenset(), index) == record
    assert ids(next_turn([replace(message(0)), first], frozenset(), index)) == ["000"]
