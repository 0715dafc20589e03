import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.web.render import html, render

TAGS = {
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "p",
    "ul",
    "ol",
    "li",
    "blockquote",
    "pre",
    "code",
    "em",
    "strong",
    "s",
    "a",
    "br",
}
TAGS |= {"s", "br", "hr", "table", "thead", "tbody", "tr", "th", "td", "div", "span", "button"}
ATTRIBUTES = {"dir", "class", "role", "aria-label", "tabindex", "type", "href", "target", "rel", "title", "start"}
ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](java&#115;cript:alert(1))",
    "[a](  javascript:alert(1))",
    "[a](vbscript:x)",
    "[a](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[a](file:///etc/passwd)",
    "[a](/api/history)",
    "[a](//evil.example)",
    "<javascript:alert(1)>",
    "![a](javascript:alert(1))",
    "![a](data:image/svg+xml;base64,AAAA)",
    '![a"onerror="alert(1)](https://x.example/" onerror="alert(1))',
    '[a](https://x.example "onmouseover=alert(1)")',
    "[a]: javascript:alert(1)\n\n[a]",
    '```"><script>alert(1)</script>\nx\n```',
    "`<script>alert(1)</script>`",
    "    <script>alert(1)</script>",
    '| <img src=x onerror=alert(1)> |\n|--|\n| <b onclick="x">y</b> |',
    "<!-- --><style>*{display:none}</style>",
    '<a href="https://x.example" onclick="x">a</a>',
    "[<img src=x onerror=alert(1)>](https://x.example)",
]


class Reader(HTMLParser):
    """Fails on anything that the page does not expect; keeps the words and the links."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.words, self.links = "", list[str]()
        self.depth = 0
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        assert {name for name, _ in attrs} <= ATTRIBUTES, attrs
        if tag == "a":
            values = dict(attrs)
            self.links.append(str(values["href"]))
            assert values["rel"] == "noopener noreferrer"
            assert str(values["href"]).lower().startswith(("http://", "https://", "mailto:"))
            self.depth += 1
            assert self.depth == 1, "a link in a link"

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == "a"

    def handle_data(self, data: str) -> None:
        self.words += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_only_words(attack: str) -> None:
    Reader(html(attack))


@given(st.text(alphabet=st.sampled_from(list("<>&\"'`*_[]()!|-#~:/\\ \n\tahjs1")) | st.characters(), max_size=400))
def test_any_text_becomes_safe_html(text: str) -> None:
    Reader(html(text))


@given(st.lists(st.sampled_from([*ATTACKS, "`", "**", "\n", "> ", "- ", "[", "]("]), max_size=6).map("".join))
def test_attacks_side_by_side_are_only_words(text: str) -> None:
    Reader(html(text))


@pytest.mark.parametrize("text", ["", " ", "x" * 300_000, "> " * 5000, "[" * 20_000, "*a " * 5000, "<" * 5000])
def test_a_reply_of_any_length_is_one_part(text: str) -> None:
    (part,) = render(text)

    assert part.text == text
    assert set(json.loads(part.body)) == {"html"}


@pytest.mark.parametrize(
    "text",
    [
        "[1]: https://x.example/source",
        "```python title=here\ncode\n```",
        f"{'> ' * 90}deep",
        f"{'- ' * 90}deep\n\nafter",
    ],
)
def test_what_markdown_would_swallow_is_shown(text: str) -> None:
    words = Reader(html(text)).words

    assert all(word in words for word in re.findall(r"[a-z]{4,}", text))


def test_links_open_apart_and_tell_nothing() -> None:
    found = html("[a](https://x.example/?a=1&b=2) <mailto:me@x.example>")

    assert Reader(found).links == ["https://x.example/?a=1&b=2", "mailto:me@x.example"]
    assert 'target="_blank" rel="noopener noreferrer"' in found


def test_a_picture_is_a_link_to_it() -> None:
    assert Reader(html("![my cat](https://x.example/cat.png)")).words.strip() == "my cat"
    assert Reader(html("[![my cat](https://x.example/cat.png)](https://x.example)")).links == ["https://x.example"]


def test_code_keeps_every_character() -> None:
    code = "if a < b && c > d:\n\tprint(\"<b>&amp;\")\n\n    'x'\n"
    found = html(f"```python\n{code}```")

    assert Reader(found).words.removeprefix("pythonCopy").rstrip("\n") == code.rstrip("\n")
    assert 'aria-label="Code, python"' in found


def test_a_table_stands_in_a_box_that_scrolls() -> None:
    found = html("| a | b |\n|--:|:-:|\n| 1 | ~~2~~ |")

    assert found.startswith('<div class="wide" role="group" aria-label="Table" tabindex="0"><table')
    assert 'class="align-right"' in found
    assert "style=" not in found
    assert "<s>2</s>" in found


def test_headings_never_skip_a_level() -> None:
    assert html("### a\n# b\n#### c") == '<h2 dir="auto">a</h2>\n<h2 dir="auto">b</h2>\n<h3 dir="auto">c</h3>\n'


def test_a_line_break_is_one() -> None:
    assert "<br />" in html("one\ntwo")


def test_each_paragraph_finds_its_own_direction() -> None:
    assert html("مرحبا\n\nhello").count('<p dir="auto">') == 2
