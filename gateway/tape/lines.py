"""Reading the lines of a tape's file, from either end, in blocks. Nothing here writes.

Lines end with a line feed and with nothing else: U+2028 and the like are letters of a text.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from gateway.errors import Retryable
from gateway.tape.codec import decode, salvage
from gateway.tape.commit import is_mark, is_open
from gateway.tape.entries import Entry

BLOCK = 1 << 16


class Shrunk(Retryable):
    """The file became shorter while it was read: look at it again."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, or what follows the last line feed. `start` is its place in the file."""

    start: int
    data: bytes
    entry: Entry | None
    damaged: bool


def forward(fd: int, start: int, end: int) -> Iterator[Line]:
    """The lines between two places, oldest first. `start` is the start of a line."""
    pieces: list[bytes] = []
    begun = place = start
    while place < end:
        first, *others = _read(fd, place, min(BLOCK, end - place)).split(b"\n")
        pieces.append(first)
        place += len(first)
        for other in others:
            yield _line(begun, b"".join(pieces))
            place += 1
            begun, pieces = place, [other]
            place += len(other)
    if rest := b"".join(pieces):
        yield _line(begun, rest)


def backward(fd: int, end: int, floor: int = 0) -> Iterator[Line]:
    """The lines between two places, newest first; the very first one is what follows the last line feed, often nothing.

    `floor` is the start of a line.
    """
    pieces: list[bytes] = []
    place = end
    while place > floor:
        start = max(place - BLOCK, floor)
        block = _read(fd, start, place - start)
        cut = len(block)
        while (found := block.rfind(b"\n", 0, cut)) >= 0:
            pieces.append(block[found + 1 : cut])
            yield _line(start + found + 1, b"".join(reversed(pieces)))
            pieces, cut = [], found
        pieces.append(block[:cut])
        place = start
    yield _line(floor, b"".join(reversed(pieces)))


def committed(fd: int, size: int, floor: int = 0) -> int:
    """Where the part of the file ends that counts: before a half line and before half a merge. At least `floor`.

    A whole line without its line feed counts if another program wrote it, and not if it is part of a merge.
    """
    lines = backward(fd, size, floor)
    rest = next(lines)
    if rest.entry and not rest.damaged and not is_open(rest.entry) and not is_mark(rest.entry):
        return size
    cut = rest.start
    for line in lines:
        if line.entry is None:
            continue
        if not is_open(line.entry):
            break
        cut = line.start
    return cut


def first_entry(fd: int, end: int) -> Entry | None:
    """The oldest entry."""
    return next((line.entry for line in forward(fd, 0, end) if line.entry), None)


def highest_id(fd: int, end: int) -> int:
    """The highest id ever given on this tape, 0 if none was.

    Whatever this program writes gets an id above all others: to look back to the last entry of ours is enough.
    """
    highest = 0
    for line in backward(fd, end):
        if line.entry:
            highest = max(highest, line.entry.id)
            if line.entry.meta.turn is not None:
                break
    return highest


def _line(start: int, data: bytes) -> Line:
    if not data.strip():
        return Line(start, data, None, damaged=False)
    if entry := decode(data):
        return Line(start, data, entry, damaged=False)
    return Line(start, data, salvage(data), damaged=True)


def _read(fd: int, start: int, count: int) -> bytes:
    data = os.pread(fd, count, start)
    if len(data) < count:
        raise Shrunk("the file is being changed")
    return data
