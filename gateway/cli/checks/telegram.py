"""Telegram: whose token is it, and does the bot see what the settings want?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gateway.cli.checks.finding import Finding, off, people, unreachable
from gateway.cli.checks.http import Answer, fetch

if TYPE_CHECKING:
    from gateway.settings import Settings

_BITS = 52  # of a user's id (Bot API, type User)


async def check(settings: "Settings") -> Sequence[Finding]:
    """The token, then what else is to be said."""
    telegram = settings.telegram
    if telegram.token is None:
        return [off("telegram", "telegram.token")]
    base = telegram.api_base.rstrip("/")
    match await fetch("GET", f"{base}/bot{telegram.token.get_secret_value()}/getMe"):
        case None:
            return [unreachable("telegram", base, "telegram.api_base")]
        case Answer(200, {"result": {"username": str(name), "id": int(own), **able}}):
            found = [Finding("telegram", "ok", f"the token is @{name}'s")]
            if telegram.group_context and able.get("can_read_all_group_messages") is False:
                found.append(
                    Finding(
                        "telegram groups",
                        "warn",
                        "telegram.group_context is set, and Telegram shows the bot only what is addressed to it",
                        "@BotFather: /setprivacy, Disable; then take the bot out of its groups and add it again",
                    )
                )
            return found + people("telegram", telegram.admins + telegram.allow, lambda person: _wrong(person, own))
        case Answer(401 | 404):
            return [Finding("telegram", "fail", "the token is wrong", "copy it anew from @BotFather (/token)")]
        case Answer(status):
            return [Finding("telegram", "warn", f"{base} answers with status {status}")]


def _wrong(person: str, own: int) -> str:
    if int(person) == own:
        return "is the bot itself"
    return "" if 0 < int(person) < 2**_BITS else "is too long for an id of Telegram"
