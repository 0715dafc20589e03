"""The tree of a Markdown text: what a channel's `render` meets by `match`."""

from dataclasses import dataclass
from typing import Literal

from channels.markdown.blank import is_blank


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Code:
    text: str


@dataclass(frozen=True, slots=True)
class Break:
    """A line break inside a paragraph; `hard`: the author asked for it."""

    hard: bool = False


@dataclass(frozen=True, slots=True)
class Strong:
    inlines: tuple["Inline", ...]


@dataclass(frozen=True, slots=True)
class Emphasis:
    inlines: tuple["Inline", ...]


@dataclass(frozen=True, slots=True)
class Strike:
    inlines: tuple["Inline", ...]


@dataclass(frozen=True, slots=True)
class Link:
    url: str
    inlines: tuple["Inline", ...]


@dataclass(frozen=True, slots=True)
class Image:
    url: str
    alt: str


Inline = Text | Code | Break | Strong | Emphasis | Strike | Link | Image


@dataclass(frozen=True, slots=True)
class Paragraph:
    inlines: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    inlines: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """`note`: what the opening line says beside the language, so that it is not lost."""

    text: str
    language: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Item:
    """`number` is empty for a bullet, else the number and its mark: `3.` or `3)`."""

    number: str
    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class ListBlock:
    """`tight`: the author left no blank lines between the items."""

    items: tuple[Item, ...]
    tight: bool


Align = Literal["", "left", "center", "right"]
Cell = tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """All rows have as many cells as `aligns`; the first row is the head."""

    aligns: tuple[Align, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    pass


Block = Paragraph | Heading | CodeBlock | Quote | ListBlock | Table | Rule


def plain(inlines: tuple[Inline, ...]) -> str:
    """The words alone, on one line; a link's address follows its label."""
    return "".join(map(_plain, inlines))


def _plain(inline: Inline) -> str:
    match inline:
        case Text(text) | Code(text):
            return text
        case Break():
            return " "
        case Strong(inlines) | Emphasis(inlines) | Strike(inlines):
            return plain(inlines)
        case Link(url, inlines):
            return with_address(plain(inlines), url)
        case Image(url, alt):
            return with_address(alt, url)


def with_address(label: str, url: str) -> str:
    """`label (url)`, or one of them where the other adds nothing."""
    if not label.strip():
        return url
    return label if label in (url, url.removeprefix("mailto:")) or not url else f"{label} ({url})"


def says(block: Block) -> bool:
    """Whether there is anything to read in it, beside its own marks."""
    match block:
        case Paragraph(inlines) | Heading(_, inlines):
            return not is_blank(plain(inlines))
        case CodeBlock(text, _, note):
            return not (is_blank(text) and is_blank(note))
        case Quote(blocks):
            return any(map(says, blocks))
        case ListBlock(items):
            return any(says(inner) for item in items for inner in item.blocks)
        case Table(_, rows):
            return any(not is_blank(plain(cell)) for row in rows for cell in row)
        case Rule():
            return False
