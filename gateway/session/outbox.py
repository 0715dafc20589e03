"""The port of the outbox: replies that are not proven delivered, in one queue per route."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from gateway.message import Reply, Route


class PartState(Enum):
    """How far one part is. INTENT: its send was begun, and its process did not live to tell how it ended.

    AGAIN: a send was made and not answered. SENT: there is nothing more to do.
    """

    INTENT = "intent"
    AGAIN = "again"
    SENT = "sent"


@dataclass(frozen=True, slots=True)
class Parcel:
    """The first reply of a route, with the route's lease. `tries` counts the deferrals."""

    reply: Reply
    token: str
    asked: float
    states: Mapping[int, PartState] = field(default_factory=dict)
    tries: int = 0


class Outbox(Protocol):
    """Every method raises Retryable when the server cannot be asked; those with a token raise LeaseLost."""

    async def put(self, reply: Reply) -> bool:
        """Queues the reply. False, and nothing happened, if a reply of this turn is or was queued."""
        ...

    async def take(self, accounts: Iterable[tuple[str, str]]) -> Parcel | None:
        """The next due reply of one of these (channel, account) pairs, its route leased. Never waits."""
        ...

    async def note(self, parcel: Parcel, part: int, state: PartState | None) -> None:
        """Writes down how far a part is, and pushes the route's lease out. None: it was certainly not sent."""
        ...

    async def renew(self, parcel: Parcel) -> None:
        """Pushes the route's lease out."""
        ...

    async def done(self, parcel: Parcel) -> None:
        """Removes the reply, remembers its turn, and gives the route back."""
        ...

    async def defer(self, parcel: Parcel, seconds: float, *, counts: bool) -> None:
        """Gives the route back; it is due again after that time. `counts`: this was a try that failed."""
        ...

    async def recover(self, accounts: Iterable[tuple[str, str]]) -> int:
        """Makes the routes of dead holders due. Returns how many routes are due now."""
        ...

    async def owed(self, route: Route) -> int:
        """How many replies of this route are not proven delivered."""
        ...
