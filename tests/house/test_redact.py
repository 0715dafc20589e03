"""Secrets reach no log, tape, chat or traceback (DESIGN section 5): the one redactor."""

import base64
import json
import re
import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.redact import Redactor

BOT = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0"


@pytest.mark.parametrize("secret", ["hunter22", "p@ss/w:rd +1", 'quo"te\\d', "пароль-123", "line\nbreak", 'паро"ль'])
@pytest.mark.parametrize(
    "spell",
    [
        str,
        quote,
        lambda secret: quote(secret, safe=""),
        lambda secret: re.sub("%..", lambda match: match[0].lower(), quote(secret, safe="")),
        quote_plus,
        lambda secret: json.dumps(secret)[1:-1],
        lambda secret: json.dumps(secret, ensure_ascii=False)[1:-1],
        lambda secret: repr(secret)[1:-1],
        lambda secret: base64.b64encode(secret.encode()).decode(),
        lambda secret: base64.urlsafe_b64encode(secret.encode()).decode().rstrip("="),
    ],
)
def test_a_given_secret_is_found_in_every_spelling(secret: str, spell: object) -> None:
    assert callable(spell)
    found = Redactor([secret]).redact(f"before{spell(secret)}after")
    assert found.rstrip("=").replace("=", "") == "before[redacted]after"


@settings(deadline=None)
@given(st.text(min_size=6), st.text(), st.text())
def test_no_given_secret_is_left_whatever_stands_around_it(secret: str, before: str, after: str) -> None:
    """P14."""
    text = Redactor([secret]).redact(before + secret + after)
    assert secret not in text.replace("[redacted]", "\0") or secret in "[redacted]"


@settings(deadline=None)
@given(st.text(), st.lists(st.text(min_size=6)))
def test_redacting_again_changes_nothing(text: str, secrets: list[str]) -> None:
    redactor = Redactor([secret for secret in secrets if secret not in "[redacted]"])
    once = redactor.redact(text)
    assert redactor.redact(once) == once


def test_a_short_secret_tears_no_holes_into_words() -> None:
    assert Redactor(["token", ""]).redact("a token is a token") == "a token is a token"


def test_of_two_secrets_the_longer_one_goes_first() -> None:
    assert Redactor(["secret", "secret-and-more"]).redact("secret-and-more") == "[redacted]"


def test_a_given_secret_goes_whole_where_a_shape_would_end_in_its_middle() -> None:
    assert "rest" not in Redactor(["sk-abcdefghijkl$rest"]).redact("key sk-abcdefghijkl$rest")


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"POST https://api.telegram.org/bot{BOT}/getMe", "POST https://api.telegram.org/bot[redacted]/getMe"),
        ("http://127.0.0.1:8081/file/bot42:TEST/a.jpg", "http://127.0.0.1:8081/file/bot[redacted]/a.jpg"),
        ("/bot42%3ATEST/getMe", "/bot[redacted]/getMe"),
        (f"the token is {BOT}.", "the token is [redacted]."),
        (f"токен{BOT}", "токен[redacted]"),
        ("redis://:s3cret@host:6379/0", "redis://[redacted]@host:6379/0"),
        ("postgresql://ann:s3cr@t@db/x?y=1", "postgresql://[redacted]@db/x?y=1"),
        ("Authorization: Bearer abc", "Authorization: Bearer [redacted]"),
        ("{'authorization': 'Basic dXNlcjpwYXNz'}", "{'authorization': 'Basic [redacted]'}"),
        (r"{\"Authorization\": \"Bot a.b-c\"}", r"{\"Authorization\": \"Bot [redacted]\"}"),
        ("(b'Authorization', b'Bearer abc')", "(b'Authorization', b'Bearer [redacted]')"),
        ("sent bearer abcdefghijklmnop1", "sent bearer [redacted]"),
        ("Incorrect API key provided: sk-proj-abc_def-123.", "Incorrect API key provided: [redacted]."),
        (r"b'\nsk-abcdefgh'", r"b'\n[redacted]'"),
        (r"'\u4e2dsk-abcdefgh' '\x1bsk-abcdefgh'", r"'\u4e2d[redacted]' '\x1b[redacted]'"),
        ("密钥sk-abcdefgh", "密钥[redacted]"),
        ("xoxb-1234567890-abc xoxe.xoxp-1-Mi0yLTEyMw", "[redacted] [redacted]"),
        ("xapp-1-A012-345-abc", "[redacted]"),
    ],
)
def test_a_secret_of_a_known_shape_goes_without_being_given(text: str, clean: str) -> None:
    assert Redactor().redact(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "a task-oriented-approach and a disk-formatting-tool",
        "see http://localhost:8080/a and mail ann@example.org, or https://example.org/@ann",
        "the bearer of-this-letter-is-somebody at 12:30:59",
        "/bottles/12:30",
        "authorization is required: ask",
        "telegram:-1001234567890:42",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert Redactor(["hunter22"]).redact(text) == text


def test_nested_values_are_redacted_keys_too() -> None:
    value = {"a": ["x hunter22", ("hunter22", {"hunter22"})], "hunter22": {1: None, "b": [True, 2, 3.5]}}
    assert Redactor(["hunter22"]).redact_values(value) == {
        "a": ["x [redacted]", ["[redacted]", ["[redacted]"]]],
        "[redacted]": {"1": None, "b": [True, 2, 3.5]},
    }


def test_what_is_not_plain_is_kept_as_its_redacted_repr() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    circle: list[object] = []
    circle.append(circle)
    redactor = Redactor(["hunter22"])
    assert redactor.redact_values(b"x hunter22") == "b'x [redacted]'"
    assert redactor.redact_values(ValueError("hunter22")) == "ValueError('[redacted]')"
    assert redactor.redact_values(Odd()) == "<Odd>"
    assert "[...]" in json.dumps(redactor.redact_values(circle))
    wheel: dict[str, object] = {}
    wheel["wheel"] = wheel
    assert "{...}" in json.dumps(redactor.redact_values(wheel))


@pytest.mark.parametrize(
    "piece", ["1", "12345:", "://a:", ":", "bearer ", "authorization: ", "sk-", "xoxb-", "/bot1", "@", "\\", "a"]
)
def test_no_text_takes_long(piece: str) -> None:
    text = "://: sk- bearer authorization: " + piece * (300_000 // len(piece))
    before = time.process_time()
    Redactor(["hunter22"]).redact(text)
    assert time.process_time() - before < 2  # a quadratic search takes minutes
