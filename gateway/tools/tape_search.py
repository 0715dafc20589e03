"""Finding what was said, before and after every anchor."""

import asyncio
from collections.abc import Sequence

from gateway.agent.model import ToolSpec
from gateway.agent.tool import Tool, ToolContext
from gateway.errors import Refused
from gateway.tape.codec import kind_of
from gateway.tape.entries import Draft, Entry, Json, JsonMap, ToolCall
from gateway.tape.search import Hit, search

_DEFAULT, _MOST = 10, 50
_OURS = -1  # the id of what no tape holds yet, while it is searched


async def _run(context: ToolContext, arguments: JsonMap) -> Json:
    match arguments:
        case {"words": str(words), **rest} if words.strip():
            limit = rest.get("limit")
        case _:
            raise Refused("words is missing: the words to look for")
    count = min(max(limit, 1), _MOST) if isinstance(limit, int) else _DEFAULT
    entries = _searchable(await context.tape.entries(), context.call)
    # Fuzzy search is slow, and the loop that renews leases must not wait for it.
    hits = await asyncio.to_thread(search, entries, words, limit=count)
    found: list[Json] = [_told(hit) for hit in hits]
    return {"words": words, "hits": found}


def _searchable(entries: Sequence[Entry | Draft], asking: str) -> list[Entry]:
    """Everything but the call that asks, which says the words too."""
    return [
        entry if isinstance(entry, Entry) else Entry(_OURS, entry.fact, entry.date, entry.meta)
        for entry in entries
        if not (isinstance(entry, Draft) and isinstance(entry.fact, ToolCall) and asking in _ids(entry.fact))
    ]


def _ids(fact: ToolCall) -> set[str]:
    return {call.id for call in fact.calls}


def _told(hit: Hit) -> Json:
    entry = hit.entry
    return {
        "id": None if entry.id == _OURS else entry.id,
        "date": entry.date.isoformat(timespec="seconds"),
        "kind": kind_of(entry.fact),
        "author": entry.meta.author,
        "text": hit.snippet,
    }


TAPE_SEARCH = Tool(
    ToolSpec(
        "tape_search",
        "Searches everything ever said in this conversation, also what you no longer see. Finds exact words first, "
        "then similar ones, newest first.",
        {
            "type": "object",
            "properties": {
                "words": {"type": "string", "description": "the words to look for"},
                "limit": {"type": "integer", "minimum": 1, "maximum": _MOST, "description": f"default {_DEFAULT}"},
            },
            "required": ["words"],
            "additionalProperties": False,
        },
    ),
    _run,
    idempotent=True,
)
