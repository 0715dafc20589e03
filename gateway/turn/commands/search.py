"""/search <words>"""

import asyncio

from gateway.tape.search import search
from gateway.turn.commands.command import Acted, Asked, Handler, anyone

SHOWN = 8


async def _search(asked: Asked) -> Acted:
    words = asked.command.rest
    if not words:
        return Acted("Say what to look for: /search <words>")
    entries = await asked.desk.entries(asked.message)
    hits = await asyncio.to_thread(search, entries, words, limit=SHOWN)
    if not hits:
        return Acted("Nothing on the tape matches that.")
    lines = [f"- entry {hit.entry.id}, {hit.entry.date:%Y-%m-%d %H:%M} UTC: {hit.snippet}" for hit in hits]
    return Acted("\n".join(lines))


SEARCH = Handler("search", "search <words>", "look through the whole tape", anyone, _search)
