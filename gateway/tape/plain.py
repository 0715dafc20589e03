"""Plain JSON: what every tape, database and provider can carry."""

import json

from gateway.tape.entries import Json


def whole(text: str) -> str:
    """The text with each lone surrogate as U+FFFD, since UTF-8 cannot carry it."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def plain(value: object) -> Json:
    """The value as JSON that UTF-8 carries. Raises ValueError or TypeError for what JSON has no form for."""
    clean: Json = json.loads(whole(json.dumps(value, ensure_ascii=False, allow_nan=False)))
    return clean


def as_text(value: Json) -> str:
    """A text as it is, anything else as JSON text."""
    return whole(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def read_map(text: str) -> dict[str, Json] | None:
    """The JSON object that a text holds; None where it holds something else, or nothing readable."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
