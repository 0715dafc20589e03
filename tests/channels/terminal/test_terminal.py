"""The terminal as a person and as a pipe meet it: real ends of pipes and terminals, in this process."""

import asyncio
import io
import os
import pty
import tty
from contextlib import contextmanager, suppress

import pytest

from channels.terminal.adapter import ERASE, PROMPT, TerminalChannel
from channels.terminal.parse import message
from channels.terminal.render import render
from gateway.channel import Part
from gateway.errors import Refused, Retryable
from gateway.message import Reply, TurnId
from tests.support.clock import InstantClock, ManualClock


@contextmanager
def pipe():
    """The two ends of a pipe: a text to read from, and a function that writes bytes and one that closes."""
    reads, writes = os.pipe()
    closed = []

    def close():
        if not closed:
            closed.append(os.close(writes))

    with os.fdopen(reads, encoding="utf-8") as source:
        try:
            yield source, lambda data: os.write(writes, data), close
        finally:
            close()


class Screen(io.StringIO):
    """An output that a person sees."""

    def isatty(self):
        return True


class Heard:
    """Takes messages in, and owes an answer to each until it is given."""

    def __init__(self, *faults):
        self.texts, self.faults, self.open, self.asked = [], list(faults), 0, asyncio.Event()

    async def receive(self, incoming):
        if self.faults:
            raise self.faults.pop(0)
        self.texts.append(incoming.text)
        self.open += 1
        self.asked.set()

    async def owed(self):
        if self.faults:
            raise self.faults.pop(0)
        return self.open > 0


def reply(text="words"):
    key = message("x", conversation="main", unique="1", now=ManualClock().now())
    return Reply(TurnId("t1"), key.session, key.route, text)


async def read(data, *faults, clock=None):
    """What a pipe that holds these bytes says, and what is printed."""
    heard, out = Heard(*faults), io.StringIO()
    with pipe() as (source, write, close):
        channel = TerminalChannel("main", clock or InstantClock(), owed=heard.owed, lines=source, out=out)
        write(data)
        close()

        async def answer():
            while True:
                await heard.asked.wait()
                heard.asked.clear()
                heard.open -= 1

        answering = asyncio.create_task(answer())
        async with asyncio.timeout(20):
            await channel.run(heard.receive)
        answering.cancel()
    return heard.texts, out.getvalue()


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\r\n\r\n  \ntwo", ["one", "two"]),
        ("grüße \u2028 日本\n".encode(), ["grüße \u2028 日本"]),
        (b"caf\xe9\n", ["caf\ufffd"]),
        (b"", []),
        (b"x" * 50_000 + b"\n", ["x" * 50_000]),
    ],
)
async def test_a_pipe_is_read_line_by_line_to_its_end(data, texts):
    assert (await read(data))[0] == texts


async def test_a_file_and_a_text_are_read_as_a_pipe_is(tmp_path):
    path = tmp_path / "lines"
    path.write_text("one\ntwo")
    for source in (path.open(), io.StringIO("one\ntwo")):
        heard = Heard()
        channel = TerminalChannel("main", InstantClock(), owed=nothing_owed, lines=source, out=io.StringIO())
        with source:
            await channel.run(heard.receive)
        assert heard.texts == ["one", "two"]


async def nothing_owed():
    return False


async def test_a_pipe_waits_for_each_answer_and_a_person_does_not():
    heard = Heard()
    with pipe() as (source, write, close):
        channel = TerminalChannel("main", InstantClock(), owed=heard.owed, lines=source, out=io.StringIO())
        running = asyncio.create_task(channel.run(heard.receive))
        write(b"one\ntwo\n")
        close()
        await heard.asked.wait()
        for _ in range(200):
            await asyncio.sleep(0)
        assert heard.texts == ["one"]
        heard.open, heard.asked = 0, asyncio.Event()
        await heard.asked.wait()
        assert heard.texts == ["one", "two"]
        assert not running.done(), "the last one is not answered yet"
        heard.open = 0
        async with asyncio.timeout(20):
            await running
    assert channel.health.state == "off"
    assert not channel.can_send


async def test_a_server_that_is_away_loses_no_line_and_is_mentioned_once():
    """P13"""
    away = [Retryable("Redis cannot be reached") for _ in range(3)]
    texts, out = await read(b"one\n", *away)

    assert texts == ["one"]
    assert out == "(waiting: Redis cannot be reached)\n"


async def test_an_end_of_input_waits_for_the_answer_also_through_an_outage():
    """P13: while it cannot be asked whether something is owed, something may be."""
    told = [Retryable("away"), True, Retryable("away"), True, False]

    async def owed():
        found = told.pop(0)
        if isinstance(found, Retryable):
            raise found
        return found

    channel = TerminalChannel("main", InstantClock(), owed=owed, lines=io.StringIO(), out=io.StringIO())
    async with asyncio.timeout(20):
        await channel.run(Heard().receive)

    assert told == []


async def test_a_keyboard_is_given_back_when_the_gateway_stops_though_nobody_pressed_a_key():
    """Ctrl-C: no thread waits for a key, so nothing keeps the program from ending."""
    controller, terminal = pty.openpty()
    tty.setraw(terminal)
    with os.fdopen(terminal, encoding="utf-8") as source:
        screen = Screen()
        channel = TerminalChannel("main", ManualClock(), owed=nothing_owed, lines=source, out=screen)
        heard = Heard()
        running = asyncio.create_task(channel.run(heard.receive))
        os.write(controller, b"hello\n")
        async with asyncio.timeout(20):
            await heard.asked.wait()
        await channel.send(reply(), Part("words"), index=0, of=1, repeated=False)
        assert screen.getvalue().startswith(PROMPT)
        assert f"{ERASE}words\n{PROMPT}" in screen.getvalue()
        running.cancel()
        with suppress(asyncio.CancelledError):
            async with asyncio.timeout(20):
                await running
        assert not asyncio.get_running_loop().remove_reader(terminal), "nobody watches the keyboard any more"
    os.close(controller)


async def test_a_closed_terminal_ends_the_channel():
    controller, terminal = pty.openpty()
    with os.fdopen(terminal, encoding="utf-8") as source:
        channel = TerminalChannel("main", ManualClock(), owed=nothing_owed, lines=source, out=Screen())
        running = asyncio.create_task(channel.run(Heard().receive))
        os.close(controller)
        async with asyncio.timeout(20):
            await running


async def test_a_reply_says_when_it_may_be_a_second_copy_and_prints_in_any_encoding():
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    channel = TerminalChannel("main", ManualClock(), owed=nothing_owed, lines=io.StringIO(), out=out)
    await channel.send(reply(), Part("gr\u00fc\u00dfe"), index=0, of=1, repeated=True)

    assert out.buffer.getvalue() == b"(possibly repeated) gr??e\n"


async def test_output_that_nobody_reads_refuses_the_reply():
    reads, writes = os.pipe()
    os.close(reads)
    out = os.fdopen(writes, "w", encoding="utf-8")
    channel = TerminalChannel("main", ManualClock(), owed=nothing_owed, lines=io.StringIO(), out=out)
    with pytest.raises(Refused):
        await channel.send(reply(), Part("words"), index=0, of=1, repeated=False)
    with suppress(BrokenPipeError):
        out.close()


def test_a_reply_cannot_control_the_terminal():
    [part] = render("a\x1b[2J\x07b\tc\nd\x9b日本\U0001f600")

    assert part.text == "a\ufffd[2J\ufffdb\tc\nd\ufffd日本\U0001f600"
    assert render("") == [Part("")]


def test_each_line_is_a_message_of_its_own_and_a_blank_one_is_none():
    now = ManualClock().now()
    one, two = (message(" text \r\n", conversation="main", unique=u, now=now) for u in "12")

    assert one is not None
    assert two is not None
    assert (one.text, one.private, one.author.id) == (" text ", True, "terminal:owner")
    assert one.id != two.id
    assert message(" \t\n", conversation="main", unique="3", now=now) is None
