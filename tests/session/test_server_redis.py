"""Servers that are away, slow, full, restarted, and answers that are lost (DESIGN section 5: Redis away)."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from gateway.clock import Clock
from gateway.errors import Broken, Retryable
from gateway.session.inbox import Accepted
from gateway.session.inbox_redis import RedisInbox
from gateway.session.outbox_redis import RedisOutbox
from gateway.session.server_redis import RedisServer, Unreachable
from tests.support.messages import message, reply_to
from tests.support.proxy import proxy_to
from tests.support.redis import ServerProcess

Private = Callable[..., ServerProcess]


@asynccontextmanager
async def client(url: str, *, timeout: float = 2.0) -> AsyncIterator[RedisServer]:
    server = RedisServer(url, timeout=timeout)
    try:
        yield server
    finally:
        await server.close()


def inbox_on(server: RedisServer) -> RedisInbox:
    return RedisInbox(server, Clock(), ttl=30)


async def test_a_command_whose_answer_is_lost_is_not_repeated(private_redis: Private) -> None:
    """redis-py's own default would count twice."""
    async with proxy_to(private_redis()) as proxy, client(proxy.url) as server:
        assert await server.command("INCR", "n") == 1
        proxy.lose = True
        with pytest.raises(Unreachable):
            await server.command("INCR", "n")
        assert proxy.lost == 1
        assert await server.command("GET", "n") == b"2"


async def test_a_put_whose_answer_is_lost_happened_once_and_is_known_when_repeated(private_redis: Private) -> None:
    async with proxy_to(private_redis()) as proxy, client(proxy.url) as server:
        inbox = inbox_on(server)
        await inbox.put(message(1))
        proxy.lose = True
        with pytest.raises(Retryable):
            await inbox.put(message(2))
        assert await inbox.put(message(2)) is Accepted.KNOWN
        held = await inbox.take()
        assert held
        assert held.waiting.messages == (message(1), message(2))


async def test_a_settle_whose_answer_is_lost_may_be_repeated(private_redis: Private) -> None:
    async with proxy_to(private_redis()) as proxy, client(proxy.url) as server:
        inbox, outbox = inbox_on(server), RedisOutbox(server, Clock(), ttl=30)
        await inbox.put(message(1))
        await inbox.put(message(2))
        held = await inbox.take()
        assert held
        assert await inbox.settle(held, [], [])  # the server knows the script from now on
        proxy.lose = True
        with pytest.raises(Retryable):
            await inbox.settle(held, [message(1).id], [reply_to(message(1))])
        assert (await inbox.status(held.session)).waiting == 1
        rest = await inbox.settle(held, [message(1).id], [reply_to(message(1))])
        assert rest
        assert rest.messages == (message(2),)
        parcel = await outbox.take([("web", "bot")])
        assert parcel
        await outbox.done(parcel)
        assert await outbox.take([("web", "bot")]) is None


async def test_a_take_whose_answer_is_lost_strands_nothing(private_redis: Private) -> None:
    async with proxy_to(private_redis()) as proxy, client(proxy.url) as server:
        assert await inbox_on(server).take() is None  # the server knows the script from now on
        await inbox_on(server).put(message(1))
        quick = RedisInbox(server, Clock(), ttl=0.05)
        async with asyncio.timeout(10):
            while await quick.recover() == 1:
                proxy.lose = True  # one of the eight partitions is the message's
                with suppress(Unreachable):
                    assert await quick.take() is None
            while not await quick.recover():
                await asyncio.sleep(0.01)
        assert await inbox_on(server).take()


@pytest.mark.parametrize("tcp", [False, True])
async def test_a_server_that_is_away_is_said_at_once_and_used_again_when_it_is_back(
    private_redis: Private, tcp: bool
) -> None:
    process = private_redis("valkey", "--appendonly", "yes", "--appendfsync", "always", tcp=tcp)
    async with client(process.url) as server:
        inbox = inbox_on(server)
        await asyncio.gather(*(inbox.put(message(n)) for n in range(20)))  # many connections, all of which will die
        before = await server.generation()
        process.kill()
        began = time.monotonic()
        for call in (inbox.put(message(20)), inbox.take(), inbox.recover(), inbox.status(message(1).session)):
            with pytest.raises(Unreachable):
                await call
        with pytest.raises(Unreachable):
            await server.generation()
        assert time.monotonic() - began < 5
        process.start()
        assert await inbox.put(message(20)) is Accepted.NEW
        answers = await asyncio.gather(*(inbox.put(message(n)) for n in range(21)))
        assert answers == [Accepted.KNOWN] * 21
        assert await server.generation() != before


async def test_a_frozen_server_is_given_up_within_the_timeout_and_used_again(private_redis: Private) -> None:
    process = private_redis()
    async with client(process.url, timeout=0.2) as server:
        inbox = inbox_on(server)
        await inbox.put(message(1))
        process.freeze()
        began = time.monotonic()
        results = await asyncio.gather(*(inbox.put(message(2)) for _ in range(80)), return_exceptions=True)
        assert all(isinstance(result, Unreachable) for result in results)
        assert time.monotonic() - began < 5
        process.thaw()
        assert await inbox.put(message(2)) in (Accepted.NEW, Accepted.KNOWN)
        held = await inbox.take()
        assert held
        assert held.waiting.messages == (message(1), message(2))


async def test_a_server_that_forgot_the_scripts_is_told_again(redis_server: RedisServer) -> None:
    inbox = inbox_on(redis_server)
    await inbox.put(message(1))
    await redis_server.command("SCRIPT", "FLUSH")
    assert await inbox.put(message(1)) is Accepted.KNOWN
    assert await inbox.take()


async def test_a_burst_wider_than_the_pool_waits_its_turn(redis_server: RedisServer) -> None:
    inbox = inbox_on(redis_server)
    answers = await asyncio.gather(*(inbox.put(message(n)) for n in range(300)))
    assert answers == [Accepted.NEW] * 300


async def test_a_cancelled_command_spoils_no_other(redis_server: RedisServer) -> None:
    for number in range(30):
        task = asyncio.create_task(redis_server.command("ECHO", f"cancelled {number}"))
        for _ in range(number):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert await redis_server.command("ECHO", str(number)) == str(number).encode()


async def test_a_full_server_refuses_what_is_new_whole_and_lets_what_waits_be_finished(
    redis_server: RedisServer,
) -> None:
    inbox, outbox = inbox_on(redis_server), RedisOutbox(redis_server, Clock(), ttl=30)
    for number in (1, 2):
        await inbox.put(message(number))
    await outbox.put(reply_to(message(7, "other")))
    held = await inbox.take()
    assert held
    before = await everything(redis_server)
    await redis_server.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
    await redis_server.command("CONFIG", "SET", "maxmemory", "1")
    try:
        for call in (
            inbox.put(message(3)),
            inbox.put(message(3), cancels=True),
            inbox.stop(message(9), everybody=True),
            outbox.put(reply_to(message(8))),
        ):
            with pytest.raises(Unreachable):
                await call
        assert await everything(redis_server) == before
        await inbox.renew(held.session, held.token)
        assert await inbox.settle(held, [message(1).id], [reply_to(message(1))])
        await inbox.release(held, after=0)
        again = await inbox.take()
        assert again
        assert await inbox.settle(again, [message(2).id], [reply_to(message(2))]) is None
        for _ in range(3):
            parcel = await outbox.take([("web", "bot")])
            assert parcel
            await outbox.done(parcel)
    finally:
        await redis_server.command("CONFIG", "SET", "maxmemory", "0")
    assert await inbox.put(message(3)) is Accepted.NEW


async def test_an_unwritable_server_is_one_that_may_be_back(private_redis: Private) -> None:
    process = private_redis()
    process.tell("REPLICAOF", "127.0.0.1", "1")
    async with client(process.url) as server:
        with pytest.raises(Unreachable):
            await inbox_on(server).put(message(1))


async def test_a_busy_server_is_one_that_may_be_back(private_redis: Private) -> None:
    process = private_redis("redis7", "--busy-reply-threshold", "1")
    async with client(process.url) as server, client(process.url, timeout=10) as other:
        endless = asyncio.create_task(other.command("EVAL", "while true do end", 0))
        async with asyncio.timeout(10):
            while not process.tell("PING").startswith(b"-BUSY"):
                await asyncio.sleep(0.005)
        with pytest.raises(Unreachable):
            await inbox_on(server).put(message(1))
        process.tell("SCRIPT", "KILL")
        with pytest.raises(Broken):
            await endless


async def test_a_wrong_command_is_a_bug(redis_server: RedisServer) -> None:
    with pytest.raises(Broken, match="NONSENSE"):
        await redis_server.command("NONSENSE")
    await redis_server.command("SET", "gw1:{p0}:ready", "not a set")
    with pytest.raises(Broken, match="recover"):
        await redis_server.run("recover", "gw1:{p0}:ready", "gw1:{p0}")


async def everything(server: RedisServer) -> dict[str, object]:
    """All keys and what they hold; times to live left out."""
    found = await server.command("KEYS", "*")
    assert isinstance(found, list)
    return {str(key): await server.command("DUMP", key) for key in found if isinstance(key, bytes)}  # type: ignore[arg-type]
