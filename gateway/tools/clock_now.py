"""What time it is."""

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gateway.agent.model import ToolSpec
from gateway.agent.tool import Tool, ToolContext
from gateway.errors import Refused
from gateway.tape.entries import Json, JsonMap


async def _run(context: ToolContext, arguments: JsonMap) -> Json:
    name = arguments.get("timezone") or "UTC"
    if not isinstance(name, str):
        raise Refused(f"timezone is a text like Europe/Berlin, not {name!r}")
    now = context.now().astimezone(_zone(name))
    return {"time": now.isoformat(timespec="seconds"), "weekday": now.strftime("%A"), "timezone": name}


def _zone(name: str) -> tzinfo:
    if name == "UTC":  # a machine without a time zone database knows it too
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Refused(f"no time zone {name!r} here; names are like Europe/Berlin") from None


CLOCK_NOW = Tool(
    ToolSpec(
        "clock_now",
        "The current date and time.",
        {
            "type": "object",
            "properties": {"timezone": {"type": "string", "description": "IANA name like Europe/Berlin; default UTC"}},
            "additionalProperties": False,
        },
    ),
    _run,
    idempotent=True,
)
