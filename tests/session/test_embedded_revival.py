"""A server that dies under a running gateway."""

import os
import signal
from pathlib import Path

from gateway.session.embedded import EmbeddedServer
from tests.session.test_embedded import connected, pid_of, running


async def test_a_server_that_died_is_brought_back_with_its_data_and_a_living_one_is_left_alone(tmp_path: Path) -> None:
    """P13: one death of the server must not need a person."""
    folder = tmp_path / "redis"
    async with EmbeddedServer(folder) as server:
        async with connected(server.url) as client:
            await client.set("key", "value")
        pid = await pid_of(server.url)
        await server.revive()
        assert await pid_of(server.url) == pid

        os.kill(pid, signal.SIGKILL)
        await server.revive()
        assert await pid_of(server.url) != pid
        async with connected(server.url) as client:
            assert await client.get("key") == "value"
    assert not running(folder)
