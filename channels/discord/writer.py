"""Writes the tree of a Markdown text in Discord's dialect; what only looks like a mark gets a backslash."""

import re
from collections.abc import Iterable, Sequence
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

_RULE: Final = "———"
_LEVELS: Final = 3  # of headings
_ZWSP: Final = "\u200b"

_ADDRESS: Final = re.compile(r"https?://[^\s<>]+")
_MARKS: Final = re.compile(r"[\\*`]|([~|])(?=\1)|(?<=~)~|(?<=\|)\||(?<![^\W_])_|_(?![^\W_])")
_LINE_MARKS: Final = re.compile(r"^([ \t]*)(#{1,3} |>{1,3} |- |-# |\d+\. )", re.MULTILINE)
_OPENS: Final = re.compile(r"https?://[^/?#\s]", re.IGNORECASE)


def write(blocks: Sequence[Block]) -> str:
    """All blocks, a blank line between them."""
    return _blocks(blocks, "\n\n")


def _blocks(blocks: Sequence[Block], gap: str) -> str:
    return gap.join(_block(block) for block in blocks if isinstance(block, ListBlock | Rule) or says(block))


def _block(block: Block) -> str:
    match block:
        case Paragraph(inlines):
            return _paragraph(inlines)
        case Heading(level, inlines):
            return _heading(level, inlines)
        case CodeBlock(text, language, note):
            return "\n".join(filter(None, (_escaped(note), _fenced(text, language))))
        case Quote(inner):
            return "\n".join(f"> {line}" for line in _blocks(inner, "\n\n").split("\n"))
        case ListBlock():
            return _list(block)
        case Table():
            return _fenced(aligned(block))
        case Rule():
            return _RULE


def _paragraph(inlines: Sequence[Inline]) -> str:
    return _LINE_MARKS.sub(_unmarked, _inlines(inlines, frozenset()))


def _unmarked(found: re.Match[str]) -> str:
    """A line that only looks like a heading, a quote or a list: whoever wrote Markdown took care that it is none."""
    mark = found[2]
    at = mark.index(".") if mark[0].isdigit() else 0
    return f"{found[1]}{mark[:at]}\\{mark[at:]}"


def _heading(level: int, inlines: Sequence[Inline]) -> str:
    words = _inlines(inlines, frozenset()).replace("\n", " ")
    if level <= _LEVELS:
        return f"{'#' * level} {words}"
    return _around("**", _inlines(inlines, frozenset({"**"})).replace("\n", " "))


def _fenced(text: str, language: str = "") -> str:
    """Discord ends a block at the first three backticks, however many opened it."""
    body = text.replace("```", f"`{_ZWSP}`{_ZWSP}`")
    return f"```{language}\n{body}\n```"


def _list(block: ListBlock) -> str:
    return ("\n" if block.tight else "\n\n").join(_item(item.number, item.blocks, block.tight) for item in block.items)


def _item(number: str, blocks: Sequence[Block], tight: bool) -> str:
    mark = f"{number} " if number else "- "
    indent, text = " " * len(mark), mark
    for at, block in enumerate(block for block in blocks if isinstance(block, ListBlock | Rule) or says(block)):
        if at:
            text += "\n" if tight or isinstance(block, ListBlock) else "\n\n"
        if isinstance(block, CodeBlock | Table):  # Discord knows a block of code at the start of a line alone
            text += ("\n" if not at else "") + _block(block)
        else:
            text += _indented(_block(block), indent if at else "", indent)
    return text


def _indented(text: str, first: str, others: str) -> str:
    head, *rest = text.split("\n")
    return "\n".join([first + head, *(others + line if line else line for line in rest)])


def _inlines(inlines: Iterable[Inline], inside: frozenset[str]) -> str:
    return "".join(_inline(inline, inside) for inline in inlines)


def _inline(inline: Inline, inside: frozenset[str]) -> str:
    match inline:
        case Text(text):
            return _escaped(text)
        case Code(text):
            return _code(text)
        case Break():
            return "\n"
        case Strong(inner):
            return _marked("**", inner, inside)
        case Emphasis(inner):
            return _marked("*", inner, inside)
        case Strike(inner):
            return _marked("~~", inner, inside)
        case Link(url, inner):
            return _link(url, plain(inner), _inlines(inner, inside))
        case Image(url, alt):
            return _link(url, alt, _escaped(alt))


def _marked(mark: str, inlines: Sequence[Inline], inside: frozenset[str]) -> str:
    """A mark within the same mark would end it."""
    words = _inlines(inlines, inside | {mark})
    return words if mark in inside else _around(mark, words)


def _around(mark: str, words: str) -> str:
    return words if is_blank(words) else f"{mark}{words}{mark}"


def _code(text: str) -> str:
    if "`" not in text:
        return f"`{text}`"
    return f"`` {text.replace('``', f'`{_ZWSP}`')} ``"


def _link(url: str, label: str, words: str) -> str:
    """A link with words on it; one that opens nothing on a tap stays text with its address."""
    if label in (url, url.removeprefix("mailto:")) or is_blank(label):
        return url.removeprefix("mailto:")
    if _OPENS.match(url) and not re.search(r"[\[\]]", label):
        return f"[{words}]({url.replace('(', '%28').replace(')', '%29')})"
    return words + _escaped(with_address(label, url).removeprefix(label))


def _escaped(text: str) -> str:
    """The text as it is, on Discord's screen. Web addresses work only without backslashes."""
    pieces, at = [], 0
    for address in _ADDRESS.finditer(text):
        pieces += [_MARKS.sub(r"\\\g<0>", text[at : address.start()]), address[0]]
        at = address.end()
    return "".join([*pieces, _MARKS.sub(r"\\\g<0>", text[at:])])
