import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.markdown import MINIMUM, Measure, is_blank, parse, split, utf16
from channels.markdown.tree import CodeBlock, Paragraph, Text

lines = st.one_of(
    st.sampled_from(
        [
            "```", "```python", "~~~", "````", "```js title=x", "  ```", "> ```", "- ```sh", "", "", "- item",
            "> quote", "word " * 12, "x" * 70, "```" + "i" * 50, "`" * 40, "\U0001f600" * 30,
        ]
    ),
    st.text(st.characters(blacklist_characters="\n"), max_size=60),
)  # fmt: skip
documents = st.lists(lines, max_size=25).map("\n".join)

FENCE = re.compile(r"^[\s>]*(?:[-+*]\s+|\d+[.)]\s+)?(`{3,}|~{3,})")


def words(text: str) -> str:
    """Everything but the fences' own marks and what nobody sees."""
    return "".join(c for c in text if not is_blank(c) and c not in "`~>-+*")


@settings(deadline=None)
@given(documents, st.integers(MINIMUM, 300), st.sampled_from([len, utf16]))
def test_messages_are_within_the_limit_and_none_is_blank(text: str, limit: int, measure: Measure) -> None:
    messages = split(text, limit, measure)
    assert all(measure(message) <= limit for message in messages)
    assert not any(is_blank(message) for message in messages)


@settings(deadline=None)
@given(documents.filter(lambda text: not FENCE.search(text) and "```" not in text and "~~~" not in text))
def test_without_fences_the_messages_joined_are_the_text(text: str) -> None:
    assert "".join(split(text, 4000)) == ("" if is_blank(text) else text)
    assert words("".join(split(text, MINIMUM))) == words(text)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["alpha", "beta " * 9, "gamma\n\ndelta", "```", "~~~~", "", "  x = 1"]), max_size=40))
def test_with_fences_every_word_arrives_in_order(parts: list[str]) -> None:
    text = "\n".join(parts)
    for limit in (MINIMUM, 50, 90):
        assert words("".join(split(text, limit))) == words(text)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["alpha beta", "x" * 30, "", "  y"]), min_size=1, max_size=60), st.integers(60, 200))
def test_code_stays_code_with_its_language_in_every_message(code: list[str], limit: int) -> None:
    text = "before\n\n```python\n" + "\n".join(code) + "\n```\n\nafter"
    found = [block for message in split(text, limit) for block in parse(message)]
    blocks = [block for block in found if isinstance(block, CodeBlock)]
    assert all(block.language == "python" for block in blocks)
    assert words("\n".join(block.text for block in blocks)) == words("\n".join(code))
    rest = [block for block in found if not isinstance(block, CodeBlock)]
    assert [block for block in rest if block != Paragraph((Text("before"),))] == [Paragraph((Text("after"),))]


def test_a_fence_is_closed_before_a_cut_and_opened_after_it() -> None:
    text = "```python\n" + "\n".join(f"line {n}" for n in range(10)) + "\n```"
    first, second, *_ = split(text, 60)
    assert first == "```python\nline 0\nline 1\nline 2\nline 3\nline 4\nline 5\n```"
    assert second.startswith("```python\nline 6\n")


@pytest.mark.parametrize("length", range(1985, 2001))
def test_the_closing_fence_has_room_wherever_the_cut_falls(length: int) -> None:
    text = "```\n" + "x" * (length - 4) + "\n" + "y" * 500 + "\n```"
    messages = split(text, 2000)
    assert all(len(message) <= 2000 for message in messages)
    assert [block.text for message in messages for block in parse(message) if isinstance(block, CodeBlock)]


def test_an_opener_that_is_too_long_is_opened_again_bare() -> None:
    text = "```" + "i" * 1990 + "\n" + "\n".join(f"line {n} " + "z" * 50 for n in range(50)) + "\n```"
    first, *rest = split(text, 2000)
    assert len(first) <= 2000
    assert all(message.startswith("```\nline") for message in rest)
    assert "".join(rest).count("line ") == 50


def test_a_cut_at_the_end_of_code_opens_no_empty_block() -> None:
    code = "x" * 20 + "\n" + "y" * 20
    for limit in range(40, 70):
        for message in split(f"```\n{code}\n```\nend " + "w " * 20, limit):
            assert not any(isinstance(block, CodeBlock) and not block.text.strip() for block in parse(message))


def test_a_block_that_fits_a_message_of_its_own_is_not_cut() -> None:
    block = "```\n" + "line\n\n" * 9 + "```\n"
    messages = split("word " * 14 + "\n\n" + block, 100)
    assert messages[-1] == block


def test_a_cut_after_an_opening_line_moves_before_it() -> None:
    assert split("a" * 10 + "\n```" + "i" * 20 + "\n" + "x" * 100 + "\n```", 40)[0] == "a" * 10 + "\n"


def test_a_cut_in_a_closing_line_moves_before_it() -> None:
    messages = split("```\nx\n```" + " " * 60 + "\nend", 40)
    assert [parse(message) for message in messages] == [(CodeBlock("x"),), (Paragraph((Text("end"),)),)]


def test_a_fence_in_a_quote_is_opened_again_in_a_quote() -> None:
    text = "> ```sh\n" + "> echo hello\n" * 12 + "> ```"
    assert all(message.startswith("> ```sh\n") and message.endswith("> ```") for message in split(text, 64))


def test_an_unclosed_fence_reaches_to_the_end() -> None:
    *first, last = split("```\n" + "word\n" * 20, 40)
    assert all(message.endswith("\n```") for message in first)
    assert last.startswith("```\n")


def test_a_fence_of_marks_without_end_is_cut_like_text() -> None:
    text = "`" * 200 + "\nx"
    assert "".join(split(text, 32)) == text


@pytest.mark.parametrize("limit", [0, 1, MINIMUM - 1])
def test_a_limit_that_leaves_no_room_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="leaves no room"):
        split("text", limit)


def test_a_text_within_the_limit_is_one_message_as_it_was() -> None:
    assert split("```\nx", 32) == ["```\nx"]
    assert split("", 32) == []
