"""Signs of life: often enough, not too often, and never at the cost of a turn."""

import asyncio

import pytest

from gateway.message import TurnId
from gateway.redact import Redactor
from gateway.turn.progress import PREVIEW_EVERY, Progress, ripened
from tests.support.clock import ManualClock
from tests.support.world import ROUTE, Chat

TURN = TurnId("t1")


class Lively(Chat):
    """Shows typing and previews, and fails when it is told to."""

    typing_every = 8.0

    def __init__(self, fault=None):
        super().__init__()
        self.typed, self.previews, self.fault = 0, [], fault

    async def typing(self, route):
        self.typed += 1
        if self.fault:
            raise self.fault

    async def preview(self, route, turn, text):
        self.previews.append(text)
        if self.fault:
            raise self.fault


def progress(channel, *secrets):
    clock = ManualClock()
    return Progress(lambda _route: channel, clock, Redactor(secrets).redact), clock


async def few_turns():
    for _ in range(10):
        await asyncio.sleep(0)


async def test_typing_is_shown_at_once_and_again_while_the_turn_runs():
    chat = Lively()
    shows, clock = progress(chat)
    async with shows.shown(ROUTE, TURN):
        await few_turns()
        assert chat.typed == 1
        await clock.pass_by(Lively.typing_every * 3)
        assert chat.typed == 4
    await clock.pass_by(Lively.typing_every * 3)
    assert chat.typed == 4


async def test_previews_are_few_and_the_last_word_is_not_shown_yet():
    chat = Lively()
    shows, clock = progress(chat)
    async with shows.shown(ROUTE, TURN) as heard:
        for end in range(1, 12):
            heard("one two three"[:end])
            await few_turns()
        assert chat.previews == ["one"]
        await clock.pass_by(PREVIEW_EVERY, step=PREVIEW_EVERY)
        assert chat.previews == ["one", "one two"]


async def test_no_preview_shows_the_beginning_of_a_secret():
    """P14: half a key is not known as one."""
    chat = Lively()
    shows, clock = progress(chat, "hunter2-hunter2")
    text = "it is hunter2-hunter2 I think"
    async with shows.shown(ROUTE, TURN) as heard:
        for end in range(1, len(text) + 1):
            heard(text[:end])
            await clock.pass_by(1)

    assert "hunter" not in repr(chat.previews)
    assert chat.previews[-1] == "it is [redacted] I"


@pytest.mark.parametrize(
    ("text", "shown"), [("", ""), ("word", ""), ("two words", "two"), ("日本語の文", "日本語の文"), ("鍵 sk-abc", "鍵")]
)
def test_a_growing_text_is_shown_up_to_its_last_word(text, shown):
    assert ripened(text) == shown


async def test_a_channel_that_cannot_show_does_not_harm_the_turn_and_leaves_no_task():
    chat = Lively(ValueError("a fault of the channel"))
    shows, _ = progress(chat)
    before = asyncio.all_tasks()
    async with shows.shown(ROUTE, TURN) as heard:
        heard("some words")
        await few_turns()

    assert (chat.typed, chat.previews) == (1, ["some"])
    assert asyncio.all_tasks() == before


async def test_a_turn_that_fails_leaves_no_task():
    shows, _ = progress(Lively())
    before = asyncio.all_tasks()
    with pytest.raises(KeyError):
        async with shows.shown(ROUTE, TURN):
            raise KeyError

    assert asyncio.all_tasks() == before


async def test_a_route_without_a_channel_here_shows_nothing():
    shows, _ = progress(None)
    async with shows.shown(ROUTE, TURN) as heard:
        heard("words")
