"""Discord. `parse` and `render` are pure; `adapter` owns the connections.

Only `build` loads the SDK.
"""

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.clock import Clock
from gateway.errors import Refused
from gateway.session.tokens import ReplyTokens
from gateway.tape.last_seen import LastSeen

if TYPE_CHECKING:
    from channels.discord.adapter import DiscordChannel
    from channels.supervise import Holder

__all__ = ["build"]


def build(
    *,
    token: str,
    poison_folder: Path,
    last_seen: LastSeen,
    tokens: ReplyTokens,
    holder: "Holder" = nullcontext,
    clock: Clock | None = None,
    api_base: str = "https://discord.com/api/v10",
    gateway_url: str = "wss://gateway.discord.gg/",
    message_content: bool = False,
    platform_admins: bool = False,
    admin_roles: Sequence[str] = (),
    group_context: int = 0,
    commands: Sequence[tuple[str, str]] = (),
    deadline: float = 20.0,
) -> "DiscordChannel":
    """The channel of the bot with this token. Refused for a token that cannot be one.

    `poison_folder`: where messages go that cannot be read. `last_seen`: what to read on from after a restart.
    `tokens`: what other processes need to answer a command. `holder`: a lease of the account (see
    supervise.Holder); none is needed where there is one process. `message_content`: the bot may read what does not
    mention it, which is switched on in the developer portal. `platform_admins`: who administers or manages a server
    is an admin there; `admin_roles`: so is who has one of these roles, by id. `group_context`: so many messages of a
    server's channel that were not for the bot come along with the next that is. `commands`: usage, such as
    `handoff [name] [note...]`, and summary, for Discord's menu.
    """
    if not token.isascii() or not token.strip() or any(map(str.isspace, token)):
        raise Refused("the Discord token is not one: it stands under Bot in the developer portal, and has no spaces")
    with warnings.catch_warnings():  # the SDK imports `audioop`, which Python 3.13 took away
        warnings.simplefilter("ignore", DeprecationWarning)
        from channels.discord.adapter import DiscordChannel
        from channels.discord.guilds import AdminRule

    return DiscordChannel(
        token,
        holder=holder,
        clock=clock or Clock(),
        poison_folder=poison_folder,
        last_seen=last_seen,
        tokens=tokens,
        api_base=api_base,
        gateway_url=gateway_url,
        message_content=message_content,
        rule=AdminRule(platform_admins, frozenset(admin_roles)),
        group_context=group_context,
        commands=commands,
        deadline=deadline,
    )
