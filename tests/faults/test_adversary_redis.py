"""The adversary over the real server and its scripts: kills and freezes before and after every one of them."""

from collections.abc import Callable

import pytest

from gateway.clock import Clock
from gateway.session import keys
from gateway.session.inbox_redis import RedisInbox
from gateway.session.outbox_redis import RedisOutbox
from gateway.session.server_redis import RedisServer
from gateway.tape.store_memory import MemoryTapeStore
from tests.support.adversary import Adversary, Faults, Misfortune
from tests.support.redis import ServerProcess
from tests.support.world import KEY, ROUTE, TTL, WORKSPACE, World

SEEDS = 200
BLOCKS = 10


@pytest.mark.parametrize("block", range(BLOCKS))
async def test_kills_before_and_after_every_script_break_no_promise(
    block: int, shared_redis: Callable[[str], ServerProcess]
) -> None:
    """P3, P4, P6, P7, P8 over the real scripts; the seed in the note of a failure plays it again."""
    server = RedisServer(shared_redis("valkey").url)
    try:
        for seed in range(block * SEEDS // BLOCKS, (block + 1) * SEEDS // BLOCKS):
            await server.command("FLUSHALL")
            await _adversary(server, seed).run()
    finally:
        await server.close()


def _adversary(server: RedisServer, seed: int) -> Adversary:
    clock = Clock()
    world = World(
        clock,
        RedisInbox(server, clock, ttl=TTL),
        RedisOutbox(server, clock, ttl=TTL),
        MemoryTapeStore(clock=clock, workspace=WORKSPACE),
    )
    p = keys.session(KEY)

    async def expire() -> None:
        await server.command("DEL", f"{p}:lease:{KEY}")
        await server.command("ZADD", f"{p}:leases", "XX", 0, str(KEY))

    async def expire_route() -> None:
        await server.command("DEL", f"{p}:rlease:{ROUTE}")
        await server.command("ZADD", f"{p}:rleases:chat/bot", "XX", 0, str(ROUTE))

    async def wipe() -> None:
        await server.command("FLUSHALL")

    faults = Faults(kill=2, freeze=2, suspend=1, wipe=seed % 4 == 0)
    return Adversary(world, Misfortune(expire, expire_route, wipe), seed, faults)
