"""Replies as Slack will take them: rich text, and the same in plain words."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.markdown import is_blank
from channels.slack.render import EMPTY, LIMIT, REPEATED, escaped, render
from gateway.channel import Part
from tests.platforms.slack_text import pinged, read_blocks

SECTION, LIST, CODE, QUOTE = (f"rich_text_{kind}" for kind in ("section", "list", "preformatted", "quote"))


def elements(part: Part) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(part.body)
    return found


def texts(value: Any) -> str:
    match value:
        case {"text": str(text)}:
            return text
        case {"elements": list(inner)}:
            return "".join(map(texts, inner))
    return ""


def one(text: str) -> list[dict[str, Any]]:
    (part,) = render(text)
    check(part)
    return elements(part)


def check(part: Part, limit: int = LIMIT) -> None:
    """AssertionError where Slack would refuse a part, cut it, or call somebody by it."""
    assert not is_blank(part.text)
    assert len(escaped(REPEATED + part.text)) <= limit
    blocks = [{"type": "rich_text", "elements": elements(part)}]
    assert read_blocks(json.dumps(blocks))
    assert pinged(escaped(part.text), blocks) == ()
    for element in elements(part):
        assert element["type"] in (SECTION, LIST, CODE, QUOTE)
        leaves = [leaf for item in element["elements"] for leaf in item.get("elements", [item])]
        assert leaves
        for leaf in leaves:
            assert leaf["type"] in ("text", "link")
            assert leaf["text"]
            assert not ("style" in leaf and element["type"] == CODE)


def visible(text: str) -> str:
    return "".join(character for character in text if not is_blank(character))


def test_c80_bold_stands_beside_chinese_without_spaces() -> None:
    [section] = one("这是**重点**内容")

    assert section["elements"] == [
        {"type": "text", "text": "这是"},
        {"type": "text", "text": "重点", "style": {"bold": True}},
        {"type": "text", "text": "内容"},
    ]


def test_c80_lists_keep_their_levels_and_wrapped_lines() -> None:
    found = one("- one\n  goes on\n  - two\n    - three\n- four")

    assert [(e["style"], e["indent"], texts(e)) for e in found] == [
        ("bullet", 0, "one\ngoes on"),
        ("bullet", 1, "two"),
        ("bullet", 2, "three"),
        ("bullet", 0, "four"),
    ]


def test_numbers_of_a_list_go_on_after_what_stands_between() -> None:
    found = one("3. a\n4. b\n\n   ```\n   code\n   ```\n5. c")

    assert [(e["type"], e.get("offset")) for e in found] == [(LIST, 2), (CODE, None), (LIST, 4)]
    assert [len(e["elements"]) for e in found] == [2, 1, 1]


@pytest.mark.parametrize(
    ("markdown", "style"),
    [("**b**", "bold"), ("*i*", "italic"), ("~~s~~", "strike"), ("`c`", "code"), ("# h", "bold")],
)
def test_styles_are_those_of_slack(markdown: str, style: str) -> None:
    [section] = one(markdown)

    assert section["elements"][0]["style"] == {style: True}


def test_quotes_tables_and_rules_have_a_form() -> None:
    quote, table, rule = one("> a **b**\n> - c\n\n| x | 价格 |\n|---|---|\n| 10 | 2 |\n\n---")

    assert (quote["type"], texts(quote)) == (QUOTE, "a b\n\n• c")
    assert (table["type"], texts(table)) == (CODE, "x  | 价格\n---+-----\n10 | 2")
    assert texts(rule) == "———"


def test_links_open_and_others_show_their_address() -> None:
    [section] = one("[a](https://x.y/z) ![b](https://x.y/i.png) [c](javascript:x) <https://q.r> [d](/rel)")

    links = [(e["text"], e["url"]) for e in section["elements"] if e["type"] == "link"]
    assert links == [("a", "https://x.y/z"), ("b", "https://x.y/i.png"), ("https://q.r", "https://q.r")]
    assert "d (/rel)" in texts(section)
    assert "a (https://x.y/z)" in render("[a](https://x.y/z)")[0].text


@pytest.mark.parametrize(
    "text",
    ["5 * 3 * 2", "List<int>", "a < b && c > d", "<b>x</b>", "*", "#", "snake_case", ":tea:", "@ann"],
)
def test_literal_text_survives(text: str) -> None:
    assert render(text)[0].text == text


@pytest.mark.parametrize("text", ["", " \n\t ", "\u200b", "```\n\n```"])
def test_a_reply_is_never_empty(text: str) -> None:
    (part,) = render(text)

    assert not is_blank(part.text)
    check(part)
    assert part.text in (EMPTY, "```\n\n```")


@pytest.mark.parametrize("mark", ["<!channel>", "<!here>", "<!everyone>", "<!subteam^S1>", "<@U1>", "<@W1|x>"])
@pytest.mark.parametrize(
    "form", ["{}", "`{}`", "```\n{}\n```", "- {}", "> {}", "[{}](https://a.b)", "**<**!channel> &lt;!here&gt; {}"]
)
def test_c82_no_form_of_a_mention_calls_anybody(mark: str, form: str) -> None:
    parts = render(form.format(mark))

    for part in parts:
        check(part)
        assert "`" in form or mark not in part.text.removeprefix("<!channel>") + part.body


def test_code_stays_as_it_is() -> None:
    page = "<!DOCTYPE html>\n<!-- a -->\n\tif a && b < c:\n  @decorator  # <!channel> <@U1>"
    [code, said] = one(f"```html\n{page}\n```\n`<@U1>`")

    assert (texts(code), texts(said)) == (page, "<@U1>")


@pytest.mark.parametrize("length", [2999, 3000, 3001, 3779, 3780, 3781, 12000, 12001, 13300, 40001])
def test_c79_every_length_is_cut_within_the_limit(length: int) -> None:
    words = "".join(f"w{number} " for number in range(length))[: length - 1] + "."
    for form in (words, words.replace(" ", ""), "&" * length, "价" * length, f"```py\n{words}\n```", f"- {words}"):
        parts = render(form)

        for part in parts:
            check(part)
        joined = visible("".join(part.text for part in parts)).replace("•", "")
        assert joined == visible(form.removeprefix("```py").removesuffix("```").removeprefix("- "))


def test_code_over_a_cut_is_code_in_both_messages() -> None:
    code = "\n".join(f"line {number} = <value> & more" for number in range(300))
    parts = render(f"Before\n\n```py\n{code}\n```\n\nAfter")

    assert len(parts) > 2
    kinds = [[element["type"] for element in elements(part)] for part in parts]
    assert (kinds[0], kinds[-1]) == ([SECTION, CODE], [CODE, SECTION])
    assert all(kind == [CODE] for kind in kinds[1:-1])
    shown = [texts(e) for part in parts for e in elements(part) if e["type"] == CODE]
    assert "".join(shown) == code
    assert all(text.endswith("\n") for text in shown[:-1])


def test_addresses_of_links_count() -> None:
    for part in render("".join(f"[x{n}](https://example.com/{'y' * 300}/{n}) " for n in range(40))):
        check(part)


def test_short_pieces_share_a_message_and_a_long_one_does_not_waste_any() -> None:
    sizes = [len(part.text) for part in render("\n\n".join(["word " * 100] * 30))]

    assert all(size > LIMIT // 2 for size in sizes[:-1])


def test_a_limit_without_room_is_a_mistake() -> None:
    with pytest.raises(ValueError):
        render("x", len(REPEATED) + 31)


ALPHABET = st.sampled_from(
    [
        *(
            "a",
            " ",
            "\n",
            "\n\n",
            "*",
            "**",
            "_",
            "`",
            "```\n",
            "- ",
            "1. ",
            "> ",
            "# ",
            "|",
            "&",
            "<",
            ">",
            "~~",
            "\t",
        ),
        *("<!channel>", "<@U1>", "[x](https://a.b/c)", "[", "](", "\\", "    ", "|-|-|\n", "\ud800", "\0"),
        *("价", "\U0001f468\u200d\U0001f469", "e\u0301"),
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(ALPHABET, max_size=120).map("".join), st.integers(60, 200))
def test_whatever_a_model_writes_is_taken(text: str, limit: int) -> None:
    """The limit may be below one link's address in width; then that one link stands alone in its message."""
    for part in render(text, limit):
        check(part, limit + 30)
