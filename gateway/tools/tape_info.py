"""What this conversation's tape holds."""

import json
from collections import Counter

from gateway.agent.model import ToolSpec
from gateway.agent.tool import Tool, ToolContext
from gateway.tape.codec import kind_of
from gateway.tape.context import default_view
from gateway.tape.entries import Anchor, Json, JsonMap


async def _run(context: ToolContext, _arguments: JsonMap) -> Json:
    entries = await context.tape.entries()
    anchors = [entry for entry in entries if isinstance(entry.fact, Anchor)]
    last: Json = None
    if anchors and isinstance(fact := anchors[-1].fact, Anchor):
        last = {"name": fact.name, "state": dict(fact.state), "date": anchors[-1].date.isoformat(timespec="seconds")}
    window = context.attempt.fork.view
    kinds: dict[str, Json] = dict(Counter(kind_of(entry.fact) for entry in entries))
    return {
        "entries": len(entries),
        "kinds": kinds,
        "anchors": len(anchors),
        "last_anchor": last,
        "window_entries": len(window),
        "window_tokens_estimate": sum(len(json.dumps(dict(m))) for m in default_view(window).messages) // 4,
    }


TAPE_INFO = Tool(
    ToolSpec(
        "tape_info",
        "Counts what is on this conversation's tape: entries, anchors, the last anchor, the size of the window that "
        "you see.",
        {"type": "object", "properties": {}, "additionalProperties": False},
    ),
    _run,
    idempotent=True,
)
