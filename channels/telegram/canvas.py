"""A text being written with its marks, and what Telegram makes of the marks: entities (facts 1.9)."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

_SPLITTABLE: Final = frozenset({"bold", "italic", "strikethrough"})
_CODE: Final = frozenset({"code", "pre"})
_CONTROLS: Final = {**{code: " " for code in range(0x20) if code != 0x0A}, 0x7F: " ", 0: "\ufffd"}
_MENTION: Final = re.compile(r"(?<![A-Za-z0-9_])@(?=[A-Za-z0-9_])")
_ADDRESS: Final = re.compile(r"https?://[A-Za-z0-9.-]+\.[A-Za-z]{2,}(?::\d+)?/[\w/%.~+=&?#:;@-]*")
_ZWSP: Final = "\u200b"


@dataclass(frozen=True, slots=True)
class Style:
    """A kind of entity (`bold`, `pre`, ...), with the url of a `text_link` or the language of a `pre`."""

    kind: str
    url: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A styled stretch, in code points."""

    start: int
    end: int
    style: Style


@dataclass(frozen=True, slots=True)
class Page:
    """A whole rendered text: spans are nested or apart, `blocks` are the positions where a new block begins."""

    text: str
    spans: tuple[Span, ...] = ()
    blocks: tuple[int, ...] = ()


class Canvas:
    """Takes text and marks in the order of reading; `page` is the result."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._gap = ""
        self._gap_is_block = False
        self._spans: list[Span] = []
        self._blocks: list[int] = []
        self._open: list[Style] = []

    def gap(self, text: str, *, block: bool = False) -> None:
        """What separates what was written from what comes next; nothing at the start, and the latest call counts."""
        self._gap, self._gap_is_block = (text, block) if self._length else ("", False)

    def write(self, text: str) -> None:
        """Text as it is; control characters become what Telegram would make of them: spaces (NUL: U+FFFD)."""
        if not text:
            return
        self._flush()
        self._put(text.translate(_CONTROLS))

    def is_inside(self, kind: str) -> bool:
        """Whether what is written now has such a mark."""
        return any(style.kind == kind for style in self._open)

    @contextmanager
    def marked(self, style: Style) -> Iterator[None]:
        """Marks what is written inside. A kind within its own kind is one mark."""
        if self.is_inside(style.kind):
            yield
            return
        self._flush()
        start, place = self._length, len(self._spans)
        self._spans.append(Span(start, start, style))  # before those inside, which may cover the same
        self._open.append(style)
        yield
        self._open.pop()
        self._spans[place] = Span(start, self._length, style)

    def page(self) -> Page:
        """What was written: without white space at the end, code free of other marks, and nobody mentioned."""
        text = "".join(self._pieces).rstrip()
        spans = [replace(span, end=min(span.end, len(text))) for span in self._spans]
        code = sorted((span for span in spans if span.style.kind in _CODE), key=lambda span: span.start)
        pieces = [piece for span in spans for piece in _around_code(span, code) if piece.start < piece.end]
        pieces.sort(key=lambda span: (span.start, -span.end))
        return _mute(Page(text, tuple(pieces), tuple(self._blocks)), code)

    def _flush(self) -> None:
        gap, is_block, self._gap, self._gap_is_block = self._gap, self._gap_is_block, "", False
        if gap:
            self._put(gap)
        if is_block:
            self._blocks.append(self._length)

    def _put(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)


def _around_code(span: Span, code: Sequence[Span]) -> Iterator[Span]:
    """Bold and the like neither hold code nor stand in it: they end before it and go on after it."""
    start = span.start
    if span.style.kind in _SPLITTABLE:
        first, last = (bisect_left(code, at, key=lambda piece: piece.start) for at in (span.start, span.end))
        for piece in code[first:last]:
            yield replace(span, start=start, end=piece.start)
            start = piece.end
    yield replace(span, start=start)


def _mute(page: Page, code: Sequence[Span]) -> Page:
    """Breaks every `@name` outside code with a zero-width space: Telegram has no other way to ping nobody (facts 1.5).

    E-mail addresses are no mentions; neither is an @ inside the path of a web address, which must stay whole.
    """
    addresses = [found.span() for found in _ADDRESS.finditer(page.text)]
    codes = [(span.start, span.end) for span in code]
    mentions = (found.end() for found in _MENTION.finditer(page.text))
    at = [name for name in mentions if not (_is_within(name, addresses) or _is_within(name, codes))]
    if not at:
        return page
    edges = [0, *at, len(page.text)]
    text = _ZWSP.join(page.text[start:end] for start, end in pairwise(edges))
    spans = (
        replace(span, start=span.start + bisect_left(at, span.start), end=span.end + bisect_left(at, span.end))
        for span in page.spans
    )
    return Page(text, tuple(spans), tuple(block + bisect_left(at, block) for block in page.blocks))


def _is_within(name: int, ranges: Sequence[tuple[int, int]]) -> bool:
    """Whether a name and the @ before it stand in one of these sorted ranges, none of which overlap."""
    at = bisect_left(ranges, (name, 0))
    return at > 0 and name < ranges[at - 1][1]
