"""A model's Markdown -> messages of Discord: its dialect of Markdown, cut at 2000 code points (facts 2.1)."""

from typing import Final

from channels.discord.writer import write
from channels.markdown import parse, split
from channels.markdown.tree import says
from gateway.channel import Part

LIMIT: Final = 2000
"""Code points of one message: Discord counts those, also for emoji."""

EMPTY: Final = "(empty reply)"


def render(text: str, limit: int = LIMIT) -> list[Part]:
    """The messages of one reply, in order. Never empty, no message blank, each within the limit.

    A block of code that a cut goes through is closed before it and opened again after it. Nobody is called by what a
    message says: that is up to the request (outgoing.NOBODY). ValueError for a limit that leaves no room.
    """
    clean = _clean(text)
    blocks = parse(clean)
    # A lone `*` or `#` is meant as it stands.
    shown = write(blocks) if any(map(says, blocks)) else clean.strip()
    return [Part(message) for message in split(shown, limit)] or [Part(EMPTY)]


def _clean(text: str) -> str:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
