"""Messages as rows: queues and journals outlive the release that wrote them."""

import json
from dataclasses import replace

import pytest

from gateway.errors import Broken
from gateway.message import IncomingMessage, Quote, clean
from tests.support.messages import message

SAID = replace(message(1), quotes=(Quote("Ben", "at six?"), Quote("Cid", "yes \u2028")), reply_to="7", private=True)


def test_a_message_is_read_back_from_its_row() -> None:
    assert IncomingMessage.from_row(SAID.to_row()) == SAID


def test_a_row_of_the_release_before_is_read() -> None:
    row = json.loads(SAID.to_row())
    del row["quotes"]
    assert IncomingMessage.from_row(json.dumps(row)) == replace(SAID, quotes=())


@pytest.mark.parametrize("row", ["", "[]", "{}", "null", '{"quotes": 1}'])
def test_anything_else_is_broken(row: str) -> None:
    with pytest.raises(Broken):
        IncomingMessage.from_row(row)


def test_odd_letters_are_made_whole_in_quotes_too() -> None:
    odd = replace(message(1), quotes=(Quote("B\ud800n", "a\0b"),))
    assert clean(odd).quotes == (Quote("B\ufffdn", "a\ufffdb"),)
