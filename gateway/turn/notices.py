"""Who was told something a short while ago: a flood of messages is answered with one line."""

from gateway.clock import Clock

QUIET = 60.0
"""Seconds between two times that somebody is told the same."""


class Notices:
    """Remembers in this process alone: after a restart somebody may be told once more."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._told: dict[str, float] = {}  # the oldest first

    def due(self, who: str) -> bool:
        """Whether they may be told (again)."""
        before = self._told.get(who)
        return before is None or self._clock.boot() - before >= QUIET

    def told(self, who: str) -> None:
        """They were: to be said when it is certain, so that a notice that failed is tried again."""
        now = self._clock.boot()
        self._told.pop(who, None)
        self._told[who] = now
        while now - next(iter(self._told.values())) >= QUIET:
            del self._told[next(iter(self._told))]
