"""What the contracts of inbox and outbox need of the server under test: the one hook of each."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from gateway.message import MessageId, Route, SessionKey, TurnId
from gateway.session.inbox import Inbox
from gateway.session.outbox import Outbox

T = TypeVar("T")


class Server(Protocol):
    """One empty server. Each inbox and outbox is another process' own."""

    def inbox(self, *, ttl: float = 30.0, capacity: int = 1000, only: str | None = None) -> Inbox: ...
    def outbox(self, *, ttl: float = 30.0) -> Outbox: ...

    async def pause(self) -> None:
        """Lets a little time pass on the server."""
        ...

    async def lease_left(self, what: SessionKey | Route) -> float:
        """Seconds until the lease runs out; negative where there is none."""
        ...

    async def known_for(self, what: MessageId | TurnId, at: SessionKey, *, turn: bool = False) -> float | None:
        """Seconds that a message, or a reply's turn, stays known; None: for ever; negative: it is not."""
        ...


async def eventually(server: Server, ask: Callable[[], Awaitable[T | None]]) -> T:
    """Asks until there is an answer that counts. TimeoutError after 10 s."""
    async with asyncio.timeout(10):
        while not (found := await ask()):
            await server.pause()
        return found
