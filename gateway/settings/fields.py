"""What a single setting may be: readers that say in one line what is wrong."""

import json
import math
import re
from collections.abc import Callable
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BeforeValidator, SecretStr

from gateway.redact import Redactor


def shown(value: object) -> str:
    """A value as an error may show it: short, and without secrets."""
    text = Redactor().redact(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= 80 else f"{text[:80]}…"


def number(kind: type[int] | type[float], what: str, least: float, most: float) -> BeforeValidator:
    """A number within bounds, both included."""

    def read(value: object) -> float:
        try:
            number = kind(str(value))
        except ValueError:
            number = math.nan
        if least <= number <= most:
            return number
        raise ValueError(f"{shown(value)} is not {what} from {least:.10g} to {most:.10g}")

    return BeforeValidator(read)


def text_of(what: str, good: Callable[[str], object] = str.strip, *, secret: bool = False) -> BeforeValidator:
    """A text that is good for something. `secret`: no error shows it."""

    def read(value: object) -> object:
        if isinstance(value, str) and good(value):
            return value
        raise ValueError(f"{'the value' if secret else shown(value)} is not {what}")

    return BeforeValidator(read)


def url_of(*schemes: str) -> Callable[[str], bool]:
    """Whether a text is an address with one of these schemes."""

    def good(value: str) -> bool:
        try:
            url = urlsplit(value)
            return url.scheme in schemes and bool(url.hostname or url.scheme == "unix") and url.port != 0
        except ValueError:
            return False

    return good


def tape_store(value: object) -> object:
    """Names the stores of later releases, so that nobody takes them for typing errors."""
    if isinstance(value, str) and value.startswith(("sqlite:", "postgresql:")):
        raise ValueError(f'"{value.partition(":")[0]}:" stores are not in this release; use "file"')
    return value


def _people(pattern: str, what: str) -> BeforeValidator:
    """Stable ids alone: whoever takes over a name would take over its rights."""

    def read(value: object) -> object:
        if not isinstance(value, str | list):
            return value
        ids = [text for item in (value.split(",") if isinstance(value, str) else value) if (text := str(item).strip())]
        for text in ids:
            if re.fullmatch(pattern, text) is None:
                raise ValueError(
                    f"{shown(text)} is not {what}; names can change hands, so use the person's id: "
                    "the bot tells it to whoever sends it /whoami"
                )
        return tuple(dict.fromkeys(ids))

    return BeforeValidator(read)


def whole(least: int, most: int) -> BeforeValidator:
    """A whole number within bounds."""
    return number(int, "a whole number", least, most)


def seconds(least: float, most: float) -> BeforeValidator:
    """A number of seconds within bounds."""
    return number(float, "a number of seconds", least, most)


LOWER = BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)
Count = Annotated[int, whole(0, 100)]
Http = Annotated[str, text_of("an http:// or https:// address", url_of("http", "https"))]
Host = Annotated[str, text_of("a host name or address", re.compile(r"[^\s/]+").fullmatch)]
Numbers = Annotated[tuple[str, ...], _people(r"[0-9]+", "a numeric id")]
SlackIds = Annotated[tuple[str, ...], _people(r"[UW][A-Z0-9]+", "an id of Slack, which looks like U012ABCDEF")]
SocketUrl = Annotated[str, text_of("a ws:// or wss:// address", url_of("ws", "wss"))]
Secret = Annotated[SecretStr, text_of("a text", secret=True)]
_is_redis, _is_bot = url_of("redis", "rediss", "unix"), re.compile(r"[0-9]+:\S+").fullmatch
RedisUrl = Annotated[SecretStr, text_of("a redis://, rediss:// or unix:// address", _is_redis, secret=True)]
BotToken = Annotated[SecretStr, text_of("a bot's token, which looks like 12345678:AAH...", _is_bot, secret=True)]
