"""What a lease promises, whoever keeps it on the server."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

import pytest

from gateway.clock import Clock
from gateway.errors import LeaseLost, Retryable
from gateway.message import MessageId
from gateway.session.lock import Lease
from tests.support.clock import ManualClock

Marks = Mapping[MessageId, MessageId]


class Keeper(Protocol):
    """The server's side of one lease, of `ttl` seconds there."""

    async def take(self, ttl: float) -> Callable[[], Awaitable[Marks]]:
        """Acquires the lease and returns what renews it."""
        ...

    async def steal(self) -> None:
        """Somebody else holds it from now on."""
        ...

    async def away(self) -> None:
        """The server answers nobody, until the test ends."""
        ...


class LeaseContract(ABC):
    """Subclass it and provide `keeper`. A body that must be cancelled waits for ever: the test's limit is 10 s."""

    @pytest.fixture
    @abstractmethod
    def keeper(self) -> Keeper: ...

    async def test_a_lease_outlives_its_ttl_by_renewing(self, keeper: Keeper) -> None:
        """P2."""
        clock = ManualClock()
        told: list[Marks] = []
        lease = Lease(
            await keeper.take(30),
            name="x",
            ttl=30,
            asked=clock.boot(),
            clock=clock,
            told=lambda marks: told.append(marks),
        )
        async with asyncio.timeout(10), lease.held():
            for renewals in range(1, 20):
                await clock.until_waiting()
                clock.advance(5)
                while len(told) < renewals:
                    await asyncio.sleep(0)
                lease.ensure()
        assert clock.boot() > 90

    async def test_a_body_whose_lease_was_taken_over_is_cancelled(self, keeper: Keeper) -> None:
        """P2, P9."""
        clock, cancelled = ManualClock(), False
        lease = Lease(await keeper.take(30), name="x", ttl=30, asked=clock.boot(), clock=clock)
        await keeper.steal()
        with pytest.raises(LeaseLost, match="another"):
            async with asyncio.timeout(10), lease.held():
                lease.hurry()
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    cancelled = True
                    raise
        assert cancelled

    async def test_a_body_whose_lease_cannot_be_renewed_until_the_deadline_is_cancelled(self, keeper: Keeper) -> None:
        """P2, P9."""
        clock = Clock()
        renew, asked = await keeper.take(0.6), clock.boot()
        lease = Lease(renew, name="x", ttl=0.6, asked=asked, clock=clock)
        await keeper.away()
        with pytest.raises(LeaseLost, match="ran out"):
            async with asyncio.timeout(10), lease.held():
                await asyncio.Event().wait()
        assert clock.boot() > asked + 0.5  # one failure is not the end
        with pytest.raises(LeaseLost):
            lease.ensure()

    async def test_refresh_brings_news_at_once_or_says_why_not(self, keeper: Keeper) -> None:
        clock = ManualClock()
        lease = Lease(await keeper.take(30), name="x", ttl=30, asked=clock.boot(), clock=clock)
        async with asyncio.timeout(10), lease.held():
            clock.advance(29)
            await lease.refresh()
            clock.advance(29)
            lease.ensure()
        await keeper.steal()
        with pytest.raises(LeaseLost):
            await lease.refresh()
        await keeper.away()
        with pytest.raises(Retryable):
            await lease.refresh()

    async def test_a_blocked_loop_loses_the_lease_and_ensure_says_so_before_anybody_ran(self, keeper: Keeper) -> None:
        """F2, F18."""
        clock = Clock()
        lease = Lease(await keeper.take(0.2), name="x", ttl=0.2, asked=clock.boot(), clock=clock)
        with pytest.raises(LeaseLost):
            async with asyncio.timeout(10), lease.held():
                time.sleep(0.4)
                with pytest.raises(LeaseLost):
                    lease.ensure()
                await asyncio.Event().wait()
