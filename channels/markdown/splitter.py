"""Where a text may be cut so that each piece is within a limit: pure, in any unit, always going forward."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from channels.markdown.blank import is_blank, is_visible
from channels.markdown.grapheme import joined

Measure = Callable[[str], int]
"""The length of a text in a platform's unit: additive, 1 to 4 for a character (`len`, `utf16`, UTF-8 bytes)."""

MINIMUM: Final = 32
"""The smallest limit that leaves room for markers and progress; a smaller one is a mistake in the caller."""

_PARAGRAPH: Final = re.compile(r"\n\n+")
_LINE: Final = re.compile(r"\n")
_WORD: Final = re.compile(r"\s+|[\u3001\u3002\uff0c\uff01\uff1f\uff1b\uff1a]")


def utf16(text: str) -> int:
    """Length in UTF-16 code units."""
    return len(text) + sum(character > "\uffff" for character in text)


def check_limit(limit: int) -> None:
    """ValueError for a limit below MINIMUM: it would never end, or cut everything to crumbs."""
    if limit < MINIMUM:
        raise ValueError(f"a limit of {limit} leaves no room; the least is {MINIMUM}")


def cuts(text: str, limit: int, measure: Measure = len, best: Sequence[int] = ()) -> list[tuple[int, int]]:
    """The text as (start, end) of pieces, each within the limit and none blank.

    Together they hold the whole text, but for pieces that would show nothing (a run of white space longer than a
    piece). ValueError for a limit below MINIMUM.
    """
    check_limit(limit)
    pieces = []
    start = 0
    while start < len(text):
        end = next_cut(text, start, limit, measure, best)
        if not is_blank(text[start:end]):
            pieces.append((start, end))
        start = end
    return pieces


def next_cut(
    text: str, start: int, limit: int, measure: Measure = len, best: Sequence[int] = (), stop: int | None = None
) -> int:
    """Where the piece that begins at `start` ends: at most `limit` units on, and not past `stop`.

    Looks for the last of `best` (sorted positions between blocks), else paragraph, line, word; first in the second
    half of the piece, so that pieces are not needlessly short, then in the first. Else between two graphemes; only
    a grapheme that is longer than a piece is cut through, between code points. White space stays with the piece
    before the cut.
    """
    end = min(_reach(text, start, limit, measure), len(text) if stop is None else max(stop, start + 1))
    if end == len(text):
        return end
    first = next((at for at in range(start, end) if is_visible(text[at])), end)
    for floor in (max(first, start + (end - start) // 2), first):
        if (at := _last_of(best, floor, end)) is not None:
            return at
        for pattern in (_PARAGRAPH, _LINE, _WORD):
            if (at := _last_match(pattern, text, floor, end)) is not None:
                return at
    return _between_graphemes(text, start, end)


def _reach(text: str, start: int, limit: int, measure: Measure) -> int:
    low, high = start + 1, min(len(text), start + limit)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[start:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def _last_of(positions: Sequence[int], floor: int, end: int) -> int | None:
    at = bisect_right(positions, end)
    return positions[at - 1] if at and positions[at - 1] > floor else None


def _last_match(pattern: re.Pattern[str], text: str, floor: int, end: int) -> int | None:
    ends = (found.end() for found in pattern.finditer(text, floor, end))
    return max((at for at in ends if at > floor and not joined(text, at)), default=None)


def _between_graphemes(text: str, start: int, end: int) -> int:
    at = end
    while at > start and joined(text, at):
        at -= 1
    return at if at > start else end
