"""A chat page in the browser, served by the gateway itself; it needs no account anywhere."""

from collections.abc import Callable, Sequence

from channels.web.adapter import WebChannel
from channels.web.routes import History, Records
from gateway.clock import Clock
from gateway.web.app import WebApp

__all__ = ["WebChannel", "build"]


def build(
    *,
    app: WebApp,
    token: str,
    history: History,
    records: Records | None = None,
    clock: Clock | None = None,
    announce: Callable[[str], None] = lambda link: None,
    commands: Sequence[tuple[str, str]] = (),
) -> WebChannel:
    """The channel on the gateway's web server, which it starts and stops."""
    return WebChannel(
        app,
        token=token,
        history=history,
        records=records,
        clock=clock or Clock(),
        announce=announce,
        commands=commands,
    )
