"""Up to where each place was taken in, over restarts and whatever happens to Redis."""

from gateway.tape.last_seen import WRITE_EVERY, LastSeen
from gateway.tape.name import service_name
from gateway.tape.store_memory import MemoryTapeStore
from tests.support.clock import ManualClock


def store_at(clock: ManualClock) -> MemoryTapeStore:
    return MemoryTapeStore(clock=clock, workspace="ws")


async def notes(store: MemoryTapeStore) -> int:
    return len((await store.window(service_name("ws"))).entries)


async def test_a_new_process_knows_where_the_last_one_was() -> None:
    """F11: it is in the tape store, so that a Redis that lost everything does not hide the gap."""
    clock = ManualClock()
    store = store_at(clock)
    one = LastSeen(store, "ws", clock, "discord")
    assert await one.load("1") == {}
    await one.saw("room", "100")
    await one.saw("room", "101")
    await one.write()

    assert await LastSeen(store, "ws", clock, "discord").load("1") == {"room": "101"}
    assert await LastSeen(store, "ws", clock, "discord").load("2") == {}
    assert await LastSeen(store, "ws", clock, "slack").load("1") == {}


async def test_a_place_is_noted_at_once_and_then_now_and_then() -> None:
    clock = ManualClock()
    store = store_at(clock)
    seen = LastSeen(store, "ws", clock, "discord")
    await seen.load("1")
    for number in range(100):
        await seen.saw("room", str(number))
    assert await notes(store) == 1
    await seen.saw("other", "7")
    assert await notes(store) == 2
    clock.advance(WRITE_EVERY)
    await seen.saw("room", "100")
    assert await notes(store) == 3
    assert await LastSeen(store, "ws", clock, "discord").load("1") == {"room": "100", "other": "7"}


async def test_a_disk_that_refuses_costs_no_message() -> None:
    clock = ManualClock()

    class Full(MemoryTapeStore):
        full = True

        async def append(self, tape, drafts):  # type: ignore[no-untyped-def]
            if self.full:
                raise OSError(28, "no space left on device")
            return await super().append(tape, drafts)

    store = Full(clock=clock, workspace="ws")
    seen = LastSeen(store, "ws", clock, "discord")
    await seen.load("1")
    await seen.saw("room", "1")
    store.full = False
    await seen.saw("room", "2")
    assert await LastSeen(store, "ws", clock, "discord").load("1") == {"room": "2"}
