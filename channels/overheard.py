"""What is said in a group and not to the bot: the last few messages, as context for whoever addresses it next."""

from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Final

from gateway.message import Quote, Route

LONGEST: Final = 2000
"""Characters of an overheard message that are kept."""

_PLACES: Final = 1000  # the longest quiet is forgotten first


@dataclass(frozen=True, slots=True)
class Aside:
    """A message of a group that was not for the bot."""

    route: Route
    quote: Quote


class Overheard:
    """The last `count` messages of each place, in this process alone; a restart forgets them. 0 keeps nothing."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._places: OrderedDict[Route, deque[Quote]] = OrderedDict()

    def hears(self, aside: Aside) -> None:
        """Keeps it, and forgets the oldest."""
        if not self._count or not aside.quote.text.strip():
            return
        said = self._places.setdefault(aside.route, deque(maxlen=self._count))
        said.append(Quote(aside.quote.name, aside.quote.text[:LONGEST]))
        self._places.move_to_end(aside.route)
        if len(self._places) > _PLACES:
            self._places.popitem(last=False)

    def quotes(self, route: Route) -> tuple[Quote, ...]:
        """What was said there since somebody last addressed the bot. It is given once."""
        return tuple(self._places.pop(route, ()))
