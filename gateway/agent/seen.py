"""What a model saw, so that it can be shown again for any reply. Pure."""

import hashlib
import json
from collections.abc import Sequence

from gateway.agent.model import ToolSpec
from gateway.tape.context import ChatMessage, default_view
from gateway.tape.entries import Anchor, Draft, Entry, Event, Json, JsonMap, System
from gateway.tape.fork import Fork

NO_WORDS = "(a message without words)"
"""Closes a request whose last words are the assistant's: providers refuse to answer themselves."""


def request(system: str, facts: Sequence[Entry | Draft]) -> list[ChatMessage]:
    """The messages of one call: the system message, the view, and last always a person's words or a tool's result."""
    view = default_view(facts)
    head = "\n\n".join(text for text in (system, view.system) if text.strip())
    messages: list[ChatMessage] = [{"role": "system", "content": head}] if head else []
    messages += view.messages
    if messages[-1:] == [] or messages[-1]["role"] in ("assistant", "system"):
        messages.append({"role": "user", "content": NO_WORDS})
    return messages


def own(fork: Fork) -> list[Draft]:
    """This turn's facts that a view is made from."""
    return [fact for fact in fork.view if isinstance(fact, Draft) and fact.meta.context]


def shows_past(fork: Fork) -> bool:
    """Whether anything before this turn is in its view, so that a handoff would make it shorter."""
    return default_view(fork.view) != default_view(own(fork))


def system_shown(fork: Fork) -> str | None:
    """The system prompt that the window shows last."""
    return next((f.fact.content for f in reversed(fork.view) if isinstance(f.fact, System)), None)


def model_call(
    fork: Fork, model: str, system: str, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]
) -> Event:
    """What a call is made from: the entries after `after` up to `upto`, then this turn's first `own` facts."""
    base = fork.base
    past = any(isinstance(fact, Entry) for fact in fork.view)
    after = base.version if not past else base.anchor.id if base.anchor else 0
    data: dict[str, Json] = {
        "model": model,
        "selector": "default",
        "after": after,
        "upto": base.version,
        "own": len(own(fork)),
        "sha256": digest(model, messages, tools),
        "system": _sha256(system),
    }
    return Event("model.call", data)


def digest(model: str, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> str:
    """sha256 of the canonical JSON: sorted keys, no spaces, ASCII."""
    body = {
        "model": model,
        "messages": [dict(m) for m in messages],
        "tools": [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in tools],
    }
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=dict)
    return _sha256(text)


def rebuilt(entries: Sequence[Entry], call: Entry) -> list[ChatMessage]:
    """The messages of a recorded `model.call`, from the whole tape as it is now.

    Their digest is the recorded one where the call was made by this release's selector.
    """
    data: JsonMap = call.fact.data if isinstance(call.fact, Event) else {}
    after, upto, count = (value if isinstance(value := data.get(key), int) else 0 for key in ("after", "upto", "own"))
    past = [e for e in entries if after < e.id <= upto]
    mine = [e for e in entries if e.meta.turn == call.meta.turn and e.meta.context and not _put_in_front(e)]
    return request(_prompt(entries, str(data.get("system"))), [*past, *mine[:count]])


def _put_in_front(entry: Entry) -> bool:
    """A handoff inside a turn stands before the turn's first entry and is in none of its views."""
    match entry.fact:
        case Anchor() | Event("handoff"):
            return True
        case _:
            return False


def _prompt(entries: Sequence[Entry], sha256: str) -> str:
    prompts = (entry.fact.content for entry in entries if isinstance(entry.fact, System))
    return next((prompt for prompt in prompts if _sha256(prompt) == sha256), "")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
