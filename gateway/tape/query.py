"""What to look for on a tape: an immutable chain, and the pure filter that it stands for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Self

from gateway.errors import Refused
from gateway.tape.codec import kind_of
from gateway.tape.entries import Anchor, Entry
from gateway.tape.search import fold, haystack


@dataclass(frozen=True, slots=True)
class Query:
    """Each method gives a new query. The order of the calls does not matter: a stretch of the tape is taken first
    (between anchors, then dates), then kinds and words are looked at, then `reverse`, then `limit`.

    An anchor itself is not part of the stretch that it bounds. Entries with `context: false` are found.
    """

    tape: str
    _stretch: tuple[str | None, str | None] | None = field(default=None)
    _dates: tuple[datetime | None, datetime | None] = field(default=(None, None))
    _kinds: frozenset[str] = field(default=frozenset())
    _words: str = field(default="")
    _reversed: bool = field(default=False)
    _limit: int | None = field(default=None)

    def kinds(self, *kinds: str) -> Self:
        """Entries of these kinds alone; of all, where none is named."""
        return replace(self, _kinds=frozenset(kinds))

    def text(self, words: str) -> Self:
        """Entries that say these words, in payload or meta, in any case."""
        return replace(self, _words=fold(words))

    def after_anchor(self, name: str) -> Self:
        """What follows the last anchor of this name."""
        return replace(self, _stretch=(name, None))

    def last_anchor(self) -> Self:
        """What follows the last anchor."""
        return replace(self, _stretch=(None, None))

    def between_anchors(self, first: str, last: str) -> Self:
        """What stands between two anchors: the last `first` that a `last` follows, and the nearest such `last`."""
        return replace(self, _stretch=(first, last))

    def between_dates(self, first: datetime | None, last: datetime | None) -> Self:
        """Entries of these dates, both included. None is open; a date without a zone is UTC."""
        return replace(self, _dates=(_aware(first), _aware(last)))

    def limit(self, count: int) -> Self:
        """At most so many: the first ones, or after `reverse` the last ones."""
        if count < 0:
            raise Refused(f"a query's limit is 0 or more, not {count}")
        return replace(self, _limit=count)

    def reverse(self) -> Self:
        """Newest first; twice is as before."""
        return replace(self, _reversed=not self._reversed)

    def select(self, entries: Iterable[Entry]) -> Sequence[Entry]:
        """The entries of a tape, given in its order, that the query is for. Raises Refused for a missing anchor."""
        found = [entry for entry in self._cut(list(entries)) if self._takes(entry)]
        if self._reversed:
            found.reverse()
        return found[: self._limit]

    def _takes(self, entry: Entry) -> bool:
        first, last = self._dates
        return (
            (not self._kinds or kind_of(entry.fact) in self._kinds)
            and (first is None or first <= entry.date)
            and (last is None or entry.date <= last)
            and (not self._words or self._words in fold(haystack(entry)))
        )

    def _cut(self, entries: list[Entry]) -> list[Entry]:
        if self._stretch is None:
            return entries
        first, last = self._stretch
        names = [(place, entry.fact.name) for place, entry in enumerate(entries) if isinstance(entry.fact, Anchor)]
        if last is None:
            places = [place for place, name in names if first is None or name == first]
            if not places:
                raise Refused("this tape has no anchor" if first is None else f"no anchor {first!r} on this tape")
            return entries[places[-1] + 1 :]
        starts = [place for place, name in names if name == first]
        ends = [place for place, name in names if name == last]
        for wanted, places in ((first, starts), (last, ends)):
            if not places:
                raise Refused(f"no anchor {wanted!r} on this tape")
        begun = [start for start in starts if start < ends[-1]]
        if not begun:
            raise Refused(f"no anchor {last!r} after {first!r} on this tape")
        return entries[begun[-1] + 1 : min(end for end in ends if end > begun[-1])]


def _aware(date: datetime | None) -> datetime | None:
    return date.replace(tzinfo=UTC) if date is not None and date.tzinfo is None else date
