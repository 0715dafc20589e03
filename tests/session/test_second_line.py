"""Guards of the scripts that no sequence of their own calls needs: rows that another release or an operator changed."""

import pytest

from gateway.clock import Clock
from gateway.session import keys
from gateway.session.inbox_redis import RedisInbox
from gateway.session.outbox_redis import RedisOutbox
from gateway.session.server_redis import RedisServer
from tests.support.messages import message, reply_to

SESSION, ROUTE = message(1).session, message(1).route
P = keys.session(SESSION)
OURS = [("web", "bot")]


@pytest.fixture
def inbox(redis_server: RedisServer) -> RedisInbox:
    return RedisInbox(redis_server, Clock(), ttl=30)


@pytest.fixture
def outbox(redis_server: RedisServer) -> RedisOutbox:
    return RedisOutbox(redis_server, Clock(), ttl=30)


async def test_a_held_session_that_stands_among_the_ready_is_left_to_its_holder(
    redis_server: RedisServer, inbox: RedisInbox
) -> None:
    await inbox.put(message(1))
    held = await inbox.take()
    assert held
    await redis_server.command("ZADD", f"{P}:ready", 0, str(SESSION))
    assert await inbox.take() is None
    assert await inbox.renew(SESSION, held.token) == {}


async def test_a_held_session_whose_lease_is_listed_as_over_is_left_to_its_holder(
    redis_server: RedisServer, inbox: RedisInbox
) -> None:
    await inbox.put(message(1))
    held = await inbox.take()
    assert held
    await redis_server.command("ZADD", f"{P}:leases", 0, str(SESSION))
    assert await inbox.recover() == 0
    assert await redis_server.command("ZCARD", f"{P}:leases") == 1  # or nobody would ever find a dead holder
    await inbox.renew(SESSION, held.token)
    assert await redis_server.command("ZCOUNT", f"{P}:leases", 1, "+inf") == 1
    await inbox.release(held, after=0)
    assert await redis_server.command("ZCARD", f"{P}:leases") == 0


async def test_a_session_that_was_emptied_by_hand_is_not_ready(redis_server: RedisServer, inbox: RedisInbox) -> None:
    await inbox.put(message(1))
    await redis_server.command("DEL", f"{P}:queue:{SESSION}")
    assert await inbox.take() is None
    for gives_back in (True, False):
        await inbox.put(message(2 + gives_back))
        held = await inbox.take()
        assert held
        await redis_server.command("DEL", f"{P}:queue:{SESSION}")
        if gives_back:
            await inbox.release(held, after=0)
        else:
            await redis_server.command("DEL", f"{P}:lease:{SESSION}")
            await redis_server.command("ZADD", f"{P}:leases", 0, str(SESSION))
        assert await inbox.recover() == 0


async def test_a_held_route_that_stands_among_the_due_is_left_to_its_holder(
    redis_server: RedisServer, outbox: RedisOutbox
) -> None:
    await outbox.put(reply_to(message(1)))
    parcel = await outbox.take(OURS)
    assert parcel
    await redis_server.command("ZADD", f"{P}:due:web/bot", 0, str(ROUTE))
    assert await outbox.take(OURS) is None
    await redis_server.command("ZADD", f"{P}:rleases:web/bot", 0, str(ROUTE))
    assert await outbox.recover(OURS) == 0
    assert await redis_server.command("ZCARD", f"{P}:rleases:web/bot") == 1
    await outbox.renew(parcel)
    assert await redis_server.command("ZCOUNT", f"{P}:rleases:web/bot", 1, "+inf") == 1
    await outbox.done(parcel)


async def test_a_reply_that_was_dropped_by_hand_takes_no_other_with_it(
    redis_server: RedisServer, outbox: RedisOutbox
) -> None:
    for number in (1, 2):
        await outbox.put(reply_to(message(number)))
    parcel = await outbox.take(OURS)
    assert parcel
    await redis_server.command("LPOP", f"{P}:replies:{ROUTE}")
    await outbox.done(parcel)
    parcel = await outbox.take(OURS)
    assert parcel
    assert parcel.reply == reply_to(message(2))
