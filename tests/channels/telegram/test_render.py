import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from channels.markdown import is_blank
from channels.telegram.render import EMPTY, LIMIT, REPEATED, render, shifted
from gateway.channel import Part
from tests.channels.telegram.checker import CODE, Marked, check, marks

LEAST = 52
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"


def one(text: str) -> Part:
    (part,) = render(text)
    check(part)
    return part


def visible(text: str) -> str:
    return "".join(character for character in text if not is_blank(character))


@pytest.mark.parametrize(
    "text",
    [
        "5 * 3 * 2",
        "List<int>",
        "v1.2 - (a=b) + c! #tag",
        "snake_case and __dunder",
        "a < b && c > d",
        "<b>not bold</b>",
        "_",
        "*",
        "`",
        "[",
        "#",
        "---",
        "mixed العربية 123 text",
        "[1]: https://example.com/a_b_c",
        "/reset",
    ],
)
def test_literal_text_survives(text: str) -> None:
    assert one(text) == Part(text, "[]")


@pytest.mark.parametrize(
    ("markdown", "text", "expected"),
    [
        ("**b**", "b", [Marked("bold", "b")]),
        ("*i* _j_", "i j", [Marked("italic", "i"), Marked("italic", "j")]),
        ("~~s~~", "s", [Marked("strikethrough", "s")]),
        ("`c`", "c", [Marked("code", "c")]),
        ("```py\nx = 1\n```", "x = 1", [Marked("pre", "x = 1", language="py")]),
        ("```\nx\n```", "x", [Marked("pre", "x")]),
        ("# H *i*", "H i", [Marked("bold", "H i"), Marked("italic", "i")]),
        ("# **H**", "H", [Marked("bold", "H")]),
        ("**a `c` b**", "a c b", [Marked("bold", "a "), Marked("code", "c"), Marked("bold", " b")]),
        ("[l](https://x.y)", "l", [Marked("text_link", "l", "https://x.y")]),
        ("[`l`](https://x.y)", "l", [Marked("text_link", "l", "https://x.y")]),
        ("<https://x.y>", "https://x.y", [Marked("text_link", "https://x.y", "https://x.y")]),
        ("![alt](https://x.y)", "alt", [Marked("text_link", "alt", "https://x.y")]),
        ("![](https://x.y)", "https://x.y", [Marked("text_link", "https://x.y", "https://x.y")]),
        ("[l](tg://resolve?domain=x)", "l", [Marked("text_link", "l", "tg://resolve?domain=x")]),
        ("[l](file.md)", "l (file.md)", []),
        ("<a@b.cc>", "a@b.cc", []),
        ("> q\n> r", "q\nr", [Marked("blockquote", "q\nr")]),
        ("> a\n> > b", "a\n\n> b", [Marked("blockquote", "a\n\n> b")]),
        ("a\n\n***\n\nb", "a\n\n———\n\nb", []),
        ("a\nb\\\nc\n\nd", "a\nb\nc\n\nd", []),
        ("*   **Head**: text\n*   **Head**: text", "• Head: text\n• Head: text", [Marked("bold", "Head")] * 2),
        ("- a\n  1. b\n     c\n  2. d\n- e", "• a\n  1. b\n     c\n  2. d\n• e", []),
        ("3. a\n7. b", "3. a\n7. b", []),
        ("- a\n\n- b\n\n  c", "• a\n\n• b\n\n  c", []),
        ("- ```\n  x\n  ```", "• \nx", [Marked("pre", "x")]),
        ("```\na\tb\n```", "a   b", [Marked("pre", "a   b")]),
        ("```py note\nx\n```", "note\nx", [Marked("pre", "x", language="py")]),
    ],
)
def test_markdown_becomes_text_and_entities(markdown: str, text: str, expected: list[Marked]) -> None:
    part = one(markdown)
    assert part.text == text
    assert marks(part) == expected


def test_offsets_count_utf16_units() -> None:
    assert json.loads(one("😀 **b** 👍🏽 `c`").body) == [
        {"type": "bold", "offset": 3, "length": 1},
        {"type": "code", "offset": 10, "length": 1},
    ]


def test_a_table_is_aligned_and_wide_characters_count_two() -> None:
    part = one("| 名前 | n |\n|:-|-:|\n| 猫 **x** | 10 |\n| é | 7 | extra |")
    assert part.text.split("\n") == ["名前 |         n", "-----+----------", "猫 x |        10", "é    | 7 | extra"]
    assert [mark.kind for mark in marks(part)] == ["pre"]


@pytest.mark.parametrize(
    "text",
    [
        "@bob",
        "hi @bob_1, @Ann!",
        "**@bob**",
        "@**bob**",
        "[@bob](https://x.y)",
        "[x](tg://user?id=7)",
        "[x](TG://USER?id=7)",
        "[x](tg:user?id=7)",
        "# @bob",
        "你好@bob",
        "(@bob)",
        "https://x/@bob",
        "| a |\n|-|\n| @bob |",
        "a.@bob",
        "@bob\n" + "`@carl` " * 150,
        "\\@bob &#64;bob",
        "```\n" + "x\n" * 5000 + "@bob\n```",
    ],
)
def test_nobody_is_mentioned(text: str) -> None:
    for part in render(text):
        check(part)
        assert not any(mark.url.lower().startswith("tg:") for mark in marks(part))


def test_an_at_sign_that_calls_nobody_stays_as_it_is() -> None:
    for text in (
        "a@b.cc",
        "`@bob`",
        "`see https://a.bc/x @bob`",
        "@ home",
        "https://medium.com/@bob/post",
        "x @",
        "3 @ 5",
    ):
        assert one(text).text == text.strip("`")


def test_nuls_controls_and_lone_surrogates_are_replaced() -> None:
    assert one("a\0b\ud800c\x07d").text == "a\ufffdb\ufffdc d"
    assert one("\ud83d\ude00").text == "😀"


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u200b", "```\n```", "\u3164"])
def test_a_reply_is_never_empty(text: str) -> None:
    (part,) = render(text)
    check(part)
    assert part.text in (EMPTY, text)


def test_five_thousand_emoji_arrive_in_order_within_the_limit() -> None:
    text = "😀" * 5000
    parts = render(text)
    for part in parts:
        check(part, LIMIT - len(REPEATED))
    assert "".join(part.text for part in parts) == text


def test_no_message_is_all_white_space() -> None:
    parts = render("```\na" + "\n" * 9000 + "b\n```")
    for part in parts:
        check(part)
    assert [part.text.strip() for part in parts] == ["a", "b"]


def test_marks_go_on_over_a_cut() -> None:
    parts = render("> **" + "word " * 2000 + "end**")
    assert len(parts) == 3
    for part in parts:
        check(part)
        assert [mark.kind for mark in marks(part)] == ["blockquote", "bold"]
        assert all(len(mark.words) > 1500 for mark in marks(part))


def test_code_stays_code_with_its_language_over_a_cut() -> None:
    code = "\n".join(f"line {n} " + "x" * 60 for n in range(200))
    parts = render(f"Look:\n\n```python\n{code}\n```\n\nDone.")
    assert "".join(part.text for part in parts) == f"Look:\n\n{code}\n\nDone."
    for part in parts:
        check(part)
        assert [mark.language for mark in marks(part)] == ["python"]


def test_a_block_that_fits_a_message_of_its_own_is_not_cut() -> None:
    code = "\n".join(["x" * 60] * 30)
    parts = render("word " * 700 + f"\n\n```\n{code}\n```")
    assert marks(parts[-1]) == [Marked("pre", code)]


def test_a_message_with_more_marks_than_telegram_keeps_is_two() -> None:
    parts = render("\n".join(f"- **b{n}** and `c{n}`" for n in range(120)))
    assert len(parts) == 3
    for part in parts:
        check(part)
    assert sum(len(marks(part)) for part in parts) == 240


@settings(deadline=None)
@given(st.integers(4000, 4200), st.sampled_from([FAMILY, "🇩🇪", "e\u0301", "**b**", "`c`"]))
def test_nothing_breaks_at_the_limit(before: int, thing: str) -> None:
    parts = render("." * before + thing * 5 + "." * 50)
    for part in parts:
        check(part, LIMIT - len(REPEATED))
    shown = thing.strip("*`")
    assert sum(part.text.count(shown) for part in parts) == 5


def test_a_repeated_part_has_room_for_saying_so() -> None:
    for part in render("😀 **" + "x" * 9000 + "**"):
        longer = Part(REPEATED + part.text, shifted(part.body, len(REPEATED)))
        check(longer)
        assert [mark.words for mark in marks(longer)] == [mark.words for mark in marks(part)]


@pytest.mark.parametrize("limit", [-1, 0, 1, LEAST - 1])
def test_a_limit_that_leaves_no_room_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="leaves no room"):
        render("text", limit)


pieces = st.one_of(
    st.sampled_from(
        ["# ", "- ", "1. ", "> ", "```", "```py\n", "~~~", "|", "|-|-|", "|a|b|\n|-|-|\n|c|d|", "**", "*", "_", "`",
         "~~", "[", "](https://x.y)", "](tg://user?id=1)", "![", "<", ">", "\n", "\n\n", "    ", " ", "@bob", "@",
         "bob", "\\", "&amp;", FAMILY, "🇩🇪🇫🇷", "e\u0301", "名前", "\0", "\ud800", "\u202e", "\t", "\r", "&#13;",
         "\u2028", "word " * 30, "https://a.bc/@d "]
    ),
    st.text(max_size=20),
    st.text(st.characters(categories=["Cs", "Cc", "Cf", "Mn", "So", "Zs"]), max_size=8),
)  # fmt: skip
markdowns = st.lists(pieces, max_size=40).map("".join)


@settings(deadline=None)
@given(markdowns, st.integers(LEAST, 400))
@example("> ```\n> @bob `x`", LEAST)
def test_any_markdown_becomes_messages_that_telegram_takes(text: str, limit: int) -> None:
    parts = render(text, limit)
    for part in parts:
        check(part, limit - len(REPEATED))


@settings(deadline=None)
@given(markdowns, st.integers(LEAST, 400))
def test_the_messages_joined_are_the_whole_rendered_text(text: str, limit: int) -> None:
    """P12."""
    whole = "".join(part.text for part in render(text, 1_000_000))
    assert visible("".join(part.text for part in render(text, limit))) == visible(whole)


@settings(deadline=None)
@given(markdowns, st.integers(LEAST, 400))
def test_a_cut_takes_no_mark_away(text: str, limit: int) -> None:
    def marked(parts: list[Part]) -> dict[str, str]:
        found: dict[str, str] = {}
        for part in parts:
            for mark in marks(part):
                found[mark.kind] = found.get(mark.kind, "") + visible(mark.words)
        return found

    whole, cut = marked(render(text, 1_000_000)), marked(render(text, limit))
    assert {kind: sorted(words) for kind, words in cut.items()} == {kind: sorted(w) for kind, w in whole.items()}


@settings(deadline=None)
@given(st.lists(st.one_of(pieces, st.integers(1, 99).map(lambda n: f"word{n}x")), max_size=40))
def test_no_word_is_lost(found: list[str]) -> None:
    """P12."""
    shown = "".join(part.text for part in render("".join(found))) + str([part.body for part in render("".join(found))])
    assert all(piece in shown for piece in found if piece.startswith("word") and piece.endswith("x"))


@settings(deadline=None)
@given(st.text(st.characters(categories=["L", "N", "So", "Zs"]), min_size=1, max_size=300), st.integers(LEAST, 120))
def test_plain_words_of_any_script_are_unchanged(text: str, limit: int) -> None:
    parts = render(text, limit)
    if not is_blank(text):
        assert visible("".join(part.text for part in parts)) == visible(text)
        assert all(json.loads(part.body) == [] for part in parts)


def test_code_kinds_are_the_checkers() -> None:
    assert {mark.kind for mark in marks(one("`a` b\n\n```\nc\n```"))} == CODE
