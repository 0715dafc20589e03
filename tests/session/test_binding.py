"""What the server remembers of the gateway as a whole."""

from contextlib import asynccontextmanager

from gateway.session.binding_redis import RedisMemory
from gateway.session.server_redis import RedisServer


async def test_a_generation_is_swept_once_and_again_when_the_server_lost_everything(redis_server):
    """V7: a gateway that starts beside a server that remembers sweeps nothing."""
    memory = RedisMemory(redis_server)
    generation = await memory.forgotten()
    assert generation == await redis_server.generation()
    await memory.swept(generation)
    assert await memory.forgotten() is None

    await redis_server.command("FLUSHALL")
    assert await memory.forgotten() == generation


async def test_a_server_that_started_anew_may_have_forgotten(private_redis):
    process = private_redis("valkey", "--appendonly", "yes")
    async with asking(process) as memory:
        await memory.swept(await memory.forgotten())
    process.kill()
    process.start()
    async with asking(process) as memory:
        assert await memory.forgotten() is not None


@asynccontextmanager
async def asking(process):
    """The memory of a server, through a client of its own."""
    server = RedisServer(process.url)
    try:
        yield RedisMemory(server)
    finally:
        await server.close()
