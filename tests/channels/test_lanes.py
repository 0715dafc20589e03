"""One queue a conversation: order within it, none between them."""

import asyncio

import pytest

from channels.lanes import Lanes, LanesFull


async def test_a_conversation_is_handled_in_the_order_of_its_events_though_the_first_is_slow() -> None:
    """F12: m1 has a picture and takes long; m2 must not be accepted before it."""
    handled: list[str] = []
    picture = asyncio.Event()

    async def handle(item: str) -> None:
        if item == "m1":
            await picture.wait()
        handled.append(item)

    lanes = Lanes(handle)
    first, second, other = lanes.put("a", "m1"), lanes.put("a", "m2"), lanes.put("b", "m3")
    await other

    assert handled == ["m3"]
    picture.set()
    await asyncio.gather(first, second)
    assert handled == ["m3", "m1", "m2"]
    assert lanes.waiting == 0


async def test_whoever_put_an_item_hears_how_it_ended_and_those_behind_go_on() -> None:
    async def handle(item: int) -> None:
        if item == 1:
            raise OSError(28, "no space left")

    lanes = Lanes(handle)
    first, second = lanes.put("a", 1), lanes.put("a", 2)

    with pytest.raises(OSError, match="no space"):
        await first
    await second


async def test_a_failure_that_nobody_waits_for_is_no_warning() -> None:
    async def handle(item: int) -> None:
        raise OSError(item)

    lanes = Lanes(handle)
    lanes.put("a", 1)
    while lanes.waiting:
        await asyncio.sleep(0)


async def test_more_than_may_wait_is_refused() -> None:
    never = asyncio.Event()

    async def handle(item: int) -> None:
        await never.wait()

    lanes = Lanes(handle, most=2)
    waiting = [lanes.put("a", 1), lanes.put("b", 2)]
    with pytest.raises(LanesFull):
        lanes.put("c", 3)
    await lanes.close()
    assert all(one.cancelled() for one in waiting)
    assert lanes.waiting == 0


async def test_an_item_that_its_putter_gave_up_is_handled_all_the_same() -> None:
    handled: list[int] = []
    go = asyncio.Event()

    async def handle(item: int) -> None:
        await go.wait()
        handled.append(item)

    lanes = Lanes(handle)
    first, second = lanes.put("a", 1), lanes.put("a", 2)
    first.cancel()
    go.set()
    await second
    assert handled == [1, 2]
