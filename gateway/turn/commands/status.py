"""/status"""

from gateway.tape.entries import Anchor
from gateway.turn.commands.command import Acted, Asked, Handler, anyone


async def _status(asked: Asked) -> Acted:
    status = await asked.desk.status(asked.message)
    window = await asked.desk.window(asked.message)
    anchor = f"`{window.anchor.fact.name}`" if window.anchor and isinstance(window.anchor.fact, Anchor) else "none yet"
    doing = "A turn is running" if status.running else "Nothing is running"
    waits = f"{status.waiting} message{'' if status.waiting == 1 else 's'} not answered yet"
    return Acted(f"{doing}; {waits}. The tape stands at entry {window.version}; last anchor: {anchor}.")


STATUS = Handler("status", "status", "what runs and what waits", anyone, _status, control=True)
