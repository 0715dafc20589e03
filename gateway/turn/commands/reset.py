"""/reset [discard]"""

from gateway.turn.commands.command import Acted, Asked, Handler, Need
from gateway.turn.commands.parse import Command


def restarts(command: Command) -> bool:
    """Whether a /reset, once authorised, starts the tape anew, and so stops at once what runs and waits before it."""
    return command.rest.lower() in ("", "discard")


def _need(command: Command) -> Need:
    return Need.ADMIN if command.rest.lower() == "discard" else Need.OWNER


async def _reset(asked: Asked) -> Acted:
    match asked.command.rest.lower():
        case "":
            return Acted("Started over. The conversation until here is kept in the archive.", restart="archive")
        case "discard":
            return Acted("Started over. The conversation until here was deleted.", restart="discard")
        case other:
            return Acted(f"/reset takes nothing, or the word `discard`, but not {other[:40]!r}. Nothing was changed.")


RESET = Handler("reset", "reset", "start over; the conversation is archived", _need, _reset)
