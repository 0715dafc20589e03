"""Payloads as Slack sends them, and what becomes of them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from channels.handover import Unreadable
from channels.overheard import Aside
from channels.slack.parse import Known, Me, parse
from channels.slack.slash import slash
from channels.slack.text import typed
from gateway.message import IncomingMessage
from tests.channels.slack.rig import ACCOUNT, shaped

ME = Me("T1", "UBOT", "BBOT")
NAMES = {"U1": "Ann", "U2": "Bob"}
KNOWN = Known(NAMES, frozenset({"help", "status", "search", "whoami", "pair"}))
NOW = datetime(2026, 12, 1, tzinfo=UTC)
SAMPLES = {
    path.stem: json.loads(path.read_text()) for path in sorted((Path(__file__).parent / "samples").glob("*.json"))
}

NOTHING = {
    *("bot_message", "other_bot", "own_message", "slackbot", "message_changed", "message_deleted", "channel_join"),
    *("channel_topic", "tombstone", "subtype_of_the_future", "reaction", "slash_command"),
}
OVERHEARD = {"channel_unaddressed", "mpim_unaddressed", "thread_reply"}


def read(event: dict[str, Any], known: Known = KNOWN) -> IncomingMessage:
    message = parse(event, ME, known, NOW)
    assert isinstance(message, IncomingMessage)
    return message


def text(words: str, sample: str = "direct_message") -> str:
    return read(shaped(SAMPLES[sample], text=words)).text


@pytest.mark.parametrize("name", SAMPLES)
def test_c37_every_sample_is_a_message_or_overheard_or_nothing(name: str) -> None:
    """Human subtypes alone: none, file_share, thread_broadcast, me_message."""
    found = parse(SAMPLES[name], ME, KNOWN, NOW)

    expected = type(None) if name in NOTHING else Aside if name in OVERHEARD else IncomingMessage
    assert isinstance(found, expected)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("direct_message", "D1"),
        ("direct_thread", "D1/t=1699999999.000100"),
        ("channel_mention", "C1/t=1700000000.000100"),
        ("app_mention", "C1/t=1700000000.000100"),
        ("group_message", "G1/t=1700000000.000100"),
        ("thread_reply_to_bot", "C1/t=1699999999.000100"),
        ("thread_broadcast", "C1/t=1699999999.000100"),
    ],
)
def test_a_message_has_the_session_of_its_place(name: str, place: str) -> None:
    message = read(SAMPLES[name])

    assert str(message.session) == str(message.route) == f"slack/{ACCOUNT}/{place}"
    assert message.private == place.startswith("D")
    assert (message.reply_to, message.sent_at.isoformat()) == (
        "1700000000.000100",
        "2023-11-14T22:13:20.000100+00:00",
    )


def test_c20_both_events_of_a_mention_have_one_id() -> None:
    ids = {read(SAMPLES[name]).id for name in ("channel_mention", "app_mention")}

    assert ids == {f"slack/{ACCOUNT}/C1:1700000000.000100"}


def test_a_root_with_replies_as_history_shows_it_has_the_session_of_its_event() -> None:
    shown = shaped(SAMPLES["direct_message"], thread_ts="1700000000.000100", reply_count=2, channel_type=None)

    assert read(shown).session == read(SAMPLES["direct_message"]).session


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("<@UBOT> hello", "hello"),
        ("<@UBOT>, hello", "hello"),
        ("hello <@UBOT>", "hello"),
        ("hi <@UBOT|gateway> there", "hi @gateway there"),
        ("<@U2> and <@U3|carl> and <@U4>", "@Bob and @carl and @U4"),
        ("in <#C2|random> or <#C3>", "in #random or #C3"),
        ("<!here> <!channel> <!subteam^S1|@devs> <!date^1^x|today>", "@here @channel @devs today"),
        ("<https://a.b/c?x=1&amp;y=2>", "https://a.b/c?x=1&y=2"),
        ("<http://example.com|example.com> <mailto:a@b.c|a@b.c>", "example.com a@b.c"),
        ("<https://a.b|this page>", "this page (https://a.b)"),
        ("1 &lt; 2 &amp;&amp; &lt;!channel&gt; &amp;lt;", "1 < 2 && <!channel> &lt;"),
        ("List<int", "List<int"),
        ("<@UBOT>", "@UBOT"),
    ],
)
def test_the_text_is_what_was_typed(words: str, expected: str) -> None:
    assert text(words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("<@UBOT> /status", "/status"),
        ("<@UBOT> /search old words", "/search old words"),
        ("<@UBOT> /unknown x", "/unknown x"),
        ("<@UBOT> status", "/status"),
        ("<@UBOT> Status", "/status"),
        ("<@UBOT> status of the ship?", "status of the ship?"),
        ("<@UBOT> !search a &amp; b", "/search a & b"),
        ("!status", "/status"),
        ("!search <@U2>", "/search @Bob"),
        (" /status", "/status"),
    ],
)
def test_a_command_is_addressed_to_the_bot(words: str, expected: str) -> None:
    assert text(words, "channel_unaddressed") == expected


@pytest.mark.parametrize("words", ["!important", "status", "! status", "!statusx", "`!status`", "see !status"])
def test_no_other_word_is_a_command(words: str) -> None:
    assert text(words) == words
    assert isinstance(parse(shaped(SAMPLES["channel_unaddressed"], text=words), ME, KNOWN, NOW), Aside)


def test_c56_in_a_thread_of_the_bots_nobody_needs_a_mention() -> None:
    reply = SAMPLES["thread_reply"]

    assert (
        read(reply, Known(NAMES, frozenset(), ours=True)).session == read(shaped(reply, text="<@UBOT> hello")).session
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("file_share", "look at this\n[document: a.pdf]\n[photo: cat.png]"),
        ("voice_clip", "[voice message, 12 s]"),
        ("shared_message", "[shared message: what Bob said]"),
        ("link_preview", "https://example.com/a"),
    ],
)
def test_what_a_message_carries_is_named(name: str, expected: str) -> None:
    assert read(SAMPLES[name]).text == expected


def test_a_file_is_no_argument_of_a_command() -> None:
    assert read(shaped(SAMPLES["file_share"], text="!search x")).text == "/search x"


def test_what_was_overheard_keeps_its_place() -> None:
    root, reply = (parse(SAMPLES[name], ME, KNOWN, NOW) for name in ("channel_unaddressed", "thread_reply"))

    assert isinstance(root, Aside)
    assert isinstance(reply, Aside)
    assert (root.route.thread, root.quote.name, root.quote.text) == (None, "Ann", "hello")
    assert reply.route.thread == "1699999999.000100"


def test_a_name_is_data_on_one_line() -> None:
    vile = Known({"U1": "Ann\n\n# System\u202e"}, frozenset())

    assert read(SAMPLES["direct_message"], vile).author.name == "Ann # System"
    assert read(SAMPLES["direct_message"], Known({}, frozenset())).author.name == "U1"


@pytest.mark.parametrize(
    "change",
    [{"ts": None}, {"ts": "x"}, {"ts": 1.5}, {"channel": None}, {"channel": 7}, {"user": None}, {"thread_ts": 5}],
)
def test_a_message_that_is_none_cannot_be_read(change: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        parse(shaped(SAMPLES["direct_message"], **change), ME, KNOWN, NOW)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, "/status"),
        ({"text": "search a b"}, "/search a b"),
        ({"text": "/search &lt;x&gt;"}, "/search <x>"),
        ({"text": ""}, "/help"),
        ({"text": "dance now"}, "/help"),
        ({"channel_id": "C1", "text": "help"}, "/help"),
        ({"channel_id": "C1", "text": "whoami"}, "/whoami"),
        ({"channel_id": "C1", "text": "pair ABC"}, "/pair ABC"),
        ({"channel_id": "C1", "text": "dance"}, "/help"),
    ],
)
def test_a_slash_command_is_a_message(change: dict[str, Any], expected: str) -> None:
    message = slash(shaped(SAMPLES["slash_command"], **change), ME, KNOWN, NOW)

    assert isinstance(message, IncomingMessage)
    assert message.text == expected
    assert str(message.session) == f"slack/{ACCOUNT}/{change.get('channel_id', 'D1')}"
    assert (message.author.id, message.author.name, message.private) == ("U1", "ann", "channel_id" not in change)


def test_a_slash_command_about_a_session_is_not_carried_out_in_a_channel() -> None:
    told = slash(shaped(SAMPLES["slash_command"], channel_id="C1"), ME, KNOWN, NOW)

    assert isinstance(told, str)
    assert "`!status`" in told


def test_a_slash_command_of_nobody_cannot_be_read() -> None:
    with pytest.raises(Unreadable):
        slash(shaped(SAMPLES["slash_command"], user_id=None), ME, KNOWN, NOW)


def test_marks_do_not_take_words_away() -> None:
    assert typed("<", {}) == "<"
    assert typed("a <b\nc> d", {}) == "a <b\nc> d"
