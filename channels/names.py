"""Names that people chose, made harmless: data for one line, which can fake neither a line nor a direction."""

import unicodedata
from typing import Final

from channels.markdown import is_blank

LONGEST: Final = 64

_DROPPED: Final = frozenset({"Cf", "Cs"})  # format characters (bidi overrides, zero-width), halves of a pair
_JOINERS: Final = frozenset("\u200c\u200d")  # Persian words and joined emoji need them
_SPACES: Final = frozenset({"Cc", "Zl", "Zp"})
_BRACKETS: Final = str.maketrans("[]", "()")


def one_line(name: str, fallback: str = "") -> str:
    """The name on one line, at most 64 characters, without control and bidi characters; `fallback` if nothing is left.

    Line breaks in a name looked like a section of the prompt elsewhere (cases C85, C106).
    """
    kept = "".join(_kept(character) for character in name)
    line = " ".join(kept.split())[:LONGEST].strip(" \u200c\u200d")
    return fallback if is_blank(line) else line


def bracketed(what: str, detail: str = "") -> str:
    """`[what: detail]` on one line; the detail cannot close the bracket."""
    detail = one_line(detail).translate(_BRACKETS)
    return f"[{what}: {detail}]" if detail else f"[{what}]"


def _kept(character: str) -> str:
    category = unicodedata.category(character)
    if category in _SPACES:
        return " "
    return "" if category in _DROPPED and character not in _JOINERS else character
