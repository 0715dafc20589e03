import json
from datetime import UTC, datetime

import pytest

from channels.web.parse import parse, session
from gateway.errors import Refused
from gateway.message import Author, Route, SessionKey

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)


def body(**fields: object) -> bytes:
    return json.dumps({"chat": "main", "id": "c0ffee", "text": "hello", **fields}).encode()


def test_a_posted_message_is_the_owner_s_in_a_session_of_their_own() -> None:
    message = parse(body(), NOW)

    assert message.id == "web/local/main:c0ffee"
    assert message.session == SessionKey("web", "local", "main")
    assert message.route == Route("web", "local", "main")
    assert message.author == Author("web:owner", "You")
    assert (message.text, message.private, message.received_at) == ("hello", True, NOW)


def test_the_same_post_again_is_the_same_message() -> None:
    assert parse(body(), NOW).id == parse(body(), NOW).id


def test_each_chat_is_a_session() -> None:
    assert parse(body(chat="work"), NOW).session != parse(body(), NOW).session


def test_words_keep_every_space_and_line_break() -> None:
    assert parse(body(text="  a\n\n  b \n"), NOW).text == "  a\n\n  b \n"


def test_half_a_character_becomes_the_sign_for_one() -> None:
    assert parse(body(text="a\ud83d"), NOW).text == "a\ufffd"


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        body(text=5),
        body(id=""),
        body(id="a/b"),
        body(id="x" * 65),
        body(chat="../etc"),
        body(chat=""),
        body(text=" \n\t"),
    ],
)
def test_what_is_no_message_is_refused_with_a_sentence(broken: bytes) -> None:
    with pytest.raises(Refused, match=r"\.$"):
        parse(broken, NOW)


def test_a_chat_has_a_plain_name() -> None:
    assert session("Work_2-b").conversation == "Work_2-b"
    with pytest.raises(Refused):
        session("two words")
