"""Wake-ups: who hears what, and what happens when nobody could hear."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from gateway.clock import Clock
from gateway.session.inbox_redis import RedisInbox
from gateway.session.outbox_redis import RedisOutbox
from gateway.session.server_redis import RedisServer
from gateway.session.wakes_redis import RedisWakes
from tests.support.clock import ManualClock
from tests.support.messages import message, reply_to
from tests.support.redis import ServerProcess


@asynccontextmanager
async def listening(server: RedisServer, clock: Clock) -> AsyncIterator[RedisWakes]:
    """Subscribed, and the first look taken."""
    wakes = RedisWakes(server, clock)
    task = asyncio.create_task(wakes.run())
    await heard(wakes.ready, wakes.due)
    try:
        yield wakes
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def heard(*events: asyncio.Event) -> None:
    async with asyncio.timeout(10):
        for event in events:
            await event.wait()
            event.clear()


@pytest.fixture
def inbox(redis_server: RedisServer) -> RedisInbox:
    return RedisInbox(redis_server, Clock(), ttl=30)


async def test_everybody_hears_what_becomes_ready_due_and_marked(redis_server: RedisServer, inbox: RedisInbox) -> None:
    outbox, marked = RedisOutbox(redis_server, Clock(), ttl=30), asyncio.Queue[str]()
    async with listening(redis_server, Clock()) as here, listening(redis_server, Clock()) as there:
        there.marked = marked.put_nowait
        await inbox.put(message(1))
        await heard(here.ready, there.ready)
        assert not here.due.is_set()
        held = await inbox.take()
        assert held
        await inbox.stop(message(9), everybody=True)
        async with asyncio.timeout(10):
            assert await marked.get() == str(message(1).session)
        await heard(there.ready)  # it may have been ready for later
        await inbox.put(message(2), cancels=True)
        async with asyncio.timeout(10):
            assert await marked.get() == str(message(1).session)
        await inbox.settle(held, [message(1).id], [reply_to(message(1))])
        await heard(here.due, there.due)
        here.ready.clear()
        await inbox.release(held, after=0)
        await heard(here.ready)
        parcel = await outbox.take([("web", "bot")])
        assert parcel
        await outbox.defer(parcel, 0, counts=False)
        await heard(here.due)
        await outbox.put(reply_to(message(5)))
        await heard(here.due)


async def test_a_message_to_a_held_session_wakes_nobody(redis_server: RedisServer, inbox: RedisInbox) -> None:
    async with listening(redis_server, Clock()) as wakes:
        await inbox.put(message(1))
        await heard(wakes.ready)
        assert await inbox.take()
        await inbox.put(message(2))
        await RedisOutbox(redis_server, Clock(), ttl=30).put(reply_to(message(9)))
        await heard(wakes.due)  # it came after the message, and the channel keeps the order
        assert not wakes.ready.is_set()


async def test_a_lost_subscription_is_made_again_and_everybody_looks_once(
    private_redis: Callable[..., ServerProcess],
) -> None:
    process, clock = private_redis(), ManualClock()
    server = RedisServer(process.url)
    async with listening(server, clock) as wakes:
        process.kill()
        await clock.until_waiting()
        clock.advance(1)
        await clock.until_waiting()  # still away: tried once a second
        assert not wakes.ready.is_set()
        process.start()
        clock.advance(1)
        await heard(wakes.ready, wakes.due)
        await RedisInbox(server, Clock(), ttl=30).put(message(1))
        await heard(wakes.ready)
    await server.close()
