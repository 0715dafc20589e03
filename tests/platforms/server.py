"""A web server on this machine that a fake platform runs on, and a bell for those who wait for it.

Tests wait by `Bell.until`, never by sleeping: whoever changes something rings, whoever waits looks again.
"""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from aiohttp import web

T = TypeVar("T")


class Bell:
    """Wakes everybody who waits for a change of the fake; one loop, so nothing is missed between look and wait."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        rung, self._rung = self._rung, asyncio.Event()
        rung.set()

    async def until(self, seen: Callable[[], T], timeout: float) -> T:
        """What `seen` answers once it answers something true; TimeoutError if it does not in time."""
        async with asyncio.timeout(timeout):
            while not (value := seen()):
                await self._rung.wait()
        return value


class LocalServer:
    """Serves one fake on 127.0.0.1; `down` and `up` are an outage: connections are cut and refused, the port stays."""

    def __init__(self, port: int = 0, *, cancels_on_disconnect: bool = False) -> None:
        self.bell = Bell()
        self.closing = False
        self._port = port
        self._cancels_on_disconnect = cancels_on_disconnect
        self._runner: web.AppRunner | None = None

    def routes(self) -> list[web.RouteDef]:
        raise NotImplementedError

    @property
    def port(self) -> int:
        return self._port

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def up(self) -> None:
        app = web.Application(client_max_size=64 * 2**20)
        app.add_routes(self.routes())
        self.closing = False
        self._runner = web.AppRunner(
            app,
            access_log=None,
            shutdown_timeout=0.2,
            handler_cancellation=self._cancels_on_disconnect,
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True).start()
        self._port = int(self._runner.addresses[0][1])

    async def down(self) -> None:
        if self._runner is None:
            return
        runner, self._runner = self._runner, None
        self.closing = True
        self.bell.ring()
        await runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.up()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.down()


def cut(request: web.Request) -> web.Response:
    """Drop the connection as a dying network does; what is returned never reaches the client."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
