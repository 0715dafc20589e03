"""A proxy before a server that loses answers: what was sent has had its effect, and nobody says so."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.support.redis import ServerProcess


class Proxy:
    """`lose`: the next answer that comes back ends its connection instead of arriving. Handshakes come before it."""

    def __init__(self) -> None:
        self.url = ""
        self.lose = False
        self.lost = 0


@asynccontextmanager
async def proxy_to(process: ServerProcess) -> AsyncIterator[Proxy]:
    """A proxy on 127.0.0.1 to the server's socket."""
    proxy, tasks = Proxy(), set[asyncio.Task[None]]()

    async def forward(source: asyncio.StreamReader, to: asyncio.StreamWriter, *, answers: bool) -> None:
        try:
            while data := await source.read(65536):
                if answers and proxy.lose:
                    proxy.lose, proxy.lost = False, proxy.lost + 1
                    break
                to.write(data)
                await to.drain()
        except OSError:
            pass
        to.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        back, there = await asyncio.open_unix_connection(str(process.address))
        try:
            with suppress(asyncio.CancelledError):  # 3.11's streams complain about a cancelled handler
                async with asyncio.TaskGroup() as ways:
                    ways.create_task(forward(reader, there, answers=False))
                    ways.create_task(forward(back, writer, answers=True))
        finally:
            for end in (there, writer):
                end.close()
            await asyncio.gather(there.wait_closed(), writer.wait_closed(), return_exceptions=True)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    proxy.url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()
