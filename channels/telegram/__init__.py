"""Telegram. `parse` and `render` are pure; `adapter` owns the connections.

Only `build` loads the SDK, which takes seconds and 160 MB.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.clock import Clock

if TYPE_CHECKING:
    from channels.supervise import Holder
    from channels.telegram.adapter import TelegramChannel

__all__ = ["build"]

API_BASE = "https://api.telegram.org"


def build(
    *,
    token: str,
    poison_folder: Path,
    holder: "Holder" = nullcontext,
    clock: Clock | None = None,
    api_base: str = API_BASE,
    commands: Sequence[tuple[str, str]] = (),
    poll_timeout: int = 30,
    deadline: float = 20.0,
    group_context: int = 0,
) -> "TelegramChannel":
    """The channel of the bot with this token.

    `poison_folder`: where updates go that cannot be read. `holder`: a lease of the account (see supervise.Holder);
    none is needed where there is one process. `commands`: name and description, for Telegram's menu. `group_context`:
    so many messages of a group that were not for the bot come along with the next that is.
    """
    from channels.telegram.adapter import TelegramChannel

    return TelegramChannel(
        token,
        poison_folder=poison_folder,
        holder=holder,
        clock=clock or Clock(),
        api_base=api_base,
        commands=commands,
        poll_timeout=poll_timeout,
        deadline=deadline,
        group_context=group_context,
    )
