"""Where one thing that a reader sees as a character ends and the next begins (Unicode UAX #29, without its tables).

Covers what a cut would visibly break: combining sequences, emoji with modifiers, joined emoji, flags, Hangul
syllables, Indic conjuncts, halves of a surrogate pair.
"""

import unicodedata
from collections.abc import Iterator
from typing import Final

_ZWJ: Final = "\u200d"
_ZWNJ: Final = "\u200c"
_VIRAMA: Final = 9  # canonical combining class
_EXTENDING: Final = frozenset({"Mn", "Mc", "Me"})
_PREPENDED: Final = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2")


def joined(text: str, at: int) -> bool:
    """Whether a cut between text[at - 1] and text[at] would go through something that belongs together."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before in "\r\n" or after in "\r\n":
        return before == "\r" and after == "\n"
    if _extends(after) or before in _PREPENDED or (before == _ZWJ and not after.isspace()):
        return True
    if _is_flag_letter(before) and _is_flag_letter(after):
        return _flag_letters_before(text, at) % 2 == 1
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return True
    if unicodedata.combining(before) == _VIRAMA and unicodedata.category(after) == "Lo":
        return True
    return _hangul(before, after)


def clusters(text: str) -> Iterator[str]:
    """The text in pieces that belong together."""
    start = 0
    for at in range(1, len(text) + 1):
        if not joined(text, at):
            yield text[start:at]
            start = at


def _extends(character: str) -> bool:
    return (
        character in (_ZWJ, _ZWNJ, "\uff9e", "\uff9f")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or unicodedata.category(character) in _EXTENDING
    )


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, at: int) -> int:
    start = at
    while start and _is_flag_letter(text[start - 1]):
        start -= 1
    return at - start


def _hangul(before: str, after: str) -> bool:
    match _hangul_kind(before), _hangul_kind(after):
        case ("L", "L" | "V" | "LV" | "LVT") | ("V" | "LV", "V" | "T") | ("T" | "LVT", "T"):
            return True
    return False


def _hangul_kind(character: str) -> str:
    if "\u1100" <= character <= "\u115f" or "\ua960" <= character <= "\ua97c":
        return "L"
    if "\u1160" <= character <= "\u11a7" or "\ud7b0" <= character <= "\ud7c6":
        return "V"
    if "\u11a8" <= character <= "\u11ff" or "\ud7cb" <= character <= "\ud7fb":
        return "T"
    if "\uac00" <= character <= "\ud7a3":
        return "LV" if (ord(character) - 0xAC00) % 28 == 0 else "LVT"
    return ""
