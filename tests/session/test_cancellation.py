"""A task that is told to stop stops, wherever in a command it is."""

import asyncio

import pytest


async def test_a_cancellation_that_arrives_as_a_command_is_sent_is_not_swallowed(redis_server):
    """Python 3.11's `asyncio.wait_for` swallows one, and redis-py would send with it."""

    async def ask_for_ever():
        while True:
            await redis_server.command("PING")

    for turns in range(300):
        task = asyncio.create_task(ask_for_ever())
        for _ in range(turns % 60):
            await asyncio.sleep(0)
        task.cancel()
        async with asyncio.timeout(10):
            with pytest.raises(asyncio.CancelledError):
                await task
