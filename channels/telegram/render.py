"""A model's Markdown -> messages of Telegram: plain text and entities, never a parse mode (facts 1.9)."""

import json
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import Final

from channels.markdown import check_limit, is_blank, next_cut, parse, utf16
from channels.markdown.tree import says
from channels.telegram.canvas import Canvas, Page, Span
from channels.telegram.writer import write
from gateway.channel import Part

LIMIT: Final = 4096
"""UTF-16 units of one message. The server counts code points, which are never more (facts 1.1)."""

REPEATED: Final = "(possibly repeated) "
"""Stands before a copy of a part that may have arrived already; room for it is inside LIMIT."""

EMPTY: Final = "(empty reply)"

_ENTITIES: Final = 100  # the server drops those beyond, and with them the code that keeps an @name quiet


def render(text: str, limit: int = LIMIT) -> list[Part]:
    """The messages of one reply, in order. Never empty, no message blank, each within the limit, REPEATED included.

    The texts joined are the whole rendered text, but for messages that would be all white space. Marks that a cut
    goes through end before it and go on after it. ValueError for a limit that leaves no room.
    """
    room = limit - utf16(REPEATED)
    check_limit(room)
    cutter = _Cutter(_page(_clean(text)), room)
    parts = []
    start = 0
    while end := cutter.end(start):
        if part := cutter.part(start, end):
            parts.append(part)
        start = end
    return parts or [Part(EMPTY, "[]")]


def shifted(body: str, units: int) -> str:
    """The entities of a part whose text got `units` UTF-16 units put in front."""
    return json.dumps([entity | {"offset": entity["offset"] + units} for entity in json.loads(body)])


def _clean(text: str) -> str:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    whole = whole.replace("\u2028", "\n").replace("\u2029", "\n\n")  # Telegram drops these two
    return whole.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def _page(text: str) -> Page:
    blocks = parse(text)
    canvas = Canvas()
    if any(map(says, blocks)):
        write(canvas, blocks)
    else:  # a lone `*` or `#` is meant as it stands
        canvas.write(text.strip())
    return canvas.page()


class _Cutter:
    """Cuts a page into parts. Looks at the spans near a part only: an answer may have thousands."""

    def __init__(self, page: Page, room: int) -> None:
        self._page, self._room = page, room
        self._starts = [span.start for span in page.spans]
        self._furthest = list(accumulate((span.end for span in page.spans), max))

    def end(self, start: int) -> int:
        """Where the part that begins at `start` ends; 0 when there is no more text."""
        page = self._page
        if start >= len(page.text):
            return 0
        end = next_cut(page.text, start, self._room, utf16, page.blocks)
        spans = self._within(start, end)
        if len(spans) <= _ENTITIES:
            return end
        return next_cut(page.text, start, self._room, utf16, page.blocks, stop=spans[_ENTITIES].start)

    def part(self, start: int, end: int) -> Part | None:
        """The part, or None where there is nothing to see in it."""
        text = self._page.text
        if is_blank(text[start:end]):
            return None
        return Part(text[start:end], json.dumps([_entity(text, span, start, end) for span in self._within(start, end)]))

    def _within(self, start: int, end: int) -> list[Span]:
        text = self._page.text
        first, last = bisect_right(self._furthest, start), bisect_left(self._starts, end)
        near = (span for span in self._page.spans[first:last] if start < span.end)
        return [span for span in near if text[max(start, span.start) : min(end, span.end)].strip()]


def _entity(text: str, span: Span, start: int, end: int) -> dict[str, str | int]:
    first, last = max(start, span.start), min(end, span.end)
    entity: dict[str, str | int] = {
        "type": span.style.kind,
        "offset": utf16(text[start:first]),
        "length": utf16(text[first:last]),
    }
    extra = {"url": span.style.url, "language": span.style.language}
    return entity | {name: value for name, value in extra.items() if value}
