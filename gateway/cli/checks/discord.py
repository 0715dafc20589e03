"""Discord: whose token is it, may the bot read what the settings want, and does Discord's gateway answer?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway import __version__
from gateway.cli.checks.finding import Finding, off, people, unreachable
from gateway.cli.checks.http import Answer, fetch, first_frame

if TYPE_CHECKING:
    from gateway.settings import Settings

SWITCH = "the switch MESSAGE CONTENT INTENT (discord.com/developers: the application, Bot)"
_SEES_CONTENT = 1 << 18 | 1 << 19  # GATEWAY_MESSAGE_CONTENT and its _LIMITED: the latter in up to 100 servers
_SHORTEST = 17  # digits of an id: one of 2015, when Discord began, has so many
_HELLO = 10


@dataclass(frozen=True, slots=True)
class Bot:
    """Who a token is. `application`: its id. `sees_content`: whether the privileged intent is switched on."""

    id: str
    name: str
    application: str
    sees_content: bool


async def check(settings: "Settings") -> Sequence[Finding]:
    """The token, the intent, the gateway, then what else is to be said."""
    discord = settings.discord
    if discord.token is None:
        return [off("discord", "discord.token")]
    bot = await bot_of(settings)
    if isinstance(bot, Finding):
        return [bot]
    found = [Finding("discord", "ok", f"the token is {bot.name}'s"), _intent(settings, bot)]
    found.append(await _gateway(discord.gateway_url))
    return found + people("discord", discord.admins + discord.allow, lambda person: _wrong(person, bot))


async def bot_of(settings: "Settings") -> Bot | Finding:
    """Who the token is, or what is wrong. The token must be set."""
    base = settings.discord.api_base.rstrip("/")
    token = settings.discord.token.get_secret_value() if settings.discord.token else ""
    headers = {"Authorization": f"Bot {token}", "User-Agent": f"DiscordBot (gateway, {__version__})"}
    match await fetch("GET", f"{base}/users/@me", headers):
        case None:
            return unreachable("discord", base, "discord.api_base")
        case Answer(200, {"id": str(own), "username": str(name)}):
            pass
        case Answer(401):
            advice = "discord.com/developers: the application, Bot, Reset Token; copy it at once, it is shown once"
            return Finding("discord", "fail", "the token is wrong", advice)
        case Answer(status):
            return Finding("discord", "warn", f"{base} answers with status {status}")
    match await fetch("GET", f"{base}/applications/@me", headers):
        case Answer(200, {"id": str(application), "flags": int(flags)}):
            return Bot(own, name, application, bool(flags & _SEES_CONTENT))
        case _:
            return Finding("discord", "warn", f"the token is {name}'s; its switches cannot be read just now")


def _intent(settings: "Settings", bot: Bot) -> Finding:
    discord, part = settings.discord, "discord intent"
    if discord.message_content and not bot.sees_content:
        advice = f"turn on {SWITCH}, or set discord.message_content to false"
        return Finding(part, "fail", "discord.message_content asks for what is switched off there", advice)
    if discord.group_context and not discord.message_content:
        advice = f"turn on {SWITCH} and set discord.message_content to true, or discord.group_context to 0"
        return Finding(part, "warn", "discord.group_context needs discord.message_content", advice)
    if discord.message_content:
        return Finding(part, "ok", "it reads every message of the channels that it is in")
    return Finding(part, "ok", "it reads private messages and what is addressed to it (discord.message_content is off)")


async def _gateway(url: str) -> Finding:
    match await first_frame(f"{url}?v=10&encoding=json"):
        case {"op": int(op)} if op == _HELLO:
            return Finding("discord gateway", "ok", f"{url} answers")
        case _:
            return unreachable("discord gateway", url, "discord.gateway_url")


def _wrong(person: str, bot: Bot) -> str:
    if person == bot.id:
        return "is the bot itself"
    return "" if len(person) >= _SHORTEST else f"is too short for an id of Discord ({_SHORTEST} digits or more)"
