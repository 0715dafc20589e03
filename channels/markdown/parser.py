"""Markdown text -> tree: CommonMark with tables and strikethrough, no HTML (`List<int>` is text)."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Final, cast

from markdown_it import MarkdownIt
from markdown_it.rules_block.table import escapedSplit
from markdown_it.tree import SyntaxTreeNode

from channels.markdown.tree import (
    Align,
    Block,
    Break,
    Cell,
    Code,
    CodeBlock,
    Emphasis,
    Heading,
    Image,
    Inline,
    Item,
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
)

_DEEPEST: Final = 60
_LANGUAGE: Final = re.compile(r"[\w.+#-]{1,40}")
_CONTAINER_PREFIX: Final = re.compile(r"[\s>]*")


def parse(text: str) -> tuple[Block, ...]:
    """The blocks of a Markdown text. Every word of it is somewhere in them.

    What CommonMark would drop stays: link definitions are text, a fence's info string is a note, cells beyond a
    table's head join the last cell, numbers of a list are those written, nesting past any use makes the whole plain.
    """
    markdown = _markdown()
    tokens = markdown.parse(text)
    if any(token.level > _DEEPEST - 3 for token in tokens):  # markdown-it drops what is nested deeper
        return (Paragraph((Text(text),)),)
    source = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return _blocks(SyntaxTreeNode(tokens).children, _Source(markdown, source))


@cache
def _markdown() -> MarkdownIt:
    # Without a rule for link definitions, `[1]: https://...` at the end of an answer is shown, not swallowed.
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST})
    return markdown.enable(["table", "strikethrough"]).disable("reference")


class _Source:
    """The lines a tree came from, for what markdown-it leaves out of it."""

    def __init__(self, markdown: MarkdownIt, lines: list[str]) -> None:
        self._markdown = markdown
        self._lines = lines

    def cells_beyond(self, row: SyntaxTreeNode, width: int) -> list[Cell]:
        if row.map is None:
            return []
        cells = escapedSplit(_CONTAINER_PREFIX.sub("", self._lines[row.map[0]], count=1).rstrip())
        cells = cells[1:] if cells[:1] == [""] else cells
        cells = cells[:-1] if cells[-1:] == [""] else cells
        return [self._inlines(cell.strip()) for cell in cells[width:]]

    def _inlines(self, text: str) -> Cell:
        return _inlines(SyntaxTreeNode(self._markdown.parseInline(text)).children)


def _blocks(nodes: Iterable[SyntaxTreeNode], source: _Source) -> tuple[Block, ...]:
    return tuple(_block(node, source) for node in nodes)


def _block(node: SyntaxTreeNode, source: _Source) -> Block:
    match node.type:
        case "heading":
            return Heading(int(node.tag[1]), _inlines(node.children))
        case "fence":
            return _fence(node)
        case "code_block":
            return CodeBlock(node.content.removesuffix("\n"))
        case "blockquote":
            return Quote(_blocks(node.children, source))
        case "bullet_list" | "ordered_list":
            return _list(node, source)
        case "table":
            return _table(node, source)
        case "hr":
            return Rule()
        case _:
            return Paragraph(_inlines(node.children))


def _fence(node: SyntaxTreeNode) -> CodeBlock:
    word, _, rest = node.info.strip().partition(" ")
    language = word if _LANGUAGE.fullmatch(word) else ""
    return CodeBlock(node.content.removesuffix("\n"), language, rest.strip() if language else node.info.strip())


def _list(node: SyntaxTreeNode, source: _Source) -> ListBlock:
    numbers = [child.info for child in node.children]
    if node.type == "ordered_list" and len(set(numbers)) == 1:  # `1. 1. 1.` asks to be counted
        numbers = [str(int(numbers[0]) + at) for at in range(len(numbers))]
    items = tuple(
        Item(f"{number}{child.markup}" if number else "", _blocks(child.children, source))
        for number, child in zip(numbers, node.children, strict=True)
    )
    return ListBlock(items, not any(_is_loose(child) for child in node.children))


def _is_loose(item: SyntaxTreeNode) -> bool:
    return any(child.type == "paragraph" and not child.hidden for child in item.children)


def _table(node: SyntaxTreeNode, source: _Source) -> Table:
    rows = [row for group in node.children for row in group.children]
    aligns = tuple(_align(cell) for cell in rows[0].children)
    return Table(aligns, tuple(_row(row, len(aligns), source) for row in rows))


def _align(cell: SyntaxTreeNode) -> Align:
    return cast(Align, str(cell.attrs.get("style", "")).removeprefix("text-align:"))


def _row(row: SyntaxTreeNode, width: int, source: _Source) -> tuple[Cell, ...]:
    cells = [_inlines(cell.children) for cell in row.children]
    for extra in source.cells_beyond(row, width):
        if plain(extra):
            cells[-1] += (Text(" | "), *extra)
    return tuple(cells)


def _inlines(nodes: Iterable[SyntaxTreeNode]) -> tuple[Inline, ...]:
    return tuple(inline for node in nodes for inline in _inline(node))


def _inline(node: SyntaxTreeNode) -> tuple[Inline, ...]:
    match node.type:
        case "inline":
            return _inlines(node.children)
        case "code_inline":
            return (Code(node.content),)
        case "softbreak" | "hardbreak":
            return (Break(node.type == "hardbreak"),)
        case "strong":
            return (Strong(_inlines(node.children)),)
        case "em":
            return (Emphasis(_inlines(node.children)),)
        case "s":
            return (Strike(_inlines(node.children)),)
        case "link":
            return (Link(str(node.attrs.get("href", "")), _inlines(node.children)),)
        case "image":
            return (Image(str(node.attrs.get("src", "")), plain(_inlines(node.children))),)
        case _:
            return (Text(node.content),) if node.content else ()
