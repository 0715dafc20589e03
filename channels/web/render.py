"""Markdown to HTML that is safe by construction: the parser knows no raw HTML, and links go to the web or to mail."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from gateway.channel import Part

_BLOCKS = {"paragraph_open", "bullet_list_open", "ordered_list_open", "blockquote_open", "table_open"}
_CELLS = {"th_open", "td_open"}
_DEEPEST = 60


def render(text: str) -> Sequence[Part]:
    """One part, whatever its length: a page has no limit. `body` is `{"html": ...}`."""
    return (Part(text, json.dumps({"html": html(text)})),)


@lru_cache(maxsize=1024)
def html(text: str) -> str:
    """Never raises, and drops nothing that was said. What the model wrote is words, never markup of ours."""
    tokens = _MARKDOWN.parse(text)
    if any(token.level > _DEEPEST - 3 for token in tokens):
        # The parser leaves out what is nested deeper.
        return f'<p dir="auto">{_escaped(text)}</p>\n'.replace("\n", "<br />\n")
    rendered: str = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return rendered


class _Renderer(RendererHTML):
    """As markdown-it's own, with a box around what may be wide, so that only the box scrolls."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        return _code(tokens[idx].info.strip(), tokens[idx].content)

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        return _code("", tokens[idx].content)

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        box = '<div class="wide" role="group" aria-label="Table" tabindex="0">'
        return box + self.renderToken(tokens, idx, options, env)

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        return self.renderToken(tokens, idx, options, env) + "</div>\n"

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """A link to it: a page that loads pictures tells their servers who reads."""
        token = tokens[idx]
        words = _escaped(self.renderInlineAsText(token.children, options, env) or "picture")
        before = [t.type for t in tokens[:idx]]
        if before.count("link_open") > before.count("link_close"):
            return words
        return f'<a href="{_escaped(str(token.attrs["src"]))}" {_LINK}>{words}</a>'


_LINK = 'target="_blank" rel="noopener noreferrer"'


def _code(language: str, content: str) -> str:
    label = f"Code, {language}" if language else "Code"
    name = f'<span class="lang">{_escaped(language)}</span>' if language else ""
    bar = f'<div class="code-bar">{name}<button type="button" class="copy">Copy</button></div>'
    return (
        f'<div class="code" dir="ltr">{bar}'
        f'<pre role="group" aria-label="{_escaped(label)}" tabindex="0"><code>{_escaped(content)}</code></pre></div>\n'
    )


def _shape(state: Any) -> None:
    """Text direction by paragraph, alignment by class (the page's policy allows no styles), headings without gaps."""
    level = 1
    for token in state.tokens:
        if token.type in _BLOCKS | _CELLS or token.type == "heading_open":
            token.attrSet("dir", "auto")
        if token.type in _CELLS and (style := token.attrs.pop("style", None)):
            token.attrSet("class", str(style).replace("text-align:", "align-"))
        if token.type == "heading_open":
            level = min(int(token.tag[1]) + 1, level + 1, 6)
            token.tag = f"h{level}"
        if token.type == "heading_close":
            token.tag = f"h{level}"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("target", "_blank")
                child.attrSet("rel", "noopener noreferrer")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _may_link(url: str) -> bool:
    return url.lower().startswith(("https://", "http://", "mailto:"))


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": _DEEPEST}, renderer_cls=_Renderer)
    # Without a rule for link definitions, `[1]: https://...` at the end of an answer is shown, not swallowed.
    parser.enable(["table", "strikethrough"]).disable("reference")
    parser.validateLink = _may_link  # type: ignore[method-assign]
    parser.core.ruler.push("shape", _shape)
    return parser


_MARKDOWN = _parser()
