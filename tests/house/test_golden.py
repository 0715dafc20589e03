"""What others rely on, compared to the letter: library names, the form on disk, the command line's help.

If a change is meant, edit the golden file by hand and say so in README's changes: tapes and scripts outlive releases.
"""

import importlib
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest

import gateway
from gateway.message import MessageId, Reply, Route, SessionKey, TurnId
from gateway.tape.codec import decode, encode, kind_of
from gateway.tape.entries import (
    Anchor,
    Call,
    Entry,
    Error,
    Event,
    Fact,
    Message,
    Meta,
    System,
    ToolCall,
    ToolResult,
    Unknown,
)
from gateway.tape.index import closing, delivery
from gateway.tape.window import Recorded
from tests.house.code import GOLDEN, REPOSITORY

DATE = datetime(2026, 11, 30, 22, 0, 0, 123456, UTC)
TURN = TurnId("web/local/main:1")
OF_THE_TURN = Meta(turn=TURN)
ASIDE = Meta(context=False)

COMMANDS = (
    (),
    ("init",),
    ("run",),
    ("chat",),
    ("doctor",),
    *(("tape", *more) for more in ((), ("list",), ("show",), ("search",), ("anchors",))),
    *(("access", *more) for more in ((), ("list",), ("approve",), ("revoke",))),
)


def facts() -> list[tuple[Fact, Meta]]:
    """One of each kind, as a turn with a tool writes them, then what stands beside the conversation."""
    said = Meta(TURN, "web:owner", MessageId(TURN), more={"name": "Ann 安"})
    call = Call("call_1", "clock_now", '{"timezone": "Asia/Tokyo"}')
    start = Meta(turn=TURN, more={"session": "web/local/main", "settings": {}})
    answer = Reply(TURN, SessionKey("web", "local", "main"), Route("web", "local", "main"), "It is **seven**.")
    return [
        (Anchor("session/start", {"owner": "human"}), start),
        (Event("handoff", {"name": "session/start", "state": {"owner": "human"}}), start),
        (Message("user", "What time is it? \u2028 🕖"), said),
        (System("You are a helpful assistant."), replace(OF_THE_TURN, context=False)),
        (ToolCall((call,), "Let me see."), OF_THE_TURN),
        (ToolResult(({"time": "2026-12-01T07:00:00+09:00"},), ("call_1",)), OF_THE_TURN),
        (Error("temporary", "the provider was busy"), OF_THE_TURN),
        (Message("assistant", "It is **seven**."), OF_THE_TURN),
        (closing(Recorded(TURN, (MessageId(TURN),), "finished", answer)), OF_THE_TURN),
        (delivery(TURN, 0, 1, "42"), ASIDE),
        (Unknown("of_the_future", {"kept": ["as", 1, "t", None]}), Meta()),
    ]


def test_the_names_for_library_users_are_those_of_the_golden_file() -> None:
    assert gateway.__all__ == (GOLDEN / "names.txt").read_text().splitlines()


def test_every_name_for_library_users_is_found_and_says_what_it_is() -> None:
    for name in gateway.__all__:
        found = getattr(gateway, name)

        assert found.__name__ == name
        assert found.__doc__, name
        assert getattr(importlib.import_module(found.__module__), name) is found
        assert name in dir(gateway)


def test_a_name_that_nobody_offers_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        _ = gateway.Nobody  # type: ignore[attr-defined]


def test_entries_are_written_as_in_the_golden_file() -> None:
    """Every kind. Another release, and other programs, read these lines."""
    entries = [Entry(number, fact, DATE, meta) for number, (fact, meta) in enumerate(facts(), start=1)]
    lines = b"".join(encode(entry) for entry in entries)

    assert lines.decode() == (GOLDEN / "tape.jsonl").read_text()
    kinds = {"message", "system", "tool_call", "tool_result", "anchor", "event", "error"}
    assert {kind_of(entry.fact) for entry in entries} >= kinds
    assert [decode(line) for line in lines.split(b"\n")[:-1]] == entries


def test_the_help_of_every_command_is_that_of_the_golden_file() -> None:
    """At 80 columns, as Python 3.11 lays it out."""
    shown = ""
    for words in COMMANDS:
        asked = ["gateway", *words, "--help"]
        done = subprocess.run(
            [sys.executable, "-m", *asked],
            cwd=REPOSITORY,
            env={**os.environ, "COLUMNS": "80"},
            capture_output=True,
            text=True,
            check=True,
        )
        shown += f"$ {' '.join(asked)}\n{done.stdout}\n"

    assert shown == (GOLDEN / "help.txt").read_text()
