"""What a message shows that is not text, in one line each: `[photo]`, `[voice message, 12 s]`, `[document: a.pdf]`."""

from collections.abc import Callable
from typing import Final

from aiogram.types import Message, RichMessage

from channels.names import bracketed


def label(message: Message) -> str:
    """The line for what a message carries; empty for one that carries nothing to answer (a service message)."""
    for say in _LABELS:  # the order counts: an animation is also a document, a venue also a location
        if line := say(message):
            return line
    return ""


def flat(rich: RichMessage | None) -> str:
    """The words of a rich message, a line a block (facts 1.3)."""
    if rich is None:
        return ""
    blocks = rich.model_dump(mode="json", exclude_none=True).get("blocks", [])
    return "\n".join(line for block in blocks if (line := _words(block).strip()))


def _words(node: object) -> str:
    match node:
        case str():
            return node
        case list():
            return "".join(_words(child) for child in node)
        case dict():
            inline = "".join(_words(node[key]) for key in ("text", "expression", "title", "summary") if key in node)
            below = [_lines(node[key]) for key in ("blocks", "items", "cells", "caption") if key in node]
            return "\n".join(part for part in (inline, *below) if part)
    return ""


def _lines(node: object) -> str:
    children = node if isinstance(node, list) else [node]
    return "\n".join(line for child in children if (line := _words(child)))


def _timed(what: str, seconds: int) -> str:
    return f"[{what}, {seconds} s]"


def _animation(message: Message) -> str:
    return bracketed("animation") if message.animation else ""


def _audio(message: Message) -> str:
    if (audio := message.audio) is None:
        return ""
    name = audio.title or audio.file_name
    return bracketed("audio", name) if name else _timed("audio", audio.duration)


def _document(message: Message) -> str:
    return bracketed("document", message.document.file_name or "") if message.document else ""


def _photo(message: Message) -> str:
    return bracketed("photo") if message.photo else ""


def _sticker(message: Message) -> str:
    return bracketed("sticker", message.sticker.emoji or "") if message.sticker else ""


def _story(message: Message) -> str:
    return bracketed("story") if message.story else ""


def _video(message: Message) -> str:
    return _timed("video", message.video.duration) if message.video else ""


def _video_note(message: Message) -> str:
    return _timed("video message", message.video_note.duration) if message.video_note else ""


def _voice(message: Message) -> str:
    return _timed("voice message", message.voice.duration) if message.voice else ""


def _live_photo(message: Message) -> str:
    return bracketed("live photo") if message.live_photo else ""


def _paid_media(message: Message) -> str:
    return bracketed("paid media") if message.paid_media else ""


def _checklist(message: Message) -> str:
    return bracketed("checklist", message.checklist.title) if message.checklist else ""


def _contact(message: Message) -> str:
    if (contact := message.contact) is None:
        return ""
    return bracketed("contact", f"{contact.first_name} {contact.last_name or ''}")


def _dice(message: Message) -> str:
    return bracketed("dice", f"{message.dice.emoji} {message.dice.value}") if message.dice else ""


def _game(message: Message) -> str:
    return bracketed("game", message.game.title) if message.game else ""


def _poll(message: Message) -> str:
    return bracketed("poll", message.poll.question) if message.poll else ""


def _venue(message: Message) -> str:
    return bracketed("place", message.venue.title) if message.venue else ""


def _location(message: Message) -> str:
    if (place := message.location) is None:
        return ""
    return bracketed("location", f"{place.latitude:.5f}, {place.longitude:.5f}")


_LABELS: Final[tuple[Callable[[Message], str], ...]] = (
    _animation,
    _audio,
    _document,
    _photo,
    _sticker,
    _story,
    _video,
    _video_note,
    _voice,
    _live_photo,
    _paid_media,
    _checklist,
    _contact,
    _dice,
    _game,
    _poll,
    _venue,
    _location,
)
