"""Cuts Markdown source into messages, each of which is well-formed Markdown of its own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from channels.markdown.blank import is_blank
from channels.markdown.splitter import Measure, check_limit, next_cut

_OPENER: Final = re.compile(
    r"^(?P<prefix>[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)?)(?P<marker>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>[^\n]*)$"
)
_CLOSER: Final = re.compile(r"^[ \t>]*(`{3,}|~{3,})\s*$")
_LIST_MARK: Final = re.compile(r"[^ \t>]")


@dataclass(frozen=True, slots=True)
class _Fence:
    """One fenced block of the source: where its lines begin and end, and what opens and closes it again."""

    start: int
    body: int
    close: int
    end: int
    prefix: str
    marker: str
    info: str

    def opener(self, limit: int, measure: Measure) -> str:
        """What opens it again in the next message: bare when its info would take too much of the limit."""
        for line in (f"{self.prefix}{self.marker}{self.info}\n", f"{self.prefix}{self.marker}\n"):
            if measure(line) <= limit // 4:
                return line
        return ""

    def closer(self, limit: int, measure: Measure, text: str) -> str:
        """What closes it after `text`; nothing where it cannot be opened again."""
        if not self.opener(limit, measure):
            return ""
        return ("" if text.endswith("\n") else "\n") + self.prefix + self.marker


def split(text: str, limit: int, measure: Measure = len) -> list[str]:
    """The text in messages of at most `limit` units each, cut at blocks, paragraphs, lines, words or graphemes.

    A code fence that a cut goes through is closed before it and opened again after it, with its language, or bare
    where the opening line is too long. Without those lines the messages joined are the text; only messages that
    would show nothing are left out. Room for the added lines is inside the limit. ValueError for a limit below
    MINIMUM.
    """
    check_limit(limit)
    fences = _fences(text)
    best = _between_blocks(text, fences)
    messages = []
    at, open_fence = 0, None
    while at < len(text):
        head = open_fence.opener(limit, measure) if open_fence else ""
        room, reserve = limit - measure(head), 0
        while True:
            end, fence = _settle(next_cut(text, at, room - reserve, measure, best), at, fences)
            tail = fence.closer(limit, measure, text[at:end]) if fence and end < len(text) else ""
            if measure(tail) <= reserve:
                break
            reserve = measure(tail)
        if not is_blank(text[at:end]):
            messages.append(head + text[at:end] + tail)
        # The author's closing line would open a block of its own after ours.
        at, open_fence = (fence.end, None) if fence and tail and end == fence.close else (end, fence)
    return messages


def _settle(end: int, at: int, fences: Sequence[_Fence]) -> tuple[int, _Fence | None]:
    """The cut, moved off a fence's own lines where that leaves progress, and the fence it goes through."""
    fence = next((fence for fence in fences if fence.start < end < fence.end), None)
    if fence is None:
        return end, None
    if end <= fence.body and fence.start > at:
        return fence.start, None
    if end > fence.close > at:
        return fence.close, fence
    return end, fence


def _fences(text: str) -> list[_Fence]:
    found: list[_Fence] = []
    opened: tuple[int, int, re.Match[str]] | None = None
    at = 0
    for line in text.split("\n"):
        end = at + len(line) + 1
        if opened is None:
            if match := _OPENER.match(line):
                opened = at, end, match
        elif _closes(line, opened[2]["marker"]):
            found.append(_fence(opened, at, end))
            opened = None
        at = end
    if opened is not None:
        found.append(_fence(opened, len(text), len(text) + 1))
    return found


def _closes(line: str, marker: str) -> bool:
    match = _CLOSER.match(line)
    return match is not None and match[1][0] == marker[0] and len(match[1]) >= len(marker)


def _fence(opened: tuple[int, int, re.Match[str]], close: int, end: int) -> _Fence:
    start, body, match = opened
    prefix = _LIST_MARK.sub(" ", match["prefix"])
    return _Fence(start, body, close, end, prefix, match["marker"], match["info"])


def _between_blocks(text: str, fences: Sequence[_Fence]) -> list[int]:
    breaks = {found.end() for found in re.finditer(r"\n\n+", text)}
    inside = {at for at in breaks for fence in fences if fence.start < at < fence.end}
    return sorted((breaks - inside) | {fence.start for fence in fences} - {0})
