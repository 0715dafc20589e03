"""Many seeded schedules of producers, workers and deliveries that die and freeze between any two scripts.

One actor moves at a time, so that a seed is one schedule. What must hold: each message is settled once, in the order
of its acceptance; each reply is delivered once, in that order; each stop that marked something is answered once;
and when everybody is at rest nothing is left behind.
"""

import random
from collections.abc import AsyncIterator, Callable

import pytest

from gateway.errors import LeaseLost
from gateway.message import MessageId, SessionKey, TurnId
from gateway.session import keys
from gateway.session.inbox import Accepted, Inbox
from gateway.session.outbox import Outbox, PartState
from gateway.session.server_redis import RedisServer
from tests.session.servers import InMemory, OnRedis
from tests.support.messages import message, reply_to
from tests.support.redis import ServerProcess

SEEDS = 200
ROOMS = ("a", "b", "c")
OURS = [("web", "bot")]


class World:
    """Everything that a schedule may do, and the record of what was done."""

    def __init__(self, seed: int, inbox: Inbox, outbox: Outbox, expire: Callable[[str], object]) -> None:
        self.random = random.Random(seed)
        self.inbox, self.outbox, self._expire = inbox, outbox, expire
        self.accepted: dict[str, list[MessageId]] = {room: [] for room in ROOMS}
        self.settled: dict[str, list[MessageId]] = {room: [] for room in ROOMS}
        self.put: dict[str, list[TurnId]] = {room: [] for room in ROOMS}
        self.delivered: dict[str, list[TurnId]] = {room: [] for room in ROOMS}
        self.asked: set[MessageId] = set()
        self.answered: list[MessageId] = []
        self._number = 0

    async def run(self) -> None:
        actors = [self._start(kind) for kind in (self.worker, self.worker, self.worker, self.delivery, self.delivery)]
        for _ in range(120):
            match self.random.random():
                case luck if luck < 0.2:
                    await self.arrival()
                case luck if luck < 0.23:
                    await self.stop()
                case luck if luck < 0.3:
                    await self.expiry()
                case luck if luck < 0.35:  # a death: whatever its last script did stays done
                    victim = self.random.randrange(len(actors))
                    await actors[victim].aclose()  # type: ignore[attr-defined]
                    actors[victim] = self._start(self.worker if victim < 3 else self.delivery)
                case _:
                    await anext(self.random.choice(actors))
        for actor in actors:
            await actor.aclose()  # type: ignore[attr-defined]
        await self.rest()

    async def rest(self) -> None:
        """Nobody dies any more, and all leases run out."""
        for room in ROOMS:
            await self._expire(room)  # type: ignore[misc]
        await self.inbox.recover()
        await self.outbox.recover(OURS)
        worker, delivery = self._start(self.worker), self._start(self.delivery)
        for _ in range(200):
            if (self.settled, self.delivered, len(self.answered)) == (self.accepted, self.put, len(self.asked)):
                break
            await anext(worker)
            await anext(delivery)
        await anext(worker)
        assert self.settled == self.accepted
        assert self.delivered == self.put
        assert sorted(self.answered) == sorted(self.asked)
        assert await self.inbox.recover() == 0
        assert await self.outbox.recover(OURS) == 0

    def _start(self, actor: Callable[[], AsyncIterator[None]]) -> AsyncIterator[None]:
        return actor()

    async def arrival(self) -> None:
        room = self.random.choice(ROOMS)
        if self.accepted[room] and self.random.random() < 0.3:  # delivered by the platform again
            assert (
                await self.inbox.put(message(int(self.random.choice(self.accepted[room])[8:]), room)) is Accepted.KNOWN
            )
            return
        self._number += 1
        arrived = message(self._number, room, author=self.random.choice(("ann", "bob")))
        assert await self.inbox.put(arrived, cancels=self.random.random() < 0.1) is Accepted.NEW
        self.accepted[room].append(arrived.id)

    async def stop(self) -> None:
        self._number += 1
        request = message(self._number, self.random.choice(ROOMS))
        marked = await self.inbox.stop(request, everybody=self.random.random() < 0.5)
        assert marked is not None
        if marked:
            self.asked.add(request.id)
        assert not await self.inbox.stop(request, everybody=True), "a request that came again marked something"

    async def expiry(self) -> None:
        await self._expire(self.random.choice(ROOMS))  # type: ignore[misc]
        await self.inbox.recover()
        await self.outbox.recover(OURS)

    async def worker(self) -> AsyncIterator[None]:
        """Yields before and after each script; it may be dropped, or left standing, at each."""
        while True:
            yield
            held = await self.inbox.take()
            yield
            if not held:
                continue
            room, waiting = held.session.conversation, held.waiting
            try:
                while waiting:
                    if self.random.random() < 0.3:
                        await self.inbox.renew(held.session, held.token)
                        yield
                    if self.random.random() < 0.1:
                        await self.inbox.release(held, after=0)
                        break
                    now = waiting.messages[: self.random.randint(1, 3)]
                    answers = [reply_to(now[0])] if now and now[0].id not in waiting.marks else []
                    last = not waiting.messages[len(now) :]
                    stops = [stop.id for stop in waiting.stops] if last else []
                    rest = await self.inbox.settle(held, [m.id for m in now], answers, stops)
                    self.settled[room] += [m.id for m in now]
                    self.put[room] += [reply.turn for reply in answers]
                    self.answered += stops
                    yield
                    if rest is None:
                        break
                    waiting = rest
            except LeaseLost:
                continue

    async def delivery(self) -> AsyncIterator[None]:
        while True:
            yield
            parcel = await self.outbox.take(OURS)
            yield
            if not parcel:
                continue
            try:
                for state in (PartState.INTENT, PartState.SENT):
                    await self.outbox.note(parcel, 0, state)
                    yield
                if self.random.random() < 0.2:
                    await self.outbox.defer(parcel, 0, counts=True)
                    continue
                await self.outbox.done(parcel)
                self.delivered[parcel.reply.route.conversation].append(parcel.reply.turn)
            except LeaseLost:
                continue


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_no_schedule_loses_doubles_or_reorders_in_memory(seed: int) -> None:
    there = InMemory()

    async def expire(room: str) -> None:
        there.server.expire(message(0, room).session)
        there.server.expire_route(message(0, room).route)

    await World(seed, there.inbox(), there.outbox(), expire).run()
    left = there.server.state
    assert not any(session.lock or session.marks for session in left.sessions.values())
    assert not any(route.lock or route.parts for route in left.routes.values())


@pytest.mark.parametrize(("kind", "first"), [("valkey", 0), ("redis7", 1)])
async def test_no_schedule_loses_doubles_or_reorders_on_a_server(
    shared_redis: Callable[[str], ServerProcess], kind: str, first: int
) -> None:
    """P2, P6, P7: Each kind takes half of the seeds."""
    redis_process = shared_redis(kind)
    redis_server = RedisServer(redis_process.url)
    for seed in range(first, SEEDS, 2):
        redis_process.tell("FLUSHALL")
        there = OnRedis(redis_server)

        async def expire(room: str) -> None:
            """What the server does when the time has come."""
            session: SessionKey = message(0, room).session
            p, route = keys.session(session), message(0, room).route
            await redis_server.command("DEL", f"{p}:lease:{session}", f"{p}:rlease:{route}")
            await redis_server.command("ZADD", f"{p}:leases", "XX", 0, str(session))
            await redis_server.command("ZADD", f"{p}:rleases:web/bot", "XX", 0, str(route))

        try:
            await World(seed, there.inbox(), there.outbox(), expire).run()
            left = await redis_server.command("KEYS", "*")
            assert isinstance(left, list)
            assert [
                key for key in left if isinstance(key, bytes) and b":seen:" not in key and b":known:" not in key
            ] == []
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error
    await redis_server.close()
