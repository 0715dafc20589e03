import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.markdown import parse
from channels.markdown.tree import (
    Block,
    Break,
    Code,
    CodeBlock,
    Emphasis,
    Heading,
    Image,
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
    says,
)


def one(text: str) -> Block:
    (block,) = parse(text)
    return block


def words(text: str) -> Paragraph:
    return Paragraph((Text(text),))


def everything(block: Block) -> str:
    match block:
        case Paragraph(inlines) | Heading(_, inlines):
            return plain(inlines)
        case CodeBlock(text, language, note):
            return f"{language} {note} {text}"
        case Quote(blocks):
            return " ".join(map(everything, blocks))
        case ListBlock(items):
            return " ".join(f"{item.number} {' '.join(map(everything, item.blocks))}" for item in items)
        case Table(_, rows):
            return " ".join(plain(cell) for row in rows for cell in row)
        case Rule():
            return ""


@pytest.mark.parametrize("text", ["5 * 3 * 2", "List<int>", "v1.2 - (a=b) + c! #tag", "a_b_c", "[x", "snake_case_name"])
def test_literal_text_stays_as_it_is(text: str) -> None:
    assert one(text) == words(text)


def test_inlines_are_what_commonmark_says() -> None:
    assert one("**b** *i* ~~s~~ `c` [l](http://x.y) ![a](http://i.j)\nn\\\nh") == Paragraph(
        (
            Strong((Text("b"),)), Text(" "), Emphasis((Text("i"),)), Text(" "), Strike((Text("s"),)), Text(" "),
            Code("c"), Text(" "), Link("http://x.y", (Text("l"),)), Text(" "), Image("http://i.j", "a"), Break(),
            Text("n"), Break(hard=True), Text("h"),
        )
    )  # fmt: skip


def test_blocks_are_what_commonmark_says() -> None:
    assert parse("## H\n\n> q\n\n---\n\n```py\nx\n```\n\n    indented") == (
        Heading(2, (Text("H"),)),
        Quote((words("q"),)),
        Rule(),
        CodeBlock("x", "py"),
        CodeBlock("indented"),
    )


def test_a_number_in_a_list_is_the_one_that_was_written() -> None:
    assert one("3. a\n7. b") == ListBlock((Item("3.", (words("a"),)), Item("7.", (words("b"),))), tight=True)
    assert one("1) a\n1) b") == ListBlock((Item("1)", (words("a"),)), Item("2)", (words("b"),))), tight=True)
    assert one("- a\n\n- b") == ListBlock((Item("", (words("a"),)), Item("", (words("b"),))), tight=False)


def test_a_table_keeps_its_alignment_and_cells_beyond_its_head() -> None:
    table = one("|a|b|\n|:-|:-:|\n|1|2|*3*|4|\n|5|")
    assert isinstance(table, Table)
    assert table.aligns == ("left", "center")
    assert [[plain(cell) for cell in row] for row in table.rows] == [["a", "b"], ["1", "2 | 3 | 4"], ["5", ""]]


def test_a_link_definition_is_shown_not_swallowed() -> None:
    assert one("[1]: https://example.com") == words("[1]: https://example.com")


def test_what_a_fence_says_beside_its_language_is_kept() -> None:
    assert one('```py title="a b"\nx\n```') == CodeBlock("x", "py", 'title="a b"')
    assert one("```MarkdownV2 in the parse_mode field") == CodeBlock("", "MarkdownV2", "in the parse_mode field")
    assert one("```" + "i" * 1990 + "\nx") == CodeBlock("x", "", "i" * 1990)
    assert one("```what?!\nx") == CodeBlock("x", "", "what?!")


@pytest.mark.parametrize("depth", [10, 24, 70, 300])
def test_nesting_past_any_use_loses_no_word(depth: int) -> None:
    assert "deep" in " ".join(map(everything, parse(">" * depth + " deep")))
    nested = "\n".join("  " * at + f"- item{at}" for at in range(depth))
    assert all(f"item{at}" in " ".join(map(everything, parse(nested))).split() for at in range(depth))


marks = st.sampled_from(
    ["# ", "- ", "1. ", "> ", "```", "~~~ ", "|", " | ", "|-|-|", "**", "*", "_", "`", "~~", "[", "](", ")", "![", "<",
     ">", "\n", "\n\n", "    ", " ", "===", "---", "[w1]: ", ":", "\\"]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.one_of(marks, st.integers(1, 99).map(lambda n: f"word{n}")), max_size=60))
def test_every_word_of_any_markdown_is_somewhere_in_the_tree(parts: list[str]) -> None:
    text = "".join(parts)
    found = "".join(map(everything, parse(text)))
    assert all(part in found for part in parts if part.startswith("word"))


@pytest.mark.parametrize("text", ["", " ", "#", "*", "- ", "---", ">", "```\n```", "|a|\n|-|".replace("a", " "), "> -"])
def test_marks_alone_say_nothing(text: str) -> None:
    assert not any(map(says, parse(text)))


@pytest.mark.parametrize(
    "text", ["a", "# a", "- a", "> a", "```\na\n```", "|a|\n|-|", "`a`", "[](http://x.y)", "- > - a"]
)
def test_a_word_anywhere_says_something(text: str) -> None:
    assert any(map(says, parse(text)))
