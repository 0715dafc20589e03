"""The adversary over in-memory parts."""

import pytest

from tests.support.adversary import Adversary, Faults, Misfortune
from tests.support.clock import ManualClock
from tests.support.memory_inbox import MemoryInbox
from tests.support.memory_outbox import MemoryOutbox
from tests.support.memory_server import MemoryServer
from tests.support.world import KEY, ROUTE, TTL, World, memory_world


def adversary(seed: int, faults: Faults, *, messages: int = 5) -> Adversary:
    """A fresh world in memory and its adversary."""
    clock = ManualClock()
    server = MemoryServer(clock)
    world: World = memory_world(clock, server, MemoryInbox(server, ttl=TTL), MemoryOutbox(server))

    async def expire() -> None:
        server.expire(KEY)

    async def expire_route() -> None:
        server.expire_route(ROUTE)

    async def wipe() -> None:
        server.wipe()

    return Adversary(world, Misfortune(expire, expire_route, wipe), seed, faults, messages)


@pytest.mark.parametrize("block", range(20))
async def test_kills_and_freezes_at_every_port_call_break_no_promise(block):
    for seed in range(block * 10, block * 10 + 10):
        await adversary(seed, Faults(kill=2, freeze=2, suspend=1)).run()


@pytest.mark.parametrize("block", range(10))
async def test_a_server_that_loses_everything_loses_no_recorded_reply(block):
    for seed in range(block * 10, block * 10 + 10):
        await adversary(seed, Faults(kill=1, freeze=1, wipe=1, duplicate=3)).run()
