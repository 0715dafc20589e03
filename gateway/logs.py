"""Logging: one line an event, as fields, without secrets.

Every module that logs has at its top

    log = structlog.get_logger()

and says what happened and to what, never a message's text: `log.info("turn.merged", entries=4)`. Session and turn are
bound once, by the worker, around each item: `with structlog.contextvars.bound_contextvars(session=key, turn=id):`; the
lines of libraries that use `logging` carry them too.
"""

import io
import json
import logging
import sys
from contextlib import suppress
from typing import Literal, TextIO, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from gateway.redact import Plain, Redactor

# A line for every request or event at INFO.
_CHATTY = ("aiogram", "aiohttp.access", "httpx", "httpx2", "openai", "slack_sdk")
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
_LINES = {code: text for code, text in _CONTROLS.items() if chr(code) not in "\n\t"}
_SEVERAL_LINES = ("exception", "stack")


def configure(
    format: Literal["console", "json"],  # noqa: A002  # the name of the setting
    level: str,
    redactor: Redactor,
    stream: TextIO = sys.stderr,
) -> None:
    """Send every log line of this process to `stream`, redacted: structlog's and the standard library's.

    `level`: debug, info, warning, error or critical; KeyError otherwise. `json`: one object a line, in ASCII;
    `console`: for people, in colour if `stream` is a terminal. Tracebacks never show local variables.
    From then on a line is written or, where the stream is broken or closed, lost: logging raises nothing.
    May be called again; loggers that have been used keep what they had.
    """
    least = logging.getLevelNamesMapping()[level.upper()]
    sink = cast(TextIO, _Sink(stream))
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    if format == "json":
        # By default it shows the local variables of every frame.
        frames = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        last: list[Processor] = [structlog.processors.ExceptionRenderer(frames), _Json(redactor)]
    else:
        # The text of the standard library: ConsoleRenderer's own may be Rich's, with local variables.
        last = [structlog.processors.ExceptionRenderer(), _Console(redactor, colors=stream.isatty())]

    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.WriteLoggerFactory(file=sink),
        cache_logger_on_first_use=True,
    )
    bridge = _Bridge(sink)
    bridge.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name, structlog.stdlib.ExtraAdder()],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [bridge]
    root.setLevel(least)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(max(least, logging.WARNING))


class _Json:
    """The last processor: the event as one line of JSON."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def __call__(self, _: WrappedLogger, __: str, event: EventDict) -> str:
        # Before rendering, since an escape in front of a secret (`\nsk-...`) hides where it begins; and after it, for
        # what only shows in the line.
        fields = {str(key): self._redactor.redact_values(value) for key, value in event.items()}
        try:
            line = json.dumps(fields, allow_nan=False)
        except (ValueError, RecursionError):  # NaN, or a number of thousands of digits
            line = json.dumps({key: _finite(value) for key, value in fields.items()})
        return self._redactor.redact(line)


class _Console:
    """The last processor: the event as text for people, in which nothing can steer the terminal or fake a line."""

    def __init__(self, redactor: Redactor, *, colors: bool) -> None:
        self._redactor = redactor
        self._render = structlog.dev.ConsoleRenderer(colors=colors)

    def __call__(self, logger: WrappedLogger, name: str, event: EventDict) -> str:
        fields: EventDict = {}
        for key, value in event.items():
            plain = self._redactor.redact_values(value)
            if key in _SEVERAL_LINES:
                fields[key] = _text(plain).translate(_LINES)
            else:
                fields[key] = plain.translate(_CONTROLS) if isinstance(plain, str) else plain
        try:
            line = self._render(logger, name, dict(fields))  # it takes fields out
        except (ValueError, RecursionError):
            line = self._render(logger, name, {key: _text(value) for key, value in fields.items()})
        return self._redactor.redact(line)


class _Bridge(logging.StreamHandler[TextIO]):
    """Brings the standard library's records here."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Instead of printing the record with its arguments, unredacted."""
        structlog.get_logger().error("log.unreadable", logger=record.name, template=record.msg, exc_info=True)


class _Sink(io.TextIOBase):
    """A stream that takes any text, and loses it rather than raise: no turn must fail for want of a log."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        with suppress(OSError, ValueError):  # a full disk, a closed pipe; a closed file
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()


def _text(value: Plain) -> str:
    try:
        return value if isinstance(value, str) else repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits
        return f"<{type(value).__name__}>"


def _finite(value: Plain) -> Plain:
    """The value, or, where JSON cannot hold it, its text."""
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return _text(value)
    return value
