"""Who holds a bot's connection."""

import asyncio
from collections.abc import Callable

import pytest

from gateway.clock import Clock
from gateway.errors import LeaseLost
from gateway.session import keys
from gateway.session.lock_redis import RedisHolder
from gateway.session.server_redis import RedisServer
from tests.support.clock import ManualClock
from tests.support.redis import ServerProcess


class Process:
    """Holds the account `web/bot` until told to leave."""

    def __init__(self, server: RedisServer, clock: Clock, *, ttl: float = 30.0) -> None:
        self._holder, self._leave = RedisHolder(server, clock, ttl=ttl), asyncio.Event()
        self.holds = asyncio.Event()
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        async with self._holder.hold("web", "bot"):
            self.holds.set()
            await self._leave.wait()

    async def leave(self) -> None:
        self._leave.set()
        await self.task

    async def end(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


async def test_one_holds_and_the_others_stand_by_until_it_leaves(redis_server: RedisServer) -> None:
    clock = ManualClock()
    async with asyncio.timeout(10):
        first = Process(redis_server, clock)
        await first.holds.wait()
        await clock.until_waiting(1)
        others = [Process(redis_server, clock) for _ in range(3)]
        await clock.until_waiting(4)
        for _ in range(3):
            clock.advance(5)
            await clock.until_waiting(4)
        assert not any(other.holds.is_set() for other in others)
        await first.leave()
        clock.advance(5)
        _, pending = await asyncio.wait(
            [asyncio.create_task(other.holds.wait()) for other in others], return_when=asyncio.FIRST_COMPLETED
        )
        for task in pending:
            task.cancel()
        await clock.until_waiting(3)
        assert sum(other.holds.is_set() for other in others) == 1
        for other in others:
            await other.end()


async def test_two_accounts_are_held_side_by_side(redis_server: RedisServer) -> None:
    holder = RedisHolder(redis_server, Clock(), ttl=30)
    async with asyncio.timeout(10), holder.hold("web", "bot"), holder.hold("web", "other"):
        pass


async def test_the_connection_of_a_dead_holder_is_taken_over_when_its_lease_ran_out(redis_server: RedisServer) -> None:
    key = keys.holder("web", "bot")
    assert await redis_server.run("hold", key, "a dead process", 50, 0) == 1
    async with asyncio.timeout(10), RedisHolder(redis_server, Clock(), ttl=0.3).hold("web", "bot"):
        assert await redis_server.command("GET", key) != b"a dead process"


async def test_a_holder_that_was_replaced_is_cancelled_and_leaves_the_other_alone(redis_server: RedisServer) -> None:
    key, clock = keys.holder("web", "bot"), ManualClock()
    with pytest.raises(LeaseLost):
        async with asyncio.timeout(10), RedisHolder(redis_server, clock, ttl=30).hold("web", "bot"):
            await redis_server.command("SET", key, "another")
            await clock.until_waiting()
            clock.advance(5)
            await asyncio.Event().wait()
    assert await redis_server.command("GET", key) == b"another"


async def test_a_holder_whose_lease_vanished_does_not_take_it_again(redis_server: RedisServer) -> None:
    """Between the loss and the renewal another may have held it: the connection must be made anew."""
    clock = ManualClock()
    with pytest.raises(LeaseLost):
        async with asyncio.timeout(10), RedisHolder(redis_server, clock, ttl=30).hold("web", "bot"):
            await redis_server.command("DEL", keys.holder("web", "bot"))
            await clock.until_waiting()
            clock.advance(5)
            await asyncio.Event().wait()


async def test_a_holder_renews_while_its_body_runs(redis_server: RedisServer) -> None:
    clock = ManualClock()
    async with asyncio.timeout(10), RedisHolder(redis_server, clock, ttl=30).hold("web", "bot"):
        await redis_server.command("PEXPIRE", keys.holder("web", "bot"), 10_000)
        await clock.until_waiting()
        clock.advance(5)
        while await redis_server.command("PTTL", keys.holder("web", "bot")) < 20_000:  # type: ignore[operator]
            await asyncio.sleep(0.005)


async def test_a_grant_whose_answer_was_lost_is_recognised(redis_server: RedisServer) -> None:
    for _ in range(2):
        assert await redis_server.run("hold", "k", "token", 30_000, 0) == 1
    assert await redis_server.run("hold", "k", "another", 30_000, 0) == 0
    assert await redis_server.run("drop", "k", "another") == 0
    assert await redis_server.run("drop", "k", "token") == 1


async def test_one_who_is_cancelled_while_standing_by_or_holding_leaves_nothing_behind(
    redis_server: RedisServer,
) -> None:
    clock = ManualClock()
    first = Process(redis_server, clock)
    await first.holds.wait()
    second = Process(redis_server, clock)
    await clock.until_waiting(2)
    await second.end()
    assert await redis_server.command("EXISTS", keys.holder("web", "bot")) == 1
    await first.end()
    assert await redis_server.command("EXISTS", keys.holder("web", "bot")) == 0


async def test_a_server_that_is_away_is_waited_for(private_redis: Callable[..., ServerProcess]) -> None:
    process, clock = private_redis(), ManualClock()
    process.stop()
    server = RedisServer(process.url)
    async with asyncio.timeout(10):
        waiting = Process(server, clock)
        await clock.until_waiting()
        process.start()
        clock.advance(5)
        await waiting.holds.wait()
        await waiting.leave()
    await server.close()
