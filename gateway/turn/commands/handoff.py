"""/handoff [name] [note...]"""

from gateway.tape.entries import Anchor, Event, Json
from gateway.tape.fork import Appended
from gateway.turn.commands.command import Acted, Asked, Handler, Need
from gateway.turn.commands.parse import Command

NAME_LIMIT = 64


def _need(_command: Command) -> Need:
    return Need.OWNER


async def _handoff(asked: Asked) -> Acted:
    name, _, note = asked.command.rest.partition(" ")
    name = name[:NAME_LIMIT] or "handoff"
    state: dict[str, Json] = {"note": note.strip()} if note.strip() else {}
    data: dict[str, Json] = {
        "name": name,
        "state": state,
        "by": asked.message.author.id,
        "via": "command",
        "cause": asked.message.id,
    }
    ops = (
        Appended(Anchor(name, state), asked.now),
        Appended(Event("handoff", data), asked.now),
    )
    return Acted(f"A new phase begins: `{name}`. What was said before stays on the tape; /search finds it.", ops)


HANDOFF = Handler(
    "handoff", "handoff [name] [note...]", "begin a new phase: earlier words leave my view", _need, _handoff
)
