"""/reset [discard]"""

from gateway.turn.commands.command import Acted, Asked, Handler, Need
from gateway.turn.commands.parse import Command


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
