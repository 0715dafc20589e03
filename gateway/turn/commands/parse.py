"""What is a command: a slash and a name at the very start of what a person typed. Text of the model never is one."""

import re
from dataclasses import dataclass

_COMMAND = re.compile(r"\s*[/／]([A-Za-z][A-Za-z0-9_]{0,31})(?:\s+(.*))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Command:
    """`name` in lower case; `rest` is what follows it, `raw` all of it."""

    name: str
    rest: str
    raw: str


def parse(text: str) -> Command | None:
    """The command that a text is, if it is one. `/etc/hosts`, "`/reset`" and a slash in mid-sentence are none."""
    found = _COMMAND.fullmatch(text)
    return None if found is None else Command(found[1].lower(), (found[2] or "").strip(), text.strip())
