"""Slack. `parse`, `slash` and `render` are pure; `adapter` owns the connections.

Only `build` loads the SDK.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from channels.supervise import Holder
from gateway.clock import Clock
from gateway.tape.last_seen import LastSeen

if TYPE_CHECKING:
    from channels.slack.adapter import SlackChannel

__all__ = ["build"]

API_BASE = "https://slack.com/api/"


def build(
    *,
    bot_token: str,
    app_token: str | None = None,
    signing_secret: str | None = None,
    holder: Holder,
    clock: Clock,
    poison_folder: Path,
    last_seen: LastSeen,
    api_base: str = API_BASE,
    group_context: int = 0,
    commands: Sequence[tuple[str, str]] = (),
    deadline: float = 20.0,
    ping_interval: float = 10.0,
) -> "SlackChannel":
    """The channel of the app with these tokens. Refused for what cannot be one.

    With an `app_token` it opens a socket; without it and with a `signing_secret` it answers at `routes`; with neither
    it can only send. `poison_folder`: where events go that cannot be read. `commands`: how each is
    used (`search <words>`) and what it does.
    """
    from channels.slack.adapter import SlackChannel

    return SlackChannel(
        bot_token=bot_token,
        app_token=app_token,
        signing_secret=signing_secret,
        holder=holder,
        clock=clock,
        poison_folder=poison_folder,
        last_seen=last_seen,
        api_base=api_base,
        group_context=group_context,
        commands=commands,
        deadline=deadline,
        ping_interval=ping_interval,
    )
