"""The inbox in memory: the same rules as the scripts, nothing inside awaits, so each method is one step."""

import math
import secrets
from collections.abc import Mapping, Sequence

from gateway.errors import Broken, LeaseLost
from gateway.message import IncomingMessage, MessageId, Reply, SessionKey
from gateway.session.inbox import Accepted, Held, SessionStatus, Waiting
from gateway.session.keys import KNOWN_FOR
from tests.support.memory_outbox import put_reply
from tests.support.memory_server import Lock, MemoryServer, SessionState


class MemoryInbox:
    """Any number of them, and of outboxes, share one MemoryServer; any number of workers share one of them."""

    def __init__(
        self, server: MemoryServer, *, ttl: float = 30.0, capacity: int = 1000, only: str | None = None
    ) -> None:
        self._server, self._ttl, self._capacity, self._only = server, ttl, capacity, only

    async def put(self, message: IncomingMessage, *, cancels: bool = False) -> Accepted:
        now, there = self._server.now(), self._server.session(message.session)
        if self._seen(message.id, now):
            return Accepted.KNOWN
        if len(there.queue) >= self._capacity:
            return Accepted.FULL
        if cancels:
            for before in there.queue:
                there.marks.setdefault(before, message.id)
        self._server.state.seen[message.id] = math.inf
        there.queue[message.id] = message
        self._make_ready(there, now, hurry=cancels)
        if cancels:
            self._server.wakes.marked(str(message.session))
        return Accepted.NEW

    async def stop(self, request: IncomingMessage, *, everybody: bool) -> int | None:
        now, there = self._server.now(), self._server.session(request.session)
        if self._seen(request.id, now):
            return None if request.id in there.stops else 0
        marked = [
            waits.id
            for waits in there.queue.values()
            if waits.id not in there.marks and (everybody or waits.author.id == request.author.id)
        ]
        there.marks.update(dict.fromkeys(marked, request.id))
        self._server.state.seen[request.id] = math.inf if marked else now + KNOWN_FOR
        if marked:
            there.stops[request.id] = request
            self._make_ready(there, now, hurry=True)
            self._server.wakes.marked(str(request.session))
        return len(marked)

    async def take(self) -> Held | None:
        now = self._server.now()
        ready = [
            (there.ready, key)
            for key, there in self._server.state.sessions.items()
            if there.ready is not None and there.ready <= now and self._only in (None, key.channel)
        ]
        for _, key in sorted(ready, key=lambda pair: pair[0]):
            there = self._server.session(key)
            there.ready = None
            if there.busy and not (there.lock and there.lock.until > now):
                there.lock = Lock(secrets.token_hex(8), now + self._ttl)
                return Held(key, there.lock.token, _waiting(there), now)
        return None

    async def renew(self, session: SessionKey, token: str) -> Mapping[MessageId, MessageId]:
        there, lock = self._held(session, token)
        lock.until = self._server.now() + self._ttl
        return dict(there.marks)

    async def settle(
        self, held: Held, ids: Sequence[MessageId], replies: Sequence[Reply], stops: Sequence[MessageId] = ()
    ) -> Waiting | None:
        if any(reply.route.place != held.session.place for reply in replies):
            raise Broken(f"a reply of {held.session} goes to another conversation")
        there, _ = self._held(held.session, held.token)
        for message in ids:
            there.queue.pop(message, None)
        for stop in stops:
            there.stops.pop(stop, None)
        self._server.state.seen |= dict.fromkeys((*ids, *stops), self._server.now() + KNOWN_FOR)
        for reply in replies:
            put_reply(self._server, reply)
        there.marks = {m: by for m, by in there.marks.items() if {m, by} & (there.queue.keys() | there.stops.keys())}
        if there.busy:
            return _waiting(there)
        there.lock, there.marks = None, {}
        return None

    async def release(self, held: Held, *, after: float) -> None:
        try:
            there, _ = self._held(held.session, held.token)
        except LeaseLost:
            return
        there.lock = None
        if there.busy:
            there.ready = self._server.now() + after
            self._server.wakes.ready.set()

    async def recover(self) -> int:
        now, ready = self._server.now(), 0
        for there in self._server.state.sessions.values():
            if there.lock and there.lock.until <= now:
                there.lock = None
                if there.busy:
                    self._make_ready(there, now, hurry=False)
            ready += there.ready is not None and there.ready <= now
        return ready

    async def status(self, session: SessionKey) -> SessionStatus:
        now, there = self._server.now(), self._server.session(session)
        return SessionStatus(len(there.queue), there.lock is not None and there.lock.until > now)

    def _seen(self, message: MessageId, now: float) -> bool:
        return self._server.state.seen.get(message, -math.inf) > now

    def _held(self, session: SessionKey, token: str) -> tuple[SessionState, Lock]:
        now, there = self._server.now(), self._server.session(session)
        if there.lock is None or there.lock.token != token or there.lock.until <= now:
            raise LeaseLost(f"the lease of {session} is another's")
        return there, there.lock

    def _make_ready(self, there: SessionState, now: float, *, hurry: bool) -> None:
        """A message leaves a session that was released for later where it is; a request to stop does not.

        A held session is left to its holder.
        """
        held = there.lock and there.lock.until > now
        if not held and (there.ready is None or (hurry and there.ready > now)):
            there.ready = now
            self._server.wakes.ready.set()


def _waiting(there: SessionState) -> Waiting:
    return Waiting(tuple(there.queue.values()), dict(there.marks), tuple(there.stops.values()))
