"""The server that MemoryInbox and MemoryOutbox share, as Redis is shared: the state, its time, and its misfortunes."""

import asyncio
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Protocol

from gateway.errors import Retryable
from gateway.message import IncomingMessage, MessageId, Reply, Route, SessionKey, TurnId
from gateway.session.outbox import PartState


class Boots(Protocol):
    """The part of a clock that the doubles need."""

    def boot(self) -> float: ...


class MemoryWakes:
    """What RedisWakes tells, told at once."""

    def __init__(self) -> None:
        self.ready, self.due = asyncio.Event(), asyncio.Event()
        self.marked: Callable[[str], None] = lambda _session: None


@dataclass
class Lock:
    """A lease on the server: it ends by time, or by its token."""

    token: str = ""
    until: float = 0.0


@dataclass
class SessionState:
    """One session; `ready` is when it may be taken, None while somebody has taken it."""

    queue: dict[MessageId, IncomingMessage] = field(default_factory=dict)
    marks: dict[MessageId, MessageId] = field(default_factory=dict)
    stops: dict[MessageId, IncomingMessage] = field(default_factory=dict)
    lock: Lock | None = None
    ready: float | None = None

    @property
    def busy(self) -> bool:
        return bool(self.queue or self.stops)


@dataclass
class RouteState:
    """One route; `due` is when its first reply may be taken, None while somebody has taken it."""

    replies: dict[TurnId, Reply] = field(default_factory=dict)
    parts: dict[int, PartState] = field(default_factory=dict)
    tries: int = 0
    lock: Lock | None = None
    due: float | None = None


@dataclass
class Saved:
    """Everything on the server at one moment. `seen` and `known` say until when."""

    sessions: dict[SessionKey, SessionState] = field(default_factory=dict)
    routes: dict[Route, RouteState] = field(default_factory=dict)
    seen: dict[MessageId, float] = field(default_factory=dict)
    known: dict[TurnId, float] = field(default_factory=dict)


class MemoryServer:
    """`away`: every method of the inbox and the outbox raises Retryable, and nothing happens."""

    def __init__(self, clock: Boots) -> None:
        self.clock = clock
        self.away = False
        self.wakes = MemoryWakes()
        self.state = Saved()

    def now(self) -> float:
        """The server's time. Raises Retryable while it is away."""
        if self.away:
            raise Retryable("The server is away")
        return self.clock.boot()

    def session(self, key: SessionKey) -> SessionState:
        return self.state.sessions.setdefault(key, SessionState())

    def route(self, route: Route) -> RouteState:
        return self.state.routes.setdefault(route, RouteState())

    def expire(self, session: SessionKey) -> None:
        """The session's lease runs out now. Its holder is not told."""
        _run_out(self.session(session).lock, self.clock.boot())

    def expire_route(self, route: Route) -> None:
        """The route's lease runs out now. Its holder is not told."""
        _run_out(self.route(route).lock, self.clock.boot())

    def wipe(self) -> None:
        """Everything is lost, leases and duplicate checks too."""
        self.state = Saved()

    def save(self) -> Saved:
        """What a snapshot would keep, for `rollback`."""
        return deepcopy(self.state)

    def rollback(self, saved: Saved) -> None:
        """What happened since is lost, as after a power failure. May be used again."""
        self.state = deepcopy(saved)


def _run_out(lock: Lock | None, now: float) -> None:
    if lock:
        lock.until = min(lock.until, now)
