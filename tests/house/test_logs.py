"""Logs: one line an event, no secret in any of them, and no exception out of any."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any, Literal

import pytest
import structlog

from gateway.logs import configure
from gateway.redact import Redactor

SECRET = "hunter22-planted"
ESCAPED = "back\\slash-planted"
Form = Literal["console", "json"]
both = pytest.mark.parametrize("form", ["console", "json"])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Full(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def fail(error: Exception) -> None:
    raise error


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """What `configure` changes in the whole process is as before."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
    root.handlers[:] = handlers
    root.setLevel(level)
    for name in ("aiogram", "aiohttp.access", "httpx", "httpx2", "openai"):
        logging.getLogger(name).setLevel(logging.NOTSET)


def started(
    form: Form,
    level: str = "info",
    stream: io.StringIO | None = None,
) -> io.StringIO:
    stream = io.StringIO() if stream is None else stream
    configure(form, level, Redactor([SECRET, ESCAPED]), stream)
    return stream


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return [json.loads(line, parse_constant=refuse) for line in stream.getvalue().splitlines()]


def test_a_line_of_json_is_the_event_and_its_fields() -> None:
    stream = started("json")
    structlog.get_logger().info("turn.merged", entries=4, ids=["a", "b"])
    (line,) = lines(stream)
    assert line.pop("timestamp").endswith("Z")
    assert line == {"event": "turn.merged", "level": "info", "entries": 4, "ids": ["a", "b"]}


@both
def test_no_secret_leaves_by_any_part_of_a_line(form: Form) -> None:
    """P14."""
    stream = started(form)
    log = structlog.get_logger()
    log.info(f"event {SECRET}", value=SECRET, nested={"a": [SECRET]}, odd=ValueError(SECRET), data=SECRET.encode())
    log.info("key", **{SECRET: 1})
    log.info("escaped twice", odd=ValueError(ESCAPED))
    log.info("escaped", text="\nsk-abcdefghijkl", chinese="钥sk-abcdefghijkl")
    log.info("url", url="https://api.telegram.org/bot42:ABC-planted/getMe")
    log.bind(bound=SECRET).info("bound")
    with structlog.contextvars.bound_contextvars(session=SECRET):
        log.info("context")
    foreign = logging.getLogger("foreign")
    foreign.warning("message %s", SECRET, extra={"more": SECRET})
    local = SECRET
    try:
        try:
            fail(ValueError(f"first {local}"))
        except ValueError as error:
            raise RuntimeError("sk-abcdefghijkl") from error
    except RuntimeError:
        log.exception("ours")
        foreign.exception("theirs")
        log.info("stack", stack_info=True)
    try:
        fail(ExceptionGroup("several", [ValueError(SECRET)]))
    except ExceptionGroup:
        log.exception("group")
    text = stream.getvalue()
    assert text.count("[redacted]") > 15
    for planted in ("hunter22", "slash-planted", "sk-abc", "ABC-planted"):
        assert planted not in text.replace('"sk-abcdefghijkl"', "")  # a line of this file's source in a traceback


@both
def test_a_traceback_shows_no_local_variable(form: Form) -> None:
    """P14."""
    stream = started(form)
    words = ["what", "people", "wrote"]
    try:
        private = "-".join(words)
        fail(ValueError(len(private)))
    except ValueError:
        structlog.get_logger().exception("failed")
        logging.getLogger("foreign").exception("failed")
    assert "ValueError" in stream.getvalue()
    assert "what-people-wrote" not in stream.getvalue()


async def test_lines_of_libraries_carry_the_session_they_were_written_in() -> None:
    stream = started("json")

    async def turn(session: str) -> None:
        with structlog.contextvars.bound_contextvars(session=session):
            await asyncio.create_task(child(session))

    async def child(session: str) -> None:
        logging.getLogger("library").warning("in %s", session)

    await asyncio.gather(turn("a"), turn("b"))
    assert sorted((line["session"], line["event"], line["logger"]) for line in lines(stream)) == [
        ("a", "in a", "library"),
        ("b", "in b", "library"),
    ]


@both
@pytest.mark.parametrize(
    "value",
    [
        *("lone \ud800 surrogate", float("nan"), [float("inf")], 10**5000, [10**5000], {1: {(2, 3): Odd()}}, Odd()),
        *(b"\xff", {1, 2}, object, "\0\x1b[31m"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_value_makes_logging_raise(form: Form, value: object) -> None:
    stream = started(form)
    structlog.get_logger().info("event", value=value, number=4)
    structlog.get_logger().info(value)
    structlog.get_logger().info("event", exception=value, stack=value)
    logging.getLogger("foreign").warning(value)
    assert len([line for line in stream.getvalue().splitlines() if "timestamp" in line or line.startswith("20")]) == 4
    if form == "json":
        assert lines(stream)[0]["number"] == 4


@both
def test_a_stream_that_takes_nothing_stops_nobody(form: Form) -> None:
    started(form, stream=Full())
    structlog.get_logger().info("event")
    logging.getLogger("foreign").warning("event")


@both
def test_a_stream_closed_later_stops_nobody(form: Form) -> None:
    stream = started(form)
    log = structlog.get_logger()
    stream.close()
    log.info("event")
    logging.getLogger("foreign").warning("event")


@both
def test_a_stream_that_knows_ascii_alone_gets_escapes(form: Form) -> None:
    raw = io.BytesIO()
    configure(form, "info", Redactor(), io.TextIOWrapper(raw, "ascii", write_through=True))
    structlog.get_logger().info("event", value="漢字")
    assert rb"\u6f22\u5b57" in raw.getvalue()


def test_there_is_colour_on_a_terminal_alone() -> None:
    for stream, coloured in ((io.StringIO(), False), (Terminal(), True)):
        started("console", stream=stream)
        structlog.get_logger().info("event", value=1)
        logging.getLogger("foreign").warning("event")
        assert ("\x1b[" in stream.getvalue()) == coloured
    assert "\x1b[" not in started("json", stream=Terminal()).getvalue()


def test_no_text_steers_the_terminal_or_fakes_a_line() -> None:
    stream = started("console")
    structlog.get_logger().info("event\n2026 fake", value="\x1b[2J\r\x9b", more={"a": "\x1b"})
    logging.getLogger("foreign").warning("message \x1b]0;title\x07\nfake")
    try:
        fail(ValueError("\x1b[2J"))
    except ValueError:
        structlog.get_logger().exception("failed")
    assert len([line for line in stream.getvalue().splitlines() if "fake" in line and line.startswith("20")]) == 2
    assert not set(stream.getvalue()) & set("\x1b\r\x07\x9b")


@both
def test_a_record_that_cannot_be_read_shows_its_template_and_not_its_arguments(
    form: Form,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stream = started(form)
    logging.getLogger("foreign").warning("two %s %s", "an-argument")
    assert "log.unreadable" in stream.getvalue()
    assert "two %s %s" in stream.getvalue()
    assert "an-argument" not in stream.getvalue()
    assert capsys.readouterr() == ("", "")


def test_levels_are_kept_and_chatty_libraries_are_heard_from_warning_on() -> None:
    stream = started("json", "debug")
    structlog.get_logger().debug("ours")
    for name in ("aiogram.event", "aiohttp.access", "httpx", "httpx2", "openai._base_client"):
        logging.getLogger(name).info("chatter")
        logging.getLogger(name).warning(name)
    assert [line["event"] for line in lines(stream)] == [
        *("ours", "aiogram.event", "aiohttp.access", "httpx", "httpx2", "openai._base_client")
    ]
    stream = started("json", "error")
    structlog.get_logger().warning("ours")
    logging.getLogger("aiogram.event").warning("theirs")
    logging.getLogger("other").warning("theirs")
    assert lines(stream) == []


def test_an_unknown_level_is_an_error() -> None:
    with pytest.raises(KeyError):
        started("json", "loud")
