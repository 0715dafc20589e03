"""A model without a model: fixed rules, no network. It shows what a gateway does before a real model is set."""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from typing import Final

from gateway.agent.model import Delta, ModelReply, ToolSpec
from gateway.tape.context import ChatMessage
from gateway.tape.entries import Call, Json, JsonMap
from gateway.tape.plain import read_map

INTRO: Final = """\
**This is the built-in demo model.** No real model is set, so I answer by a few fixed rules.

To talk to a real one, stop the gateway, set one of these and start it again:
- `OPENAI_API_KEY` for OpenAI's models
- `OPENAI_BASE_URL` for any compatible server
  (or `GATEWAY_MODEL__BASE_URL`, `GATEWAY_MODEL__NAME` and `GATEWAY_MODEL__API_KEY`)
"""

CAN_DO: Final = """\
Try one of these:
- `search` with some words looks through everything said here, from the first day on
- `what time is it in Asia/Tokyo`
- `info` counts what is on this conversation's tape
- `handoff tea` closes this chapter and begins a new one
- `show markdown` shows a table, code and a list"""

MARKDOWN: Final = """\
## A little of everything

**Bold**, *italic*, ~~struck~~, `code` and a [link](https://example.org).

| Fruit | Price | In stock |
|:------|------:|:--------:|
| Apple |  1.20 |   yes    |
| Plum  |  0.80 |    no    |

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"
```

1. First things first
2. Then the rest
   - with a detail below

> What is written on the tape stays on the tape."""

_ZONE = re.compile(r"\b([A-Z]\w+(?:/[\w+-]+)+|UTC)\b")
_HANDOFF = re.compile(r"(?:please\s+)?hand[ -]?off\s+(\S+)\s*(.*)", re.IGNORECASE | re.DOTALL)
_PIECE = re.compile(r"\S+\s*|\s+")
_WORDS_A_DELTA = 4


class DemoModel:
    """A `Model`. `pace` is awaited between two deltas, for a look at live previews; without it nothing waits."""

    name = "demo"

    def __init__(self, *, pace: Callable[[], Awaitable[None]] | None = None) -> None:
        self._pace = pace

    async def ask(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]
    ) -> AsyncIterator[Delta | ModelReply]:
        """See the port."""
        asked = max((i for i, m in enumerate(messages) if m["role"] == "user"), default=0)
        words = _text(messages[asked]) if messages else ""
        results = [_result(messages, i) for i in range(asked + 1, len(messages)) if messages[i]["role"] == "tool"]
        call = None if results else _call(words, {tool.name for tool in tools})
        text = ""
        if call is None:
            # A handoff in this very turn took the earlier answers out of view; they were given all the same.
            first = not any(m["role"] == "assistant" for m in messages[:asked])
            first = first and "tape_handoff" not in (name for name, _ in results)
            said = "\n\n".join(_told(name, result) for name, result in results) or _chat(words)
            text = f"{INTRO}\n{said}" if first else said
            for number, piece in enumerate(_pieces(text)):
                if number and self._pace:
                    await self._pace()
                yield Delta(piece)
        size = sum(len(_text(message)) for message in messages) // 4
        usage: JsonMap = {"prompt_tokens": size, "completion_tokens": len(text) // 4}
        yield ModelReply(text, (call,) if call else (), usage, "tool_calls" if call else "stop")


def _call(words: str, tools: Collection[str]) -> Call | None:
    """The tool that the words ask for, if there is one."""
    lower = words.lower().strip().rstrip("?!. ")
    name, arguments = "", dict[str, Json]()
    if lower.startswith(("search ", "search for ", "find ")):
        name = "tape_search"
        arguments = {"words": re.sub(r"^(search for|search|find)\s+", "", words.strip(), flags=re.IGNORECASE)}
    elif lower == "time" or re.search(r"\b(what|which) time\b|\btime is it\b", lower):
        name, zone = "clock_now", _ZONE.search(words)
        arguments = {"timezone": zone[1]} if zone else {}
    elif lower in ("info", "tape info", "what is on the tape"):
        name = "tape_info"
    elif match := _HANDOFF.fullmatch(words.strip()):
        name = "tape_handoff"
        arguments = {"name": match[1], "summary": match[2].strip() or f"The chapter before {match[1]} is closed."}
    return Call("demo", name, json.dumps(arguments, ensure_ascii=False)) if name in tools else None


def _chat(words: str) -> str:
    lower = words.lower()
    if "markdown" in lower:
        return MARKDOWN
    if re.match(r"\s*(hi|hello|hey|good (morning|evening|day))\b", lower) or lower.strip() in ("help", "?", ""):
        return f"Hello! {CAN_DO}"
    heard = words if len(words) <= 300 else words[:300] + "…"
    quoted = "\n".join(f"> {line}" for line in heard.strip().splitlines())
    return f"I heard:\n{quoted}\n\n{CAN_DO}"


def _told(name: str, result: str) -> str:
    """A tool's result in words."""
    found = read_map(result) or {}
    match found:
        case {"error": error}:
            return f"That did not work: {error}"
        case {"hits": list(hits)}:
            # Hits without an id are this turn's own words: everybody knows where those are.
            lines = [_hit(h) for h in hits if isinstance(h, dict) and h.get("id") is not None]
            return (
                f"I found {len(lines)} on the tape:\n" + "\n".join(lines) if lines else "I found nothing on the tape."
            )
        case {"time": str(time), "timezone": str(zone), **rest}:
            return f"It is **{rest.get('weekday', '')} {time[:16].replace('T', ' ')}** ({zone})."
        case {"entries": entries, "anchors": anchors, **rest}:
            last = rest.get("last_anchor")
            named = f"`{last['name']}`" if isinstance(last, dict) else "none yet"
            seen = f"I see the last {rest.get('window_entries')} entries."
            return f"This tape holds **{entries}** entries and **{anchors}** anchors, the last one: {named}. {seen}"
        case {"anchor": anchor}:
            return f"Done: the chapter `{anchor}` begins here. What came before stays on the tape; `search` finds it."
        case _:
            return f"`{name}` answered:\n```\n{result}\n```"


def _hit(hit: Json) -> str:
    """What somebody said; nothing for this turn's own words (which have no id yet), and for calls and events."""
    match hit:
        case {"id": int(), "kind": "message" | "anchor", "date": str(date), "text": text}:
            return f"- {date[:16].replace('T', ' ')}: {text}"
    return ""


def _result(messages: Sequence[ChatMessage], place: int) -> tuple[str, str]:
    """The name of the tool that a tool message answers for, and its result."""
    wanted = messages[place].get("tool_call_id")
    for message in reversed(messages[:place]):
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            match call:
                case {"id": i, "function": {"name": str(name)}} if i == wanted:
                    return name, _text(messages[place])
    return "a tool", _text(messages[place])


def _text(message: ChatMessage) -> str:
    match message.get("content"):
        case str(text):
            return text
        case list(parts):
            return "\n".join(str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part)
        case _:
            return ""


def _pieces(text: str) -> Sequence[str]:
    words = _PIECE.findall(text)
    return ["".join(words[i : i + _WORDS_A_DELTA]) for i in range(0, len(words), _WORDS_A_DELTA)]
