"""The commands. A new one is a file here and a line below."""

import difflib

from gateway.turn.commands.anchors import ANCHORS
from gateway.turn.commands.command import Acted, Asked, Desk, Handler, Need
from gateway.turn.commands.handoff import HANDOFF
from gateway.turn.commands.help import HELP
from gateway.turn.commands.pair import PAIR
from gateway.turn.commands.parse import Command, parse
from gateway.turn.commands.reset import RESET
from gateway.turn.commands.search import SEARCH
from gateway.turn.commands.status import STATUS
from gateway.turn.commands.stop import STOP
from gateway.turn.commands.whoami import WHOAMI

HANDLERS: tuple[Handler, ...] = (HELP, STATUS, STOP, WHOAMI, HANDOFF, RESET, ANCHORS, SEARCH, PAIR)
_BY_NAME = {handler.name: handler for handler in HANDLERS}


def handler(command: Command) -> Handler | None:
    """The handler of a command, if this release has it. `/start` is what Telegram sends to greet a bot."""
    return _BY_NAME.get("help" if command.name == "start" else command.name)


def refusal(found: Handler) -> str:
    """What to say to somebody who may not do that here."""
    return f"/{found.name} is for admins here. Nothing was changed."


def unknown(command: Command) -> str:
    """What to say about a command that nobody knows."""
    near = difflib.get_close_matches(command.name, _BY_NAME, n=1)
    return f"I know no command /{command.name}." + (f" Did you mean /{near[0]}?" if near else " /help lists them.")


__all__ = [
    "HANDLERS",
    "Acted",
    "Asked",
    "Command",
    "Desk",
    "Handler",
    "Need",
    "handler",
    "parse",
    "refusal",
    "unknown",
]
