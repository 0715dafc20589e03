"""The one subscription of a process: it hears when something became ready, due or marked."""

import asyncio
from collections.abc import Callable

from redis.exceptions import RedisError

from gateway.clock import Clock
from gateway.session import keys
from gateway.session.server_redis import RedisServer


class RedisWakes:
    """`ready` and `due` are set when there is something to take; `marked` is called with a session's text.

    A wake-up that is lost costs at most the second until the next recovery: correctness never hangs on one.
    """

    def __init__(self, server: RedisServer, clock: Clock) -> None:
        self._server, self._clock = server, clock
        self.ready, self.due = asyncio.Event(), asyncio.Event()
        self.marked: Callable[[str], None] = lambda _session: None

    async def run(self) -> None:
        """Listens until cancelled; subscribes again after every loss."""
        while True:
            try:
                await self._listen()
            except (RedisError, OSError):
                await self._clock.wait(1)

    async def _listen(self) -> None:
        async with self._server.reader.pubsub() as channel:
            await channel.subscribe(keys.WAKE)
            async for message in channel.listen():
                match message:
                    case {"type": "subscribe"}:  # what was published before is not heard: look once
                        self.ready.set()
                        self.due.set()
                    case {"data": b"due"}:
                        self.due.set()
                    case {"data": b"ready"}:
                        self.ready.set()
                    case {"data": bytes(data)} if data.startswith(b"marks "):
                        self.ready.set()
                        self.marked(data[6:].decode())
