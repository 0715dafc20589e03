"""Closing one phase of the conversation and beginning the next."""

from gateway.agent.model import ToolSpec
from gateway.agent.tool import Tool, ToolContext
from gateway.errors import Refused
from gateway.tape.entries import Anchor, Json, JsonMap
from gateway.tape.fork import HandedOff

_RESERVED = ("auto_handoff/", "session/")
_LONGEST = 200


async def _run(context: ToolContext, arguments: JsonMap) -> Json:
    match arguments:
        case {"name": str(name), **rest} if name.strip():
            name, summary = name.strip()[:_LONGEST], rest.get("summary") or ""
        case _:
            raise Refused("name is missing: a short name of the phase that begins")
    if name.startswith(_RESERVED):
        raise Refused(f"names that begin with {' or '.join(_RESERVED)} are the gateway's own")
    state: JsonMap = {"summary": summary}
    # A second run of the same call (after a crash) must not put a second anchor.
    if Anchor(name, state) not in [draft.fact for draft in context.attempt.fork.drafts]:
        cause: JsonMap = {"by": "agent", "via": "tape_handoff"}
        await context.attempt.do(HandedOff(name, state, context.now(), cause))
    return {"anchor": name, "summary": summary}


TAPE_HANDOFF = Tool(
    ToolSpec(
        "tape_handoff",
        "Begins a new phase of this conversation: later turns see only what follows this turn's question. Nothing is "
        "deleted; tape_search still finds what came before. Put into the summary what the next phase must know.",
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "a short name of the phase that begins"},
                "summary": {"type": "string", "description": "what the next phase must know"},
            },
            "required": ["name", "summary"],
            "additionalProperties": False,
        },
    ),
    _run,
    idempotent=True,
)
