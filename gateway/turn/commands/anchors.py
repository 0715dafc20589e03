"""/anchors"""

from gateway.tape.entries import Anchor
from gateway.turn.commands.command import Acted, Asked, Handler, anyone

SHOWN = 20


async def _anchors(asked: Asked) -> Acted:
    found = [(e, e.fact) for e in await asked.desk.entries(asked.message) if isinstance(e.fact, Anchor)]
    if not found:
        return Acted("No anchors yet.")
    lines = [f"- `{fact.name}` at entry {entry.id}, {entry.date:%Y-%m-%d %H:%M} UTC" for entry, fact in found[-SHOWN:]]
    more = f"The last {SHOWN} of {len(found)} anchors" if len(found) > SHOWN else "Anchors"
    return Acted(f"{more}, oldest first:\n\n" + "\n".join(lines))


ANCHORS = Handler("anchors", "anchors", "the phases of this conversation", anyone, _anchors)
