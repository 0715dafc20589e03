"""The one web server of a gateway: it binds the port, answers `/healthz` and carries the routes that channels mount."""

import errno
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aiohttp import web

from gateway.channel import Health
from gateway.errors import Retryable
from gateway.web.guard import Guard, add_headers, middleware

MAX_BODY = 2**20  # bytes
_LAST_WORDS = 2.0  # seconds that running requests have at a stop

Healths = Callable[[], Mapping[str, Health]]


class CannotBind(Retryable):
    """The port cannot be had now. Its text says what to do; `taken`: another program has it."""

    def __init__(self, message: str, *, taken: bool) -> None:
        super().__init__(message)
        self.taken = taken


class WebApp:
    """May be started again after a stop, on the same port; what is mounted stays mounted."""

    def __init__(
        self, host: str = "127.0.0.1", port: int = 0, *, healths: Healths | None = None, names: Iterable[str] = ()
    ) -> None:
        """`names`: further names of this machine to answer to when bound to loopback (behind a proxy)."""
        self._host, self._port = host, port
        self._healths: Healths = healths or dict
        self._guard = Guard(host, names)
        self._routes: list[web.RouteDef] = []
        self._stops: list[Callable[[], None]] = []
        self._runner: web.AppRunner | None = None

    @property
    def port(self) -> int:
        """As asked for; once bound, the real one."""
        return self._port

    @property
    def base_url(self) -> str:
        """What to open on this machine, without a slash at the end."""
        local = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(self._host, self._host)  # noqa: S104
        return f"http://{f'[{local}]' if ':' in local else local}:{self._port}"

    def mount(
        self, routes: Iterable[web.RouteDef], *, on_stop: Callable[[], None] | None = None, signed: bool = False
    ) -> None:
        """Adds routes to the next start. `on_stop` must end the requests that would go on for ever.

        `signed`: every request proves by a signature whose it is, so it may come under any name and from anywhere.
        """
        added = list(routes)
        self._routes += added
        if signed:
            self._guard.trust(route.path for route in added)
        if on_stop is not None:
            self._stops.append(on_stop)

    async def start(self) -> None:
        """Binds the port and serves until `stop`. Raises CannotBind."""
        runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=_LAST_WORDS)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._host or None, self._port).start()
        except OSError as error:
            await runner.cleanup()
            raise self._cannot(error) from error
        self._port = int(runner.addresses[0][1])
        self._runner = runner

    async def stop(self) -> None:
        """Gives the port back, lets running requests end, cuts those that do not."""
        if self._runner is not None:
            runner, self._runner = self._runner, None
            await runner.cleanup()

    def _application(self) -> web.Application:
        guards: Any = [middleware(self._guard)]
        app = web.Application(middlewares=guards, client_max_size=MAX_BODY)
        app.add_routes([web.get("/healthz", self._health), *self._routes])
        app.on_response_prepare.append(add_headers)
        app.on_shutdown.append(self._stopping)
        return app

    async def _stopping(self, _app: web.Application) -> None:
        for stop in self._stops:
            stop()

    async def _health(self, _request: web.Request) -> web.Response:
        healths = self._healths()
        good = all(health.state != "degraded" for health in healths.values())
        parts = {name: {"state": health.state, "detail": health.detail} for name, health in healths.items()}
        return web.json_response({"ok": good, "parts": parts})

    def _cannot(self, error: OSError) -> CannotBind:
        where = f"port {self._port} on {self._host or 'all addresses'}"
        other = "set GATEWAY_WEB__PORT to another one (0 = any free)"
        match error.errno:
            case errno.EADDRINUSE:
                return CannotBind(f"{where} is taken: stop the program that has it, or {other}", taken=True)
            case errno.EACCES | errno.EPERM:
                return CannotBind(f"{where} is not allowed for this user: {other}", taken=False)
            case _:
                return CannotBind(f"{where} cannot be had ({error.strerror}): check GATEWAY_WEB__HOST", taken=False)
