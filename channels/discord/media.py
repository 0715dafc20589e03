"""What a message shows that is not text, in one line each: `[photo: a.png]`, `[voice message, 12 s]`, `[poll]`."""

from collections.abc import Iterator
from typing import Final

from channels.discord.fields import Payload, inner, rows, words
from channels.names import bracketed

_KINDS: Final = {"image": "photo", "video": "video", "audio": "audio"}
_FORWARD: Final = 1  # the type of a reference; 0 is a reply


def labels(raw: Payload) -> list[str]:
    """A line for each thing that comes with a message, in Discord's order of showing them."""
    return [*map(_attachment, rows(raw, "attachments")), *_stickers(raw), *_poll(raw), *_forwarded(raw)]


def _attachment(raw: Payload) -> str:
    match raw.get("duration_secs"), raw.get("waveform"):
        case (int() | float()) as seconds, str():
            return f"[voice message, {seconds:.0f} s]"
    kind = words(raw, "content_type").partition("/")[0]
    return bracketed(_KINDS.get(kind, "document"), words(raw, "title") or words(raw, "filename"))


def _stickers(raw: Payload) -> Iterator[str]:
    for sticker in rows(raw, "sticker_items"):
        yield bracketed("sticker", words(sticker, "name"))


def _poll(raw: Payload) -> Iterator[str]:
    if poll := inner(raw, "poll"):
        yield bracketed("poll", words(inner(poll, "question"), "text"))


def _forwarded(raw: Payload) -> Iterator[str]:
    """A forwarded message has its words in a copy of what was forwarded."""
    if inner(raw, "message_reference").get("type") == _FORWARD:
        for snapshot in rows(raw, "message_snapshots"):
            message = inner(snapshot, "message")
            yield "\n".join(["[forwarded message]", *filter(None, [words(message, "content")]), *labels(message)])
