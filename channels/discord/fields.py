"""Reading Discord's JSON: what a rule needs and is not there, or is of another type, makes the whole unreadable."""

from collections.abc import Iterator, Mapping

from channels.handover import Unreadable

Payload = Mapping[str, object]
"""An object of Discord's JSON. Ids are strings of digits in it."""


def text(raw: Payload, key: str) -> str:
    """A string that must be there. Raises Unreadable."""
    match raw.get(key):
        case str(found):
            return found
    raise Unreadable(f"no text at {key}")


def words(raw: Payload, key: str) -> str:
    """A string that may be missing: empty then."""
    match raw.get(key):
        case str(found):
            return found
    return ""


def whole(raw: Payload, key: str) -> int:
    """A whole number that must be there, as a number or as digits. Raises Unreadable."""
    match raw.get(key):
        case int(found):
            return found
        case str(digits) if digits.isascii() and digits.isdigit():
            return int(digits)
    raise Unreadable(f"no number at {key}")


def inner(raw: Payload, key: str) -> Payload:
    """An object that may be missing: empty then."""
    match raw.get(key):
        case dict(found):
            return found
    return {}


def rows(raw: Payload, key: str) -> Iterator[Payload]:
    """The objects of a list that may be missing."""
    match raw.get(key):
        case list(found):
            yield from (row for row in found if isinstance(row, dict))


def ids(raw: Payload, key: str) -> frozenset[str]:
    """The strings of a list that may be missing."""
    match raw.get(key):
        case list(found):
            return frozenset(id_ for id_ in found if isinstance(id_, str))
    return frozenset()
