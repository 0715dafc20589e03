"""How many columns a text takes in a monospaced font."""

import unicodedata

from channels.markdown.blank import is_visible
from channels.markdown.grapheme import clusters


def columns(text: str) -> int:
    """Columns of the text: wide characters (Chinese, Japanese, Korean, emoji, flags) count two, marks none."""
    return sum(_cluster(cluster) for cluster in clusters(text))


def _cluster(cluster: str) -> int:
    if any(_is_wide(character) for character in cluster):
        return 2
    return int(any(is_visible(character) or character.isspace() for character in cluster))


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF" or "\U0001f1e6" <= character <= "\U0001f1ff"
