"""The commands that Discord offers after a slash: registered when they are not what Discord has already (facts 2.4)."""

from collections.abc import Sequence
from typing import Final

import structlog

from channels.discord.fields import Payload, rows, words
from channels.discord.rest import Rest

log = structlog.get_logger()

_DESCRIPTION: Final = 100  # characters
_TEXT: Final = 3  # the type of an option
_PLACES: Final = [0, 1]  # guilds and the bot's own DMs; not the DMs of others, which it cannot read
_GUILDS: Final = [0]  # where it is installed


def wanted(commands: Sequence[tuple[str, str]]) -> list[dict[str, object]]:
    """What to register for (usage, summary) of each: `handoff [name] [note...]` takes one text, `stop` takes none."""
    return [_command(usage, summary) for usage, summary in commands]


def names(commands: Sequence[tuple[str, str]]) -> frozenset[str]:
    """The names alone."""
    return frozenset(usage.split(maxsplit=1)[0] for usage, _ in commands)


async def register(rest: Rest, application: str, commands: Sequence[tuple[str, str]]) -> None:
    """Makes Discord's commands these; asks first, since a change costs much of a day's budget. Raises as Rest does."""
    path, wish = f"/applications/{application}/commands", wanted(commands)
    answer = await rest.ask("GET", path)
    if sorted(map(_facts, rows({"all": answer}, "all"))) != sorted(map(_facts, wish)):
        await rest.ask("PUT", path, wish)
        log.info("discord.commands_registered", count=len(wish))


def _command(usage: str, summary: str) -> dict[str, object]:
    name, _, arguments = usage.strip().partition(" ")
    options: list[dict[str, object]] = []
    if arguments:
        required = "<" in arguments
        options = [{"type": _TEXT, "name": "text", "description": arguments[:_DESCRIPTION], "required": required}]
    return {
        "type": 1,
        "name": name,
        "description": summary[:_DESCRIPTION],
        "options": options,
        "contexts": _PLACES,
        "integration_types": _GUILDS,
    }


def _facts(raw: Payload) -> str:
    """What matters of a command, comparable: Discord leaves out defaults, and adds fields of its own."""
    options = [
        (option.get("type"), words(option, "name"), words(option, "description"), bool(option.get("required")))
        for option in rows(raw, "options")
    ]
    places = (raw.get("contexts"), raw.get("integration_types"))
    return repr((words(raw, "name"), raw.get("type"), words(raw, "description"), options, places))
