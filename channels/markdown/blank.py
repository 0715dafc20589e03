"""Text that shows nothing: a platform refuses a message of it."""

import unicodedata
from typing import Final

_NOTHING: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
_FILLERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe0e\ufe0f")


def is_blank(text: str) -> bool:
    """Whether a reader sees nothing: white space, control and format characters, fillers that are drawn as spaces."""
    return not any(is_visible(character) for character in text)


def is_visible(character: str) -> bool:
    """Whether this character leaves ink; a combining mark does."""
    return character not in _FILLERS and unicodedata.category(character) not in _NOTHING
