"""What a message of Slack carries beside its text, in one line each: `[photo: a.png]`, `[voice message, 12 s]`."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from channels.names import bracketed

_CLIPS: Final = {"slack_audio": "voice message", "slack_video": "video message"}
_KINDS: Final = {"image": "photo", "video": "video", "audio": "audio"}


def labels(event: Mapping[str, object]) -> list[str]:
    """A line for each file, and for each message that is shared in it."""
    return [*_lines(event.get("files"), _file), *_lines(event.get("attachments"), _shared)]


def _lines(items: object, say: Callable[[Mapping[str, object]], str]) -> Iterator[str]:
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and (line := say(item)):
            yield line


def _file(file: Mapping[str, object]) -> str:
    clip, length = _CLIPS.get(str(file.get("subtype"))), file.get("duration_ms")
    if clip:
        return f"[{clip}, {round(length / 1000)} s]" if isinstance(length, int) else f"[{clip}]"
    kind = _KINDS.get(str(file.get("mimetype")).partition("/")[0], "document")
    name = file.get("name") or file.get("title")
    return bracketed(kind, name if isinstance(name, str) else "")


def _shared(attachment: Mapping[str, object]) -> str:
    if not attachment.get("is_share"):
        return ""  # the preview of a link is not what the person sent
    said = attachment.get("text") or attachment.get("fallback")
    return bracketed("shared message", said if isinstance(said, str) else "")
