"""Reading back: conversations.history and conversations.replies, and the cursors of all lists (facts 3.1)."""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from tests.platforms.slack_channel import Channel
from tests.platforms.slack_text import Refusal

Json = dict[str, Any]
T = TypeVar("T")

MOST: Final = 999


def has(form: Mapping[str, str], name: str) -> bool:
    """A switch of a call, in any of the spellings that Slack reads."""
    return form.get(name, "").lower() in {"1", "true"}


def integer(form: Mapping[str, str], name: str, default: int) -> int:
    """A number of a call."""
    raw = form.get(name) or str(default)
    if not raw.isdigit() or int(raw) < 1:
        raise Refusal(f"invalid_{name}")
    return int(raw)


def page(items: Sequence[T], form: Mapping[str, str], kind: str, default: int) -> tuple[list[T], str]:
    """The page that a call's `cursor` and `limit` pick, and the cursor of the next one, empty at the end."""
    start = int(_read(form.get("cursor", ""), kind))
    end = start + min(integer(form, "limit", default), MOST)
    return list(items[start:end]), _cursor(kind, end) if end < len(items) else ""


def _cursor(kind: str, at: int | str) -> str:
    return base64.b64encode(f"{kind}:{at}".encode()).decode()


def _read(cursor: str, kind: str) -> float:
    """Where a cursor of this kind of list points to; 0 without one."""
    if not cursor:
        return 0
    try:
        name, _, rest = base64.b64decode(cursor, validate=True).decode().partition(":")
        at = float(rest)
    except (binascii.Error, ValueError):
        raise Refusal("invalid_cursor") from None
    if name != kind:
        raise Refusal("invalid_cursor")
    return at


class History:
    """One reading of a conversation: the time between `oldest` and `latest`, which themselves count if `inclusive`."""

    def __init__(self, channel: Channel, form: Mapping[str, str]) -> None:
        self._channel = channel
        self._form = form
        self._oldest = _time(form, "oldest", 0)
        self._latest = _time(form, "latest", float("inf"))
        self._inclusive = has(form, "inclusive")
        self._from = _read(form.get("cursor", ""), "next_ts")

    def roots(self) -> Json:
        """Newest first: what stands in the channel itself, so roots and broadcasts, never other replies."""
        shown = [message for message in self._channel.messages.values() if _is_in_channel(message)]
        inside = sorted(self._between(shown), key=_ts, reverse=True)
        if self._from:
            inside = [message for message in inside if _ts(message) <= self._from]
        limit = min(integer(self._form, "limit", 100), MOST)
        following = _cursor("next_ts", inside[limit]["ts"]) if len(inside) > limit else ""
        return self._answer(inside[:limit], following) | {"pin_count": 0}

    def thread(self) -> Json:
        """Oldest first, and the root always; the `ts` of a reply brings that reply alone (bolt-python#783)."""
        ts = self._form.get("ts", "")
        first = self._channel.messages.get(ts)
        if first is None:
            raise Refusal("thread_not_found")
        replies = [message for message in self._channel.messages.values() if message.get("thread_ts") == ts]
        inside = sorted(self._between(reply for reply in replies if reply["ts"] != ts), key=_ts)
        inside = [message for message in inside if _ts(message) >= self._from]
        limit = min(integer(self._form, "limit", 1000), 1000)
        following = _cursor("next_ts", inside[limit]["ts"]) if len(inside) > limit else ""
        return self._answer([first, *inside[:limit]], following)

    def _between(self, messages: Iterable[Json]) -> list[Json]:
        if self._inclusive:
            return [message for message in messages if self._oldest <= _ts(message) <= self._latest]
        return [message for message in messages if self._oldest < _ts(message) < self._latest]

    def _answer(self, messages: Iterable[Json], following: str) -> Json:
        hidden = set() if has(self._form, "include_all_metadata") else {"metadata"}
        shown = [{key: value for key, value in message.items() if key not in hidden} for message in messages]
        answer: Json = {"messages": shown, "has_more": bool(following)}
        return answer | ({"response_metadata": {"next_cursor": following}} if following else {})


def _is_in_channel(message: Json) -> bool:
    return message.get("thread_ts", message["ts"]) == message["ts"] or message.get("subtype") == "thread_broadcast"


def _ts(message: Json) -> float:
    return float(message["ts"])


def _time(form: Mapping[str, str], name: str, default: float) -> float:
    try:
        return float(form.get(name) or default)
    except ValueError:
        raise Refusal(f"invalid_ts_{name}") from None
