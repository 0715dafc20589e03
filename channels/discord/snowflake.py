"""Discord's ids: they grow with time and tell when they were made."""

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(2015, 1, 1, tzinfo=UTC)
_SHIFT: Final = 22  # the lower bits tell ids of one millisecond apart


def made_at(id_: str) -> datetime:
    """When an id was made, in UTC. ValueError for a text that is none."""
    return _EPOCH + timedelta(milliseconds=int(id_) >> _SHIFT)


def first_of(moment: datetime) -> int:
    """The least id that can be made at this moment or later; 0 before there was a Discord."""
    return max(0, (moment - _EPOCH) // timedelta(milliseconds=1)) << _SHIFT


def is_id(text: str) -> bool:
    """Whether a text has the form of an id."""
    return text.isascii() and text.isdigit() and len(text) <= 20
