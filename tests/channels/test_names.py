import pytest

from channels.names import bracketed, one_line


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a\r\nb\u2028c\x00d\x85e", "a b c d e"),
        ("x" * 100, "x" * 64),
        ("\u202eevil\u2066\u200f", "evil"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),
        ("\u200d\u200d", "?"),
        ("\u3164", "?"),
        ("a\ud800b", "ab"),
        ("", "?"),
    ],
)
def test_one_line_keeps_what_is_readable(name: str, line: str) -> None:
    assert one_line(name, "?") == line


def test_a_label_without_a_readable_detail_is_the_kind_alone() -> None:
    assert bracketed("document", "\u202e\n") == "[document]"
