"""What a turn's end looks like to a person: the answer, or a plain sentence why there is none. Pure."""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from gateway.agent.model import ModelReply
from gateway.tape.plain import read_map

Outcome: TypeAlias = Literal["finished", "failed"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The final text, which is on the tape, and whether the turn did what was asked."""

    text: str
    outcome: Outcome = "finished"


@dataclass(frozen=True, slots=True)
class Unusable:
    """A reply that nobody must see. `sentence` is for the person, if the model does no better a second time."""

    sentence: str


NOTHING_TO_SAY = "(The model chose to say nothing.)"
CUT_OFF = "\n\n(The model stopped here: it reached its length limit.)"
BLANK = "The model answered with nothing, twice. Please ask again, perhaps in other words."
BLANK_AT_LIMIT = "The model reached its length limit before it said anything. Please ask for something shorter."
WITHHELD = "The model's provider withheld this answer (content filter)."
MARKUP = "The model tried to use a tool in a way that could not be read, twice. Please ask again."
TOO_MANY_STEPS = "I stopped after {steps} steps without an end in sight. What was done so far is kept: ask me to go on."
NOT_REACHABLE = "The model is not reachable right now ({reason}). Nothing was lost: ask again in a moment."
TOO_LARGE = "This does not fit into the model's context window: {largest} (about {tokens} tokens). {advice}"

_MARKERS = frozenset({"NO_REPLY", "(empty)"})
_TAGS = re.compile(
    r"^\s*(<(tool_call|function_calls?|tool_use|invoke\s|function=)|<\|(tool|python_tag|channel\|>commentary)"
    r"|\[TOOL_CALLS\]|<｜tool)",
    re.MULTILINE,
)
_CODE = re.compile(r"```.*?(```|\Z)|`[^`\n]*`", re.DOTALL)
_BEGINNINGS = ("<", "{", "```", "[TOOL_CALLS]")
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)


def judge(reply: ModelReply, tools: Collection[str]) -> Answer | Unusable:
    """What becomes of a final reply: `tools` are the names that the model was told of."""
    text = reply.text.strip()
    if not text:
        match reply.finish:
            case "content_filter":
                return Answer(WITHHELD, "failed")
            case "length":
                return Unusable(BLANK_AT_LIMIT)
            case _:
                return Unusable(BLANK)
    if text in _MARKERS:
        return Answer(NOTHING_TO_SAY)
    if is_markup(text, tools):
        return Unusable(MARKUP)
    return Answer(reply.text + CUT_OFF if reply.finish == "length" else reply.text)


def is_markup(text: str, tools: Collection[str]) -> bool:
    """Whether the text holds a tool call written as text. One in a code block, or in mid-line, is only mentioned."""
    text = text.strip()
    if _TAGS.search(_CODE.sub("", text)):
        return True
    fenced = _FENCE.fullmatch(text)
    asked = read_map(fenced[1] if fenced else text)
    if asked is None:
        return False
    if isinstance(inner := asked.get("function"), dict):
        asked = inner
    return asked.get("name") in tools and ("arguments" in asked or "parameters" in asked)


def may_be_shown(text: str) -> bool:
    """Whether the beginning of a text can be shown before its end is known."""
    text = text.strip()
    begun = any(text.startswith(mark) or mark.startswith(text) for mark in _BEGINNINGS)
    marked = any(marker.startswith(text) for marker in _MARKERS)
    return bool(text) and not begun and not marked and not _TAGS.search(_CODE.sub("", text))


def too_large(sizes: dict[str, int], *, alone: bool) -> str:
    """Names the largest part of a request that did not fit. `alone`: there was nothing else to set aside."""
    largest = max(sizes, key=lambda part: sizes[part], default="the request")
    advice = "Please send less at once." if alone else "Earlier messages were set aside and it is still too much."
    return TOO_LARGE.format(largest=largest, tokens=f"{sizes.get(largest, 0) // 4:,}", advice=advice)


def short(text: str, limit: int) -> str:
    """At most `limit` characters of it, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def readable(value: object) -> str:
    """JSON text for measuring."""
    return json.dumps(value, ensure_ascii=False, default=str)
