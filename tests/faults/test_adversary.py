"""The adversary over in-memory parts."""

import pytest

from gateway.message import Route
from tests.support.adversary import Adversary, Faults, Misfortune
from tests.support.clock import ManualClock
from tests.support.memory_inbox import MemoryInbox
from tests.support.memory_outbox import MemoryOutbox
from tests.support.memory_server import MemoryServer
from tests.support.world import ROOMS, TTL, World, memory_world


def adversary(seed: int, faults: Faults, *, messages: int = 5, rooms: int = 1) -> Adversary:
    """A fresh world in memory and its adversary."""
    clock = ManualClock()
    server = MemoryServer(clock)
    world: World = memory_world(clock, server, MemoryInbox(server, ttl=TTL), MemoryOutbox(server))

    async def expire() -> None:
        for room in ROOMS:
            server.expire(room)

    async def expire_route() -> None:
        for room in ROOMS:
            server.expire_route(Route(room.channel, room.account, room.conversation))

    async def wipe() -> None:
        server.wipe()

    return Adversary(world, Misfortune(expire, expire_route, wipe), seed, faults, messages, rooms)


@pytest.mark.parametrize("block", range(20))
async def test_kills_and_freezes_at_every_port_call_break_no_promise(block):
    for seed in range(block * 10, block * 10 + 10):
        await adversary(seed, Faults(kill=2, freeze=2, suspend=1)).run()


@pytest.mark.parametrize("block", range(10))
async def test_a_server_that_loses_everything_loses_no_recorded_reply(block):
    for seed in range(block * 10, block * 10 + 10):
        await adversary(seed, Faults(kill=1, freeze=1, wipe=1, duplicate=3)).run()


@pytest.mark.parametrize("block", range(10))
async def test_calls_whose_answer_is_lost_break_no_promise(block):
    """P4, P5, P7, P8, P13: at any call of any port, before its effect or after it; sends too, and the intake."""
    for seed in range(block * 10, block * 10 + 10):
        await adversary(seed, Faults(kill=1, freeze=1, duplicate=2, away=5, ambiguous=2)).run()


@pytest.mark.parametrize("block", range(10))
async def test_two_sessions_do_not_disturb_each_other(block):
    """P2, P6: every promise holds in each of them, whatever happens to the processes that serve both."""
    for seed in range(block * 10, block * 10 + 10):
        await adversary(seed, Faults(kill=2, freeze=2, away=2), messages=7, rooms=2).run()
