"""Writes the tree of a Markdown text on a canvas, in the forms that Telegram has."""

import re
from collections.abc import Sequence
from typing import Final

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
from channels.telegram.canvas import Canvas, Style

_BULLET: Final = "• "
_RULE: Final = "———"
_TAB: Final = 4
_OPENS: Final = re.compile(r"https?://[^/?#\s]|tg://(?!user)[a-z]+\?", re.IGNORECASE)


def write(canvas: Canvas, blocks: Sequence[Block]) -> None:
    """All blocks, a blank line between them."""
    _blocks(canvas, blocks, "", "\n\n", top=True)


def _blocks(canvas: Canvas, blocks: Sequence[Block], indent: str, gap: str, *, top: bool = False) -> None:
    kept = [block for block in blocks if isinstance(block, ListBlock | Rule) or says(block)]
    for at, block in enumerate(kept):
        if at:
            between = "\n" if isinstance(block, ListBlock) and not top else gap
            canvas.gap(between if isinstance(block, CodeBlock | Table) else between + indent, block=top)
        _block(canvas, block, indent)


def _block(canvas: Canvas, block: Block, indent: str) -> None:
    match block:
        case Paragraph(inlines):
            _inlines(canvas, inlines, indent)
        case Heading(_, inlines):
            with canvas.marked(Style("bold")):
                _inlines(canvas, inlines, indent)
        case CodeBlock(text, language, note):
            if note:
                canvas.write(note)
                canvas.gap("\n")
            _pre(canvas, text.expandtabs(_TAB), language)  # the server makes one space of a tab
        case Quote(blocks):
            _quote(canvas, blocks, indent)
        case ListBlock():
            _list(canvas, block, indent)
        case Table():
            _pre(canvas, aligned(block))
        case Rule():
            canvas.write(_RULE)


def _pre(canvas: Canvas, text: str, language: str = "") -> None:
    with canvas.marked(Style("pre", language=language)):
        canvas.write(text)


def _quote(canvas: Canvas, blocks: Sequence[Block], indent: str) -> None:
    if canvas.is_inside("blockquote"):  # they cannot be nested
        canvas.write("> ")
        _blocks(canvas, blocks, indent + "> ", "\n")
        return
    with canvas.marked(Style("blockquote")):
        _blocks(canvas, blocks, indent, "\n\n")


def _list(canvas: Canvas, block: ListBlock, indent: str) -> None:
    gap = "\n" if block.tight else "\n\n"
    for at, item in enumerate(block.items):
        if at:
            canvas.gap(gap + indent)
        canvas.write(f"{item.number} " if item.number else _BULLET)
        if item.blocks and isinstance(item.blocks[0], CodeBlock | Table | Quote):
            canvas.gap("\n")
        _blocks(canvas, item.blocks, indent + ("   " if item.number else "  "), gap)


def _inlines(canvas: Canvas, inlines: Sequence[Inline], indent: str) -> None:
    for inline in inlines:
        _inline(canvas, inline, indent)


def _inline(canvas: Canvas, inline: Inline, indent: str) -> None:
    match inline:
        case Text(text):
            canvas.write(text)
        case Code(text):
            _code(canvas, text)
        case Break():
            canvas.write("\n" + indent)
        case Strong(inlines):
            with canvas.marked(Style("bold")):
                _inlines(canvas, inlines, indent)
        case Emphasis(inlines):
            with canvas.marked(Style("italic")):
                _inlines(canvas, inlines, indent)
        case Strike(inlines):
            with canvas.marked(Style("strikethrough")):
                _inlines(canvas, inlines, indent)
        case Link(url, inlines):
            _link(canvas, url, inlines, indent)
        case Image(url, alt):
            _link(canvas, url, (Text(alt),), indent)


def _code(canvas: Canvas, text: str) -> None:
    if canvas.is_inside("text_link"):  # neither may contain the other
        canvas.write(text)
        return
    with canvas.marked(Style("code")):
        canvas.write(text)


def _link(canvas: Canvas, url: str, inlines: tuple[Inline, ...], indent: str) -> None:
    """A link that opens on a tap; one that would do something else (`tg://user` pings) stays text with its address."""
    label = plain(inlines)
    shown = (Text(url),) if is_blank(label) else inlines
    if _OPENS.match(url):
        with canvas.marked(Style("text_link", url=url)):
            _inlines(canvas, shown, indent)
        return
    _inlines(canvas, shown, indent)
    canvas.write("" if is_blank(label) else with_address(label, url).removeprefix(label))
