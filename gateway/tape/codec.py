"""Facts and entries as JSON, in the five fields that Bub writes too, so that each program reads the other's tapes.

Reading is forgiving: a line that holds no entry is None, a payload that does not fit its kind is an `Unknown` that
keeps it as it is. Writing never fails for odd text: a lone surrogate becomes U+FFFD, a number that
JSON lacks becomes null.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, assert_never

from gateway.errors import Broken
from gateway.message import MessageId, TurnId
from gateway.tape.entries import (
    Anchor,
    Call,
    Entry,
    Error,
    Event,
    Fact,
    JsonMap,
    Message,
    Meta,
    System,
    ToolCall,
    ToolResult,
    Unknown,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The date of an entry that has none."""

_START = b'{"id": '
_TRIES = 64
_BOM = b"\xef\xbb\xbf"


def encode(entry: Entry) -> bytes:
    """The entry as one line of a tape. Raises Broken for a value that is no JSON at all."""
    kind, payload = encode_fact(entry.fact)
    row = {
        "id": entry.id,
        "kind": kind,
        "payload": payload,
        "meta": _meta(entry.meta),
        "date": encode_date(entry.date),
    }
    return dump(row) + b"\n"


def decode(line: bytes) -> Entry | None:
    """The entry that the line holds, or None."""
    row = load(line) or {}
    match row:
        case {"id": int(number), "kind": str(kind), "payload": dict(payload)}:
            return Entry(int(number), decode_fact(kind, payload), _date(row), _read_meta(row.get("meta")))
    return None


def written(entry: Entry) -> Entry:
    """The entry as its tape will give it back. It shares nothing with the one who wrote it."""
    if found := decode(encode(entry)):
        return found
    raise Broken(f"entry {entry.id} cannot be read back")


def salvage(line: bytes) -> Entry | None:
    """The entry at the end of a damaged line: what a writer added to a half line, or wrote after a block of NULs."""
    line = line.strip(b"\0")
    end = len(line)
    for _ in range(_TRIES):
        if (start := line.rfind(_START, 0, end)) < 0:
            return None
        if entry := decode(line[start:]):
            return entry
        end = start + len(_START) - 1
    return None


def dump(row: Mapping[str, Any]) -> bytes:
    """One JSON text without a line break, in valid UTF-8."""
    try:
        try:
            return json.dumps(row, ensure_ascii=False, allow_nan=False).encode()
        except ValueError:  # a surrogate or NaN, seldom enough to look only then
            return json.dumps(_mended(row), ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise Broken(f"this cannot be written as JSON: {error}") from error


def load(line: bytes) -> Mapping[str, Any] | None:
    """The JSON object that the line holds, or None."""
    try:
        row = json.loads(line.removeprefix(_BOM).decode())
        if b"\\ud" in line or b"\\uD" in line:  # an escape can smuggle half a character in
            row = _mended(row)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def kind_of(fact: Fact) -> str:
    """The kind's name on disk."""
    match fact:
        case Message():
            return "message"
        case System():
            return "system"
        case ToolCall():
            return "tool_call"
        case ToolResult():
            return "tool_result"
        case Anchor():
            return "anchor"
        case Event():
            return "event"
        case Error():
            return "error"
        case Unknown(kind, _):
            return kind
    assert_never(fact)


def encode_fact(fact: Fact) -> tuple[str, dict[str, Any]]:
    """Kind and payload. Calls take the chat-completions form, which every version of Bub reads."""
    match fact:
        case Message(role, content, more):
            payload: dict[str, Any] = {"role": role, "content": content, **more}
        case System(content, more):
            payload = {"content": content, **more}
        case ToolCall(calls, content, more):
            payload = {"calls": [_call(call) for call in calls], "content": content, **more}
        case ToolResult(results, ids, more):
            payload = {"results": list(results), **({"call_ids": list(ids)} if ids else {}), **more}
        case Anchor(name, state, more):
            payload = {"name": name, "state": dict(state), **more}
        case Event(name, data, more):
            payload = {"name": name, "data": dict(data), **more}
        case Error(kind, message, more):
            payload = {"kind": kind, "message": message, **more}
        case Unknown(_, whole):
            payload = dict(whole)
    return kind_of(fact), payload


def decode_fact(kind: str, payload: Mapping[str, Any]) -> Fact:
    """The inverse of `encode_fact`, for whatever another program may have written."""
    match kind, payload:
        case "message", {"role": str(role), **more}:
            return Message(role, more.pop("content", None), more)
        case "system", {"content": str(content), **more}:
            return System(content, more)
        case "tool_call", {"calls": list(rows), **more} if (calls := _calls(rows)) is not None:
            content = more.pop("content") if isinstance(more.get("content"), str) else ""
            return ToolCall(calls, content, {k: v for k, v in more.items() if (k, v) != ("content", None)})
        case "tool_result", {"results": list(results), **more}:
            ids = more.get("call_ids")
            if isinstance(ids, list) and len(ids) == len(results) and all(isinstance(item, str) for item in ids):
                return ToolResult(tuple(results), tuple(more.pop("call_ids")), more)
            return ToolResult(tuple(results), (), more)
        case "anchor", {"name": str(name), **more}:
            return Anchor(name, _object(more, "state"), more)
        case "event", {"name": str(name), **more}:
            return Event(name, _object(more, "data"), more)
        case "error", {"kind": str(cause), "message": str(message), **more}:
            return Error(cause, message, more)
    return Unknown(kind, payload)


def encode_date(date: datetime) -> str:
    """ISO 8601 in UTC with microseconds. A date without a zone is taken as UTC."""
    return _in_utc(date).isoformat(timespec="microseconds")


def decode_date(text: object) -> datetime | None:
    """The inverse of `encode_date`; None for what is no date."""
    if not isinstance(text, str):
        return None
    try:
        return _in_utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None


def texts(value: object) -> Iterator[str]:
    """Every text, number and key in a JSON value, in order: what a search looks through."""
    left = [value]
    while left:  # a stack of our own: the nesting is a stranger's
        match left.pop():
            case str(text):
                yield text
            case bool() | None:
                pass
            case int() | float() as number:
                yield str(number)
            case Mapping() as row:
                left += [item for key, inner in reversed(list(row.items())) for item in (inner, key)]
            case list() | tuple() as items:
                left += reversed(items)


def _meta(meta: Meta) -> dict[str, Any]:
    named = {"turn": meta.turn, "author": meta.author, "message": meta.message}
    known = {key: value for key, value in named.items() if value is not None}
    more = {key: value for key, value in meta.more.items() if key not in known and (key, value) != ("context", False)}
    return {**known, **({} if meta.context else {"context": False}), **more}


def _read_meta(meta: object) -> Meta:
    if not isinstance(meta, dict):
        return Meta()
    more = dict(meta)
    turn, author, message = (_text(more, key) for key in ("turn", "author", "message"))
    context = more.get("context") is not False
    if not context:
        del more["context"]
    return Meta(
        None if turn is None else TurnId(turn), author, None if message is None else MessageId(message), context, more
    )


def _text(more: dict[str, Any], key: str) -> str | None:
    return more.pop(key) if isinstance(more.get(key), str) else None


def _object(more: dict[str, Any], key: str) -> JsonMap:
    """Takes the object out; anything else stays where it is, so that writing brings it back."""
    found: JsonMap = more.pop(key) if isinstance(more.get(key), dict) else {}
    return found


def _call(call: Call) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _calls(rows: Sequence[Any]) -> tuple[Call, ...] | None:
    calls = []
    for row in rows:
        match row:
            case {"id": str(number), "function": {"name": str(name), **rest}}:
                pass
            case {"id": str(number), "name": str(name), **rest}:
                pass
            case _:
                return None
        arguments = rest.get("arguments", {})
        calls.append(Call(number, name, arguments if isinstance(arguments, str) else dump_text(arguments)))
    return tuple(calls)


def dump_text(value: Any) -> str:
    """A JSON value as text, in the spelling of a tape."""
    return dump({"": value})[5:-1].decode()


def _date(row: Mapping[str, Any]) -> datetime:
    if date := decode_date(row.get("date")):
        return date
    match row.get("timestamp"):
        case bool():
            return EPOCH
        case int() | float() as seconds:
            try:
                return datetime.fromtimestamp(seconds, UTC)
            except (ValueError, OverflowError, OSError):
                return EPOCH
    return EPOCH


def _in_utc(date: datetime) -> datetime:
    return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)


def _mended(value: Any) -> Any:
    match value:
        case str(text):
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case float() if not math.isfinite(value):
            return None
        case Mapping():
            return {_mended(key): _mended(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_mended(inner) for inner in value]
        case _:
            return value
