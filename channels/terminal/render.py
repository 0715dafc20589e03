"""A reply as a terminal shows it: as it is, but for what would control the terminal."""

from collections.abc import Sequence

from gateway.channel import Part


def render(text: str) -> Sequence[Part]:
    """One part, whatever the length. Control characters but line ends and tabs become U+FFFD, so that no model text
    can move the cursor or rename the window."""
    return [Part("".join(c if c in "\n\t" or not _controls(c) else "\ufffd" for c in text))]


def _controls(letter: str) -> bool:
    return ord(letter) < 32 or 127 <= ord(letter) < 160
