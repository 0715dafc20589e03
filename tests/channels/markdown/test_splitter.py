import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.markdown import MINIMUM, Measure, cuts, is_blank, next_cut, utf16
from channels.markdown.grapheme import clusters, joined
from channels.markdown.width import columns

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
FLAG = "\U0001f1e9\U0001f1ea"


def utf8(text: str) -> int:
    return len(text.encode())


pieces = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [FAMILY, FLAG, "e\u0301", "\n\n", "\n", " ", "word " * 20, "\u200b" * 50, " " * 80, "한글", "नमस्ते"]
    ),
)
texts = st.lists(pieces, max_size=20).map("".join)


def show(text: str, at: list[tuple[int, int]]) -> list[str]:
    return [text[start:end] for start, end in at]


def visible(text: str) -> str:
    return "".join(character for character in text if not is_blank(character))


@settings(deadline=None)
@given(texts, st.integers(MINIMUM, 300), st.sampled_from([len, utf16]))
def test_pieces_are_within_the_limit_and_hold_the_whole_text_in_order(text: str, limit: int, measure: Measure) -> None:
    found = cuts(text, limit, measure)
    assert all(measure(text[start:end]) <= limit for start, end in found)
    assert not any(is_blank(piece) for piece in show(text, found))
    assert visible("".join(show(text, found))) == visible(text)


@settings(deadline=None)
@given(st.lists(st.sampled_from([FAMILY, FLAG, "word", "x" * 40, " ", "\n", "\n\n"]), max_size=60).map("".join))
def test_pieces_joined_are_the_text_where_no_piece_would_be_blank(text: str) -> None:
    found = cuts(text.strip(), 64, utf16)
    joined_pieces = "".join(show(text.strip(), found))
    runs = re.split(r"\S+", text.strip())
    assert joined_pieces == text.strip() or max(map(len, runs)) > 32


@settings(deadline=None)
@given(st.lists(st.sampled_from([FAMILY, FLAG, "e\u0301\u0323", "ab ", "क्षि", "각", "1\ufe0f\u20e3"]), max_size=200))
def test_no_grapheme_is_cut_through(parts: list[str]) -> None:
    text = "".join(parts)
    borders, at = {0}, 0
    for part in parts:
        at += len(part)
        borders.add(at)
        borders |= {at - len(part) + n for n in range(len(part)) if part == "ab "}
    assert all(end in borders for _, end in cuts(text, MINIMUM, utf16))


@settings(deadline=None)
@given(st.text(max_size=300), st.integers(MINIMUM, 64))
def test_a_piece_never_ends_before_a_combining_mark_that_could_stay(text: str, limit: int) -> None:
    for start, end in cuts(text, limit, utf16):
        if end < len(text) and any(not joined(text, at) for at in range(start + 1, end + 1)):
            assert not joined(text, end)


def test_a_cut_prefers_a_paragraph_then_a_line_then_a_word() -> None:
    text = "aaaa bbbb\n\ncccc dddd eeee\nffff gggg hhhh"
    assert show(text, cuts(text, 36)) == ["aaaa bbbb\n\ncccc dddd eeee\n", "ffff gggg hhhh"]
    text = "aaaa bbbb cccc dddd eeee\n\nffff gggg\nhhhh iiii"
    assert show(text, cuts(text, 38))[0] == "aaaa bbbb cccc dddd eeee\n\n"
    text = "aaaa bbbb cccc dddd eeee ffff gggg hhhh"
    assert show(text, cuts(text, 32))[0] == "aaaa bbbb cccc dddd eeee ffff "


def test_a_long_word_stays_whole_where_an_early_line_allows_it() -> None:
    text = "see\n" + "x" * 31
    assert show(text, cuts(text, 32)) == ["see\n", "x" * 31]


def test_a_word_is_not_cut_off_before_a_mark_on_its_space() -> None:
    text = "aaaa bbbb cccc dddd eeee ffff \u0301gggg hhhh"
    assert show(text, cuts(text, 32))[0] == "aaaa bbbb cccc dddd eeee "


def test_chinese_is_cut_after_a_sentence() -> None:
    text = "天气很好。" * 10
    assert show(text, cuts(text, 32))[0] == "天气很好。" * 6


def test_a_block_border_is_better_than_a_later_paragraph() -> None:
    text = "x" * 20 + "\n\n" + "y" * 8 + "\n\n" + "z" * 20
    assert next_cut(text, 0, 34, best=[22]) == 22


def test_five_thousand_emoji_are_cut_between_emoji() -> None:
    text = "\U0001f600" * 5000
    found = cuts(text, 4096, utf16)
    assert [end - start for start, end in found] == [2048, 2048, 904]
    text = "a" + "\U0001f642" * 4096
    assert [utf16(piece) for piece in show(text, cuts(text, 4096, utf16))] == [4095, 4096, 2]


@pytest.mark.parametrize("thing", [FAMILY, FLAG, "e" + "\u0301" * 3])
def test_nothing_that_belongs_together_is_cut_at_4096(thing: str) -> None:
    for before in range(4096 - len(thing) * 2, 4097):
        text = "." * before + thing + "." * 50
        assert all(thing in piece or not set(thing) & set(piece) for piece in show(text, cuts(text, 4096, utf16)))


def test_marks_without_end_are_cut_through_rather_than_for_ever() -> None:
    text = "a" + "\u0301" * 500
    assert "".join(show(text, cuts(text, 32))) == text


def test_white_space_longer_than_a_piece_makes_no_blank_piece() -> None:
    text = "a" + " " * 500 + "b"
    assert [piece.strip() for piece in show(text, cuts(text, 32))] == ["a", "b"]


@pytest.mark.parametrize("limit", [-1, 0, 1, MINIMUM - 1])
def test_a_limit_that_leaves_no_room_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="leaves no room"):
        cuts("text", limit)


def test_an_empty_or_blank_text_has_no_pieces() -> None:
    assert cuts("", 32) == []
    assert cuts(" \n\u200b\u3164", 32) == []


@pytest.mark.parametrize("text", ["", "abc", FAMILY, FLAG * 3, "e\u0301", "क्षि", "각", "\r\n", "1\ufe0f\u20e3", "👍🏽"])
def test_clusters_joined_are_the_text(text: str) -> None:
    assert "".join(clusters(text)) == text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (FAMILY, 1),
        (FLAG * 3, 3),
        ("e\u0301x", 2),
        ("क्षि", 1),
        ("\u1112\u1161\u11ab", 1),
        ("한글", 2),
        ("👍🏽", 1),
        ("\r\n", 1),
    ],
)
def test_clusters_are_what_a_reader_counts(text: str, count: int) -> None:
    assert len(list(clusters(text))) == count


@pytest.mark.parametrize(
    ("text", "wide"),
    [("ab", 2), ("名前", 4), (FAMILY, 2), (FLAG, 2), ("e\u0301", 1), ("\u200b", 0), ("ｱ", 1), ("a b", 3)],
)
def test_columns_count_wide_characters_twice_and_marks_never(text: str, wide: int) -> None:
    assert columns(text) == wide


def test_every_assigned_combining_mark_stays_with_its_letter() -> None:
    marks = [chr(code) for code in range(0x300, 0x3100) if unicodedata.category(chr(code)) in ("Mn", "Me", "Mc")]
    assert all(joined("a" + mark, 1) for mark in marks)
