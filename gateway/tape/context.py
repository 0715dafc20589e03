"""The default context selector: from what stands after the last anchor to the messages of one model call. Pure.

Whatever the tape holds, the view is one that a strict provider takes: it opens with a user message, every call is
followed at once by exactly its results, no turn is blank. Facts that stand in the way are moved or left out of the
view; the tape keeps them.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from gateway.tape.entries import Anchor, Call, Draft, Entry, Fact, Json, JsonMap, Message, ToolCall, ToolResult
from gateway.tape.plain import as_text, plain, read_map, whole

ChatMessage: TypeAlias = JsonMap
"""One message in the chat-completions form."""

NO_RESULT = "no result was kept"
"""Stands for the result of a call that has none on the tape."""

OPENING = "(Earlier messages are not shown.)"
"""Opens a view whose first words are not a person's."""

_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_CALL_FIELDS = frozenset({"role", "content", "tool_calls", "tool_call_id", "function_call"})


@dataclass(frozen=True, slots=True)
class View:
    """The messages of one call, and what belongs into the system message beside the prompt."""

    messages: tuple[ChatMessage, ...] = ()
    system: str = ""


@dataclass(slots=True)
class _Step:
    """One tool call fact and the results found for it, by the place of the call."""

    fact: ToolCall
    results: dict[int, Json] = field(default_factory=dict)


def default_view(facts: Sequence[Entry | Draft]) -> View:
    """Facts with `context: false` are dropped before anything else is looked at."""
    messages: list[ChatMessage] = []
    system: list[str] = []
    taken: set[str] = set()
    for item in _paired(f.fact for f in facts if f.meta.context):
        match item:
            case _Step():
                messages += _exchange(item, taken)
            case Anchor(name, state):
                text = whole(f"[Anchor created: {name}]: {json.dumps(dict(state), ensure_ascii=False)}")
                if messages:
                    messages.append({"role": "assistant", "content": text})
                else:
                    system.append(text)
            case Message("user" | "assistant" as role, content, more) if words := _content(role, content):
                messages.append({"role": role, "content": words, **_kept(more)})
            case Message("system" | "developer", content) if words := _content("system", content):
                system.append(words if isinstance(words, str) else "\n".join(_texts(words)))
            case _:
                pass
    if messages and messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": OPENING})
    return View(tuple(messages), "\n\n".join(system))


def _paired(facts: Iterable[Fact]) -> list[Fact | _Step]:
    """The facts with each tool call joined to its results, wherever those stand after it. Orphans are left out."""
    items: list[Fact | _Step] = []
    waiting: dict[str, list[tuple[_Step, int]]] = {}
    last: _Step | None = None
    for fact in facts:
        match fact:
            case ToolCall(calls):
                last = _Step(fact)
                items.append(last)
                for place, call in reversed(list(enumerate(calls))):
                    waiting.setdefault(call.id, []).append((last, place))
            case ToolResult(results, ids):
                for place, result in enumerate(results):
                    if place < len(ids):
                        _by_id(waiting.get(ids[place], []), result)
                    elif last is not None:
                        last.results.setdefault(place, result)
            case _:
                items.append(fact)
    return items


def _by_id(waiting: list[tuple[_Step, int]], result: Json) -> None:
    while waiting:
        step, place = waiting.pop()
        if place not in step.results:
            step.results[place] = result
            return


def _exchange(step: _Step, taken: set[str]) -> Iterator[ChatMessage]:
    """The assistant's message and one tool message a call."""
    text = whole(step.fact.content)
    if not step.fact.calls:
        if text.strip():
            yield {"role": "assistant", "content": text}
        return
    ids = [_fresh(call.id, taken) for call in step.fact.calls]
    calls: list[Json] = [_call(i, call) for i, call in zip(ids, step.fact.calls, strict=True)]
    yield {"role": "assistant", "content": text, "tool_calls": calls}
    for place, i in enumerate(ids):
        text = as_text(step.results.get(place, NO_RESULT))
        yield {"role": "tool", "tool_call_id": i, "content": text if text.strip() else "(no output)"}


def _call(i: str, call: Call) -> Json:
    """A call with a name and arguments that a provider takes back: some refuse their own model's broken ones."""
    arguments = whole(call.arguments)
    if read_map(arguments) is None:
        arguments = json.dumps({"unreadable": arguments}, ensure_ascii=False) if arguments.strip() else "{}"
    name = _NAME.sub("_", call.name)[:64] or "unnamed"
    return {"id": i, "type": "function", "function": {"name": name, "arguments": arguments}}


def _fresh(wanted: str, taken: set[str]) -> str:
    """The id, or one like it: some providers refuse an id that stands twice anywhere in the view."""
    base = whole(wanted).strip() or "call"
    found, count = base, 1
    while found in taken:
        count += 1
        found = f"{base}_{count}"
    taken.add(found)
    return found


def _kept(more: JsonMap) -> dict[str, Json]:
    """The other fields of a saved message, without those that would make a call or a result of it."""
    named = {key: plain(value) for key, value in more.items() if key not in _CALL_FIELDS}
    match named.get("name"):
        case str(name) if name and not _NAME.search(name):
            pass
        case _:
            named.pop("name", None)
    return named


def _content(role: str, content: Json) -> Json:
    """The words of a message as a provider takes them; None where there are none."""
    match content:
        case None | [] | {}:
            return None
        case list(parts):
            kept: list[Json] = [p for part in parts if (p := _part(role, part)) is not None]
            return kept or None
        case _:
            text = as_text(content)
            return text if text.strip() else None


def _part(role: str, part: Json) -> Json:
    match part:
        case {"type": "text", "text": str(text)}:
            text = whole(text)
        case {"type": "image_url" | "input_audio" | "file" as kind, **rest} if role == "user" and kind in rest:
            return plain(part)
        case _:
            text = as_text(part)
    return {"type": "text", "text": text} if text.strip() else None


def _texts(parts: Json) -> Iterator[str]:
    for part in parts if isinstance(parts, list) else []:
        if isinstance(part, dict):
            yield str(part.get("text", ""))
