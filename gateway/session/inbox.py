"""The port of the inbox: accepted messages that are not answered yet, in one queue per session, and who works on them.

A session that has messages is *ready* until a worker takes it. `take` never waits for a held lease: the holder sees
every message when it settles, and a dead holder's session becomes ready by itself when its lease expires.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from gateway.message import IncomingMessage, MessageId, Reply, SessionKey


class Accepted(Enum):
    """What `put` did. NEW and KNOWN are durable: the platform may be told."""

    NEW = "new"
    KNOWN = "known"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits in one session, oldest first.

    `marks`: which message was cancelled by which request; a mark is a request, what the tape records decides.
    `stops`: the `/stop` requests that nobody has answered yet.
    """

    messages: tuple[IncomingMessage, ...] = ()
    marks: Mapping[MessageId, MessageId] = field(default_factory=dict)
    stops: tuple[IncomingMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """A session as taken. `asked` is the clock's `boot` before the request was sent: the lease counts from there."""

    session: SessionKey
    token: str
    waiting: Waiting
    asked: float


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """`running`: somebody holds the lease. `waiting` counts the running turn's messages as well."""

    waiting: int
    running: bool


class Inbox(Protocol):
    """Every method raises Retryable when the server cannot be asked; nobody retries blindly below this port."""

    async def put(self, message: IncomingMessage, *, cancels: bool = False) -> Accepted:
        """Checks for a duplicate, queues the message and marks its session ready, in one step.

        `cancels`: what waits before it is marked cancelled in the same step (an authorised /reset).
        """
        ...

    async def stop(self, request: IncomingMessage, *, everybody: bool) -> int | None:
        """Marks what waits or runs in the session: the author's own messages, or everybody's. Returns how many.

        None for a request that is known already and waits for its answer: whoever settles the last of them gives it.
        A known one that marked nothing, or was answered, marks nothing more.
        """
        ...

    async def take(self) -> Held | None:
        """The next ready session with its lease, or None if nothing is ready. Never waits."""
        ...

    async def renew(self, session: SessionKey, token: str) -> Mapping[MessageId, MessageId]:
        """Pushes the lease out and returns the marks. Raises LeaseLost for a foreign token."""
        ...

    async def settle(
        self, held: Held, ids: Sequence[MessageId], replies: Sequence[Reply], stops: Sequence[MessageId] = ()
    ) -> Waiting | None:
        """Puts the replies (known ones are left alone), removes the messages, forgets the answered stops: one step.

        Returns what waits now, with the lease still held; or None: nothing waits and the lease is given back.
        Raises LeaseLost for a foreign token, and nothing happened.
        """
        ...

    async def release(self, held: Held, *, after: float) -> None:
        """Gives the lease back; the session is ready again after so many seconds. A foreign token does nothing."""
        ...

    async def recover(self) -> int:
        """Makes the sessions of dead holders ready. Returns how many sessions are ready now."""
        ...

    async def status(self, session: SessionKey) -> SessionStatus: ...
