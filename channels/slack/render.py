"""A model's Markdown -> messages of Slack: rich text, and the same in plain words for notifications (facts 3.1)."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Final

from channels.markdown import check_limit, is_blank, next_cut, parse
from channels.markdown.tree import says
from channels.slack.writer import Piece, Run, pieces
from gateway.channel import Part

LIMIT: Final = 3800
"""Characters of a message's text, written as Slack wants it. Above 4000 Slack cuts where it likes; the unit of its
count is not documented for all scripts, so that this stays 5 % under."""

REPEATED: Final = "(possibly repeated) "
"""Stands before a copy of a part that may have arrived already; room for it is inside LIMIT."""

EMPTY: Final = "(empty reply)"

_PINGS: Final = re.compile(r"<(?=!(?:channel|here|everyone|group|subteam\^)|@[UW][A-Z0-9])")
_CONTROLS: Final = {code: " " for code in range(0x20) if code not in (0x09, 0x0A)} | {0x7F: " ", 0: "\ufffd"}


def render(text: str, limit: int = LIMIT) -> list[Part]:
    """The messages of one reply, in order. Never empty, no message blank, each within the limit, REPEATED included.

    Together they hold every word. Marks that a cut goes through end before it and go on after it. ValueError for a
    limit that leaves no room.
    """
    room = limit - len(REPEATED)
    check_limit(room)
    source = _clean(text)
    blocks = parse(source)
    found = pieces(blocks) if any(map(says, blocks)) else iter([Piece("section", (Run(source.strip()),))])
    return [_part(group) for group in _groups(map(_muted, found), room)] or [_part([Piece("section", (Run(EMPTY),))])]


def escaped(text: str) -> str:
    """As Slack wants a text that is to show what it says: no mark, no mention, no link (facts 3.4)."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _clean(text: str) -> str:
    """Whole characters, plain lines."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    whole = whole.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n\n")
    return whole.translate(_CONTROLS)


def _muted(piece: Piece) -> Piece:
    """With a space of no width in what Slack could take for a mention; code stays as it is (case C82).

    Neither rich text nor an escaped text mentions anybody: this is for the day when one of them is read otherwise.
    """
    if piece.kind == "preformatted":
        return piece
    return replace(piece, runs=tuple(run if "code" in run.styles else _mute(run) for run in piece.runs))


def _mute(run: Run) -> Run:
    return replace(run, text=_PINGS.sub("<\u200b", run.text))


def _groups(found: Iterable[Piece], room: int) -> Iterator[list[Piece]]:
    """The pieces of each message: as many as have room, and what is longer than a message is cut."""
    group: list[Piece] = []
    left = room
    for piece in found:
        while _cost(piece) > left:
            # A piece is cut only where a message alone cannot hold it, and begins in this one where that is half free.
            if group and (_cost(piece) <= room or left < room // 2):
                yield group
                group, left = [], room
                continue
            first, piece = _cut(piece, left)
            if shown := [*group, *([] if _shows_nothing(first) else [first])]:
                yield shown
            group, left = [], room
        if not _shows_nothing(piece):
            group.append(piece)
            left -= _cost(piece)
    if group:
        yield group


def _shows_nothing(piece: Piece) -> bool:
    return not piece.runs or (piece.kind != "item" and is_blank(piece.text))


def _cost(piece: Piece) -> int:
    return len(escaped(piece.text)) + len("\n\n")


def _cut(piece: Piece, room: int) -> tuple[Piece, Piece]:
    """What of a piece has room, and the rest. Addresses of links take room too, so the first guess may be too much."""
    text = "".join(run.text for run in piece.runs)
    reach = room
    while True:
        at = next_cut(text, 0, reach, lambda words: len(escaped(words)))
        first = replace(piece, runs=tuple(_slice(piece.runs, 0, at)))
        if _cost(first) <= room or at == 1:
            return first, replace(piece, runs=tuple(_slice(piece.runs, at, len(text))))
        reach = max(1, min(reach, at) // 2)


def _slice(runs: Sequence[Run], start: int, end: int) -> Iterator[Run]:
    at = 0
    for run in runs:
        if words := run.text[max(0, start - at) : max(0, end - at)]:
            yield replace(run, text=words)
        at += len(run.text)


def _part(group: Sequence[Piece]) -> Part:
    text = group[0].text
    for before, piece in pairwise(group):
        text += ("\n" if before.kind == piece.kind == "item" else "\n\n") + piece.text
    return Part(text, json.dumps([*_elements(group)], ensure_ascii=False))


def _elements(group: Sequence[Piece]) -> Iterator[dict[str, object]]:
    """The elements of one rich text block: neighbours of a kind stand in one."""
    for _, same in groupby(_listed(group), key=lambda pair: pair[0]):
        found = [piece for _, piece in same]
        match found[0]:
            case Piece("item", _, indent, number):
                items = [{"type": "rich_text_section", "elements": _inlines(piece.runs)} for piece in found]
                style = {"style": "bullet"} if number is None else {"style": "ordered", "offset": max(0, number - 1)}
                yield {"type": "rich_text_list", **style, "indent": indent, "elements": items}
            case Piece("preformatted"):
                yield {"type": "rich_text_preformatted", "elements": _inlines(found[0].runs)}
            case first:
                runs = [run for at, piece in enumerate(found) for run in ((Run("\n\n"),) * bool(at) + piece.runs)]
                yield {"type": f"rich_text_{first.kind}", "elements": _inlines(runs)}


def _listed(group: Sequence[Piece]) -> Iterator[tuple[object, Piece]]:
    """Each piece with what it shares with those that stand in one element with it."""
    for at, piece in enumerate(group):
        match piece:
            case Piece("item", _, indent, int(number)):
                yield ("item", indent, number - at), piece  # numbers that rise in step are one list
            case Piece("item", _, indent):
                yield ("item", indent), piece
            case Piece("preformatted"):
                yield ("preformatted", at), piece
            case _:
                yield (piece.kind,), piece


def _inlines(runs: Iterable[Run]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for (styles, url), same in groupby(runs, key=lambda run: (run.styles, run.url)):
        text = "".join(run.text for run in same)
        element: dict[str, object] = {"type": "link", "url": url} if url else {"type": "text"}
        style = {"style": dict.fromkeys(sorted(styles), True)} if styles else {}
        found.append(element | {"text": text} | style)
    return found
