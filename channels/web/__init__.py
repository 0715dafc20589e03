"""A chat page in the browser, served by the gateway itself; it needs no account anywhere."""

from collections.abc import Callable, Iterable, Sequence

from channels.web.adapter import WebChannel
from channels.web.routes import History, Records
from gateway.clock import Clock
from gateway.web.app import Healths, WebApp

__all__ = ["WebChannel", "build"]


def build(
    *,
    token: str,
    history: History,
    records: Records | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    clock: Clock | None = None,
    announce: Callable[[str], None] = lambda link: None,
    commands: Sequence[tuple[str, str]] = (),
    healths: Healths | None = None,
    names: Iterable[str] = (),
) -> WebChannel:
    """The channel with a web server of its own. `healths` is what `/healthz` tells, of all channels."""
    app = WebApp(host, port, healths=healths, names=names)
    return WebChannel(
        app,
        token=token,
        history=history,
        records=records,
        clock=clock or Clock(),
        announce=announce,
        commands=commands,
    )
