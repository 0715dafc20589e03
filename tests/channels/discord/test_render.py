import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.discord.render import EMPTY, LIMIT, render

ZWSP = "\u200b"
LETTERS = "ab\U0001f600"


def shown(text: str) -> str:
    """The one message that a text becomes."""
    [part] = render(text)
    return part.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v1.2 - (a=b) + c! #tag", "v1.2 - (a=b) + c! #tag"),
        ("# One\n\n### Three\n\n#### Four **b**", "# One\n\n### Three\n\n**Four b**"),
        ("**b** *i* ~~s~~ `c`", "**b** *i* ~~s~~ `c`"),
        ("这是**重点**内容", "这是**重点**内容"),
        ("__init__ is `__init__`, \\_\\_x\\_\\_, snake_case", "**init** is `__init__`, \\_\\_x\\_\\_, snake_case"),
        ("2 * 3, a || b, ~x~", "2 \\* 3, a \\|\\| b, ~x~"),
        ("text\n-# small\n\\# no head\n1\\. no list", "text\n\\-# small\n\\# no head\n1\\. no list"),
        ("- a\n  - b\n    - c\n- d", "- a\n  - b\n    - c\n- d"),
        ("3. c\n4. d", "3. c\n4. d"),
        ("> a\n>\n> b", "> a\n> \n> b"),
        ("*   **Head**: text", "- **Head**: text"),
        ("a ``x`y`` b", "a `` x`y `` b"),
        ("[words](https://a.b/c_(d)) <https://a.b/c_d*e>", "[words](https://a.b/c_%28d%29) https://a.b/c_d*e"),
        ("see https://a.b/c_d_*e* now", "see https://a.b/c_d_*e* now"),
        ("![cat](https://a.b/cat.png)", "[cat](https://a.b/cat.png)"),
        ("[x](tg://user?id=1) <me@x.y>", "x (tg://user?id=1) me@x.y"),
        ("a\n\n---\n\nb", "a\n\n———\n\nb"),
        ("| a | b |\n|---|--:|\n| 1 | 22 |", "```\na |  b\n--+---\n1 | 22\n```"),
        ("```py title.py\nx\n```", "title.py\n```py\nx\n```"),
        ("- a\n\n  ```\n  x\n  ```\n- b", "- a\n\n```\nx\n```\n\n- b"),
    ],
)
def test_markdown_becomes_discords_dialect(text: str, expected: str) -> None:
    """C77, C80: nobody sees a backslash, and what only looks like a mark is none."""
    assert shown(text) == expected


@pytest.mark.parametrize("text", ["*", "_", "`", "[", "#", "\\", "-"])
def test_a_lone_mark_is_meant_as_it_stands(text: str) -> None:
    """C76."""
    assert shown(text).removeprefix("\\") == text or shown(text) == text


def test_mentions_stay_text_and_call_nobody_by_the_request() -> None:
    """C82: what they may call is decided by outgoing.NOBODY."""
    assert shown("@everyone @here <@&1> <@1>") == "@everyone @here <@&1> <@1>"


def test_backticks_in_code_do_not_end_it() -> None:
    assert shown("````md\n```\nx\n```\n````") == f"```md\n`{ZWSP}`{ZWSP}`\nx\n`{ZWSP}`{ZWSP}`\n```"


@pytest.mark.parametrize("text", ["", " \n ", "\u200b", "\u2800"])
def test_what_shows_nothing_is_said_so(text: str) -> None:
    assert [part.text for part in render(text)] == [EMPTY]


def test_the_limit_counts_code_points() -> None:
    """C70 on Discord: an emoji is one of 2000."""
    assert [len(part.text) for part in render("\U0001f600" * LIMIT)] == [LIMIT]
    assert [len(part.text) for part in render("\U0001f600" * (LIMIT + 1))] == [LIMIT, 1]


@pytest.mark.parametrize("size", range(1990, 2006))
def test_c73_a_closing_fence_has_its_room(size: int) -> None:
    line = "x" * 49 + "\n"
    body = (line * 60)[:size]
    parts = render(f"```py\n{body}{line * 10}```")
    assert len(parts) > 1
    assert all(len(part.text) <= LIMIT for part in parts)
    assert all(part.text.startswith("```py\n") and part.text.endswith("\n```") for part in parts)


def test_c74_a_long_line_after_a_fence_is_told_once() -> None:
    parts = render("```" + "y" * 1990 + "\n" + "code\n" * 1000 + "```")
    assert all(len(part.text) <= LIMIT for part in parts)
    assert sum(part.text.count("y" * 50) for part in parts) == 39
    assert sum(part.text.count("code") for part in parts) == 1000


def test_c125_the_last_word_of_a_long_answer_arrives() -> None:
    words = " ".join(f"word{number}" for number in range(1000))
    parts = render(words)
    assert "".join(part.text for part in parts) == words
    assert all(len(part.text) <= LIMIT for part in parts)


@given(st.text(alphabet=st.sampled_from(LETTERS + " *_`~|#>-\n1.[]()\\<@:/&"), max_size=400))
def test_nothing_that_can_be_read_is_lost_and_every_message_can_be_sent(text: str) -> None:
    parts = render(text, limit=64)
    assert parts
    assert all(0 < len(part.text) <= 64 and part.text.strip() for part in parts)
    told = iter("".join(part.text for part in parts))
    assert all(letter in told for letter in text if letter in LETTERS)  # in their order; a fence's language may repeat
