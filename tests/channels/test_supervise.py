"""A connection that ends is begun again, with patience, and its health is true meanwhile."""

import asyncio

import pytest

from channels.supervise import RARELY, STANDBY, Supervisor
from gateway.channel import Health
from gateway.errors import LeaseLost, Refused, Retryable
from tests.support.clock import ManualClock


class Waits(ManualClock):
    """Notes each wait with the health that was told before it, and ends the loop after `most`."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most, self.seen = most, list[tuple[float, Health]]()
        self.supervisor = Supervisor("x", self)

    async def wait(self, seconds: float) -> None:
        self.seen.append((seconds, self.supervisor.health))
        if len(self.seen) >= self.most:
            raise asyncio.CancelledError
        await asyncio.sleep(0)


async def rounds(clock: Waits, *ends: Exception | None) -> None:
    left = list(ends)

    async def once() -> None:
        if (end := left.pop(0)) is not None:
            raise end

    with pytest.raises(asyncio.CancelledError):
        await clock.supervisor.run(once)


@pytest.mark.parametrize(
    ("end", "health"),
    [
        (Retryable("the network is away"), Health("degraded", "not connected: the network is away")),
        (Refused("the token is wrong"), Health("off", "the token is wrong")),
        (LeaseLost("x/1"), STANDBY),
        (ZeroDivisionError(), Health("degraded", "a fault of the gateway; see the log")),
    ],
)
async def test_why_a_round_ended_is_what_health_says(end: Exception, health: Health) -> None:
    clock = Waits(1)
    await rounds(clock, end)
    assert [h for _, h in clock.seen] == [health]


async def test_waits_grow_and_are_the_platforms_own_where_it_names_one() -> None:
    clock = Waits(7)
    await rounds(clock, *[Retryable("away")] * 4, None, Retryable("slow down", after=117), Refused("wrong token"))
    waits = [seconds for seconds, _ in clock.seen]
    assert waits[0] == 1
    assert waits[3] > waits[0]
    assert waits[5:] == [117, RARELY]


async def test_a_connection_that_stood_ends_the_growing_waits() -> None:
    clock = Waits(6)
    left = 6

    async def once() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            clock.supervisor.tell(Health("connected", "@bot"))
        raise Retryable("cut")

    with pytest.raises(asyncio.CancelledError):
        await clock.supervisor.run(once)
    assert clock.seen[-2][0] > 4
    assert clock.seen[-1][0] == 1
