"""What is a command, and what is not."""

import pytest

from gateway.turn.commands import handler, parse, unknown


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("/reset", "reset", ""),
        ("/reset\nplease", "reset", "please"),
        (" /RESET", "reset", ""),
        ("/handoff phase-2 note of mine", "handoff", "phase-2 note of mine"),
        ("\uff0fstop", "stop", ""),
        ("/search 北京", "search", "北京"),
    ],
)
def test_a_slash_and_a_name_at_the_start_are_a_command(text, name, rest):
    """C101"""
    found = parse(text)

    assert found is not None
    assert (found.name, found.rest) == (name, rest)


@pytest.mark.parametrize(
    "text", ["`/reset`", "please /reset", "/etc/hosts is what?", "//reset", "/", "/ reset", "/1st", "", "\u202e/reset"]
)
def test_code_paths_and_a_slash_in_mid_sentence_are_none(text):
    """C101"""
    assert parse(text) is None


def test_an_unknown_command_names_the_nearest_known_one():
    command = parse("/rest")

    assert command is not None
    assert handler(command) is None
    assert unknown(command) == "I know no command /rest. Did you mean /reset?"


def test_start_is_answered_as_help():
    command = parse("/start")

    assert command is not None
    found = handler(command)
    assert found is not None
    assert found.name == "help"
