"""The tree of a Markdown text -> the pieces that Slack's rich text has.

Rich text is data, not a language: no word in it is taken for a mark, a mention or a link, bold stands beside Chinese
without spaces, and lists keep their levels (cases C80, C82).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from channels.markdown import is_blank
from channels.markdown.table import aligned
from channels.markdown.tree import (
    Block,
    Break,
    Code,
    CodeBlock,
    Emphasis,
    Heading,
    Image,
    Inline,
    Link,
    ListBlock,
    Paragraph,
    Quote,
    Rule,
    Strike,
    Strong,
    Table,
    Text,
    plain,
    says,
    with_address,
)

_RULE: Final = "———"
_DEEPEST: Final = 8
_OPENS: Final = re.compile(r"(?:https?://[^/?#\s<>|]|mailto:[^\s<>|]+@)[^\s<>|]{0,2000}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Run:
    """Words in one style; `styles` are of bold, italic, strike, code; `url` makes them a link."""

    text: str
    styles: frozenset[str] = frozenset()
    url: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """What stands by itself: a paragraph, a quote, code, or an item of a list, so deep and with such a number."""

    kind: Literal["section", "quote", "preformatted", "item"]
    runs: tuple[Run, ...]
    indent: int = 0
    number: int | None = None

    @property
    def text(self) -> str:
        """The words of it, with the addresses of links, bullets and numbers."""
        words = "".join(with_address(run.text, run.url) if run.url else run.text for run in self.runs)
        match self.kind:
            case "item":
                return "  " * self.indent + ("• " if self.number is None else f"{self.number}. ") + words
            case "quote":
                return "> " + words
            case _:
                return words


def pieces(blocks: Sequence[Block]) -> Iterator[Piece]:
    """All blocks, in the order of reading. Blocks that say nothing are left out."""
    for block in blocks:
        if isinstance(block, ListBlock | Rule) or says(block):
            yield from _block(block)


def _block(block: Block) -> Iterator[Piece]:
    match block:
        case Paragraph(inlines):
            yield Piece("section", _runs(inlines))
        case Heading(_, inlines):
            yield Piece("section", _runs(inlines, frozenset({"bold"})))
        case CodeBlock(text, _, note):
            if note:
                yield Piece("section", (Run(note),))
            if text:
                yield Piece("preformatted", (Run(text),))
        case Quote(inner):
            yield from map(_quoted, pieces(inner))
        case ListBlock():
            yield from _items(block, 0)
        case Table():
            yield Piece("preformatted", (Run(aligned(block)),))
        case Rule():
            yield Piece("section", (Run(_RULE),))


def _quoted(piece: Piece) -> Piece:
    """Rich text has no list in a quote: its bullets become words. Code stays code."""
    match piece.kind:
        case "preformatted" | "quote":
            return piece
        case "item":
            mark = piece.text[: len(piece.text) - len(replace(piece, indent=0, kind="section").text)]
            return Piece("quote", (Run(mark), *piece.runs))
    return Piece("quote", piece.runs)


def _items(block: ListBlock, indent: int) -> Iterator[Piece]:
    for item in block.items:
        number = re.match(r"\d+", item.number)
        piece = Piece("item", (), min(indent, _DEEPEST), int(number[0]) if number else None)
        is_open = True  # an item ends where code or a list in it begins
        for inner in item.blocks:
            if isinstance(inner, Paragraph | Heading) and is_open:
                gap = (Run("\n"),) if piece.runs else ()
                piece = replace(piece, runs=(*piece.runs, *gap, *(run for part in _block(inner) for run in part.runs)))
                continue
            if is_open:
                yield _filled(piece)
                is_open = False
            yield from _items(inner, indent + 1) if isinstance(inner, ListBlock) else pieces([inner])
        if is_open:
            yield _filled(piece)


def _filled(piece: Piece) -> Piece:
    return piece if piece.runs else replace(piece, runs=(Run(" "),))


def _runs(inlines: Sequence[Inline], styles: frozenset[str] = frozenset(), url: str = "") -> tuple[Run, ...]:
    return tuple(run for inline in inlines for run in _run(inline, styles, url) if run.text)


def _run(inline: Inline, styles: frozenset[str], url: str) -> Iterator[Run]:
    match inline:
        case Text(text):
            yield Run(text, styles, url)
        case Code(text):
            yield Run(text, styles | {"code"}, url)
        case Break():
            yield Run("\n", styles, url)
        case Strong(inlines):
            yield from _runs(inlines, styles | {"bold"}, url)
        case Emphasis(inlines):
            yield from _runs(inlines, styles | {"italic"}, url)
        case Strike(inlines):
            yield from _runs(inlines, styles | {"strike"}, url)
        case Link(target, inlines):
            yield from _link(target, inlines, styles)
        case Image(target, alt):
            yield from _link(target, (Text(alt),), styles)


def _link(target: str, inlines: tuple[Inline, ...], styles: frozenset[str]) -> Iterator[Run]:
    """A link that Slack opens; any other stays text with its address, since one bad url has the message refused."""
    label = plain(inlines)
    shown = (Text(target),) if is_blank(label) else inlines
    if _OPENS.fullmatch(target):
        yield from _runs(shown, styles, target)
        return
    yield from _runs(shown, styles)
    if not is_blank(label):
        yield Run(with_address(label, target).removeprefix(label), styles)
