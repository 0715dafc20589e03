"""How long to wait before the next try."""

import random
from typing import Final

FIRST: Final = 1.0
LONGEST: Final = 30.0


class Backoff:
    """Grows from 1 to 30 seconds, with jitter, so that many bots do not come back in step. Never gives up."""

    def __init__(self) -> None:
        self._tries = 0

    def next(self) -> float:
        """Seconds to wait now; longer each time."""
        longest = min(LONGEST, FIRST * 2**self._tries)
        self._tries = min(self._tries + 1, 16)
        return max(FIRST, random.uniform(longest / 2, longest))  # noqa: S311  # no secret

    def reset(self) -> None:
        """It worked: the next trouble starts over."""
        self._tries = 0
