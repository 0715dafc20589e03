"""The lease by itself: time, errors and cancellation. What it is worth on a server: the contract, at the end."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from gateway.clock import Clock
from gateway.errors import Broken, LeaseLost, Retryable
from gateway.session.inbox import Held, Inbox
from gateway.session.inbox_redis import RedisInbox
from gateway.session.lock import Lease
from gateway.session.server_redis import RedisServer
from tests.contracts.lease import LeaseContract, Marks
from tests.support.clock import ManualClock
from tests.support.memory_inbox import MemoryInbox
from tests.support.memory_server import MemoryServer
from tests.support.messages import message
from tests.support.redis import ServerProcess


class Renewals:
    """Counts renewals, and fails as told."""

    def __init__(self) -> None:
        self.count = 0
        self.error: Exception | None = None

    async def __call__(self) -> int:
        self.count += 1
        if self.error:
            raise self.error
        return self.count


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def renewals() -> Renewals:
    return Renewals()


@pytest.fixture
def lease(renewals: Renewals, clock: ManualClock) -> Lease[int]:
    return Lease(renewals, name="x", ttl=30, asked=clock.boot(), clock=clock)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not true():
            await asyncio.sleep(0)


async def test_ensure_compares_the_clock_so_that_a_frozen_worker_is_not_deceived(
    lease: Lease[int], clock: ManualClock
) -> None:
    """F2."""
    async with lease.held():
        clock._passed += 29.99  # nobody runs: a freeze
        lease.ensure()
        clock._passed += 0.01
        with pytest.raises(LeaseLost):
            lease.ensure()


async def test_the_deadline_counts_from_before_the_request(clock: ManualClock) -> None:
    async def slow() -> None:
        clock._passed += 20  # the answer takes its time

    lease = Lease(slow, name="x", ttl=30, asked=clock.boot(), clock=clock)
    await lease.refresh()
    clock._passed += 10
    with pytest.raises(LeaseLost):
        lease.ensure()


async def test_an_old_answer_that_comes_late_does_not_shorten_the_lease(clock: ManualClock) -> None:
    gates = [asyncio.Event(), asyncio.Event()]
    answers = iter(gates)

    async def renew() -> None:
        await next(answers).wait()

    lease = Lease(renew, name="x", ttl=30, asked=clock.boot(), clock=clock)
    old = asyncio.create_task(lease.refresh())
    await asyncio.sleep(0)
    clock.advance(20)
    new = asyncio.create_task(lease.refresh())
    await asyncio.sleep(0)
    gates[1].set()
    await new
    gates[0].set()
    await old
    clock.advance(29)
    lease.ensure()


async def test_it_renews_six_times_in_its_ttl(lease: Lease[int], clock: ManualClock, renewals: Renewals) -> None:
    async with lease.held():
        for expected in range(1, 7):
            await clock.until_waiting()
            clock.advance(4.9)
            await asyncio.sleep(0)
            assert renewals.count == expected - 1
            clock.advance(0.1)
            await until(lambda expected=expected: renewals.count == expected)  # type: ignore[misc]


async def test_hurry_renews_at_once_and_tells_the_news(renewals: Renewals, clock: ManualClock) -> None:
    told: list[int] = []
    lease = Lease(renewals, name="x", ttl=30, asked=clock.boot(), clock=clock, told=told.append)
    async with lease.held():
        lease.hurry()
        await until(lambda: told == [1])
        await clock.pass_by(0.1)
        assert told == [1]
        lease.hurry()
        await until(lambda: told == [1, 2])


async def test_a_renewal_puts_the_bodys_end_off(clock: ManualClock, renewals: Renewals) -> None:
    lease = Lease(renewals, name="x", ttl=30, asked=clock.boot() - 29.8, clock=clock)
    loop = asyncio.get_running_loop()
    async with lease.held():
        end = loop.time() + 0.2
        await lease.refresh()
        while loop.time() < end + 0.1:
            await asyncio.sleep(0.02)


async def test_nothing_renews_after_the_body(lease: Lease[int], clock: ManualClock, renewals: Renewals) -> None:
    async with lease.held():
        await clock.until_waiting()
    await clock.pass_by(60)
    assert renewals.count == 0
    assert clock.waiters == 0


async def test_a_failed_renewal_is_tried_again_and_forgotten(
    lease: Lease[int], clock: ManualClock, renewals: Renewals
) -> None:
    async with lease.held():
        renewals.error = Retryable("away")
        for _ in range(5):
            await clock.until_waiting()
            clock.advance(5)
        await until(lambda: renewals.count == 5)
        renewals.error = None
        await clock.until_waiting()
        clock.advance(4.9)
        lease.ensure()
        lease.hurry()
        await until(lambda: renewals.count == 6)
        await clock.until_waiting()
        clock.advance(29)
        lease.ensure()


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("x"), TimeoutError("its own"), LeaseLost("its own"), Retryable("x")]
)
async def test_an_error_of_the_body_passes_as_it_is(lease: Lease[int], clock: ManualClock, error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        async with lease.held():
            await clock.until_waiting()
            raise error
    assert raised.value is error
    assert clock.waiters == 0


async def test_a_cancellation_from_outside_stays_one(lease: Lease[int], clock: ManualClock) -> None:
    async def work() -> None:
        async with lease.held():
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await clock.until_waiting()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_body_that_swallows_its_cancellation_has_lost_the_lease_all_the_same(
    lease: Lease[int], renewals: Renewals
) -> None:
    with pytest.raises(LeaseLost):
        async with asyncio.timeout(10), lease.held():
            renewals.error = LeaseLost("gone")
            lease.hurry()
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()


async def test_an_unexpected_error_of_the_renewal_ends_the_body_at_once_and_is_seen(
    lease: Lease[int], renewals: Renewals
) -> None:
    with pytest.raises(Broken, match="a bug"):
        async with asyncio.timeout(10), lease.held():
            renewals.error = Broken("a bug")
            lease.hurry()
            await asyncio.Event().wait()


async def test_a_renewal_that_comes_while_a_cancelled_body_cleans_up_gives_nothing_back(clock: ManualClock) -> None:
    answer = asyncio.Event()

    async def renew() -> None:
        await answer.wait()

    lease = Lease(renew, name="x", ttl=30, asked=clock.boot() - 29.9, clock=clock)
    with pytest.raises(LeaseLost):
        async with asyncio.timeout(10), lease.held():
            lease.hurry()
            try:
                await asyncio.Event().wait()
            finally:
                answer.set()
                for _ in range(5):
                    await asyncio.sleep(0)


async def test_a_lease_that_ran_out_before_its_body_began_cancels_it_at_its_first_wait(clock: ManualClock) -> None:
    lease = Lease(Renewals(), name="x", ttl=30, asked=clock.boot() - 31, clock=clock)
    with pytest.raises(LeaseLost):
        async with asyncio.timeout(10), lease.held():
            await asyncio.Event().wait()


class SessionLease:
    """The lease of one session of an inbox."""

    def __init__(self, inbox: Callable[[float], Inbox], away: Callable[[], None]) -> None:
        self._inbox, self._away = inbox, away
        self._held: Held | None = None

    async def take(self, ttl: float) -> Callable[[], Awaitable[Marks]]:
        inbox = self._inbox(ttl)
        await inbox.put(message(1))
        held = self._held = await inbox.take()
        assert held
        return lambda: inbox.renew(held.session, held.token)

    async def steal(self) -> None:
        inbox, held = self._inbox(3600), self._held
        assert held
        await inbox.release(replace(held), after=0)
        assert await inbox.take()

    async def away(self) -> None:
        self._away()


class TestInMemory(LeaseContract):
    @pytest.fixture
    def keeper(self) -> SessionLease:
        server = MemoryServer(Clock())

        def away() -> None:
            server.away = True

        return SessionLease(lambda ttl: MemoryInbox(server, ttl=ttl), away)


class _OnRedis(LeaseContract):
    kind = ""

    @pytest.fixture
    async def keeper(self, private_redis: Callable[..., ServerProcess]) -> AsyncIterator[SessionLease]:
        process = private_redis(self.kind)
        server = RedisServer(process.url, timeout=0.2)
        yield SessionLease(lambda ttl: RedisInbox(server, Clock(), ttl=ttl), process.freeze)
        await server.close()


class TestOnValkey(_OnRedis):
    kind = "valkey"


class TestOnRedis7(_OnRedis):
    kind = "redis7"
