"""Slack: whose tokens are they, may the app do what it must, and which way do events come?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from gateway.cli.checks.finding import Finding, off, people, unreachable
from gateway.cli.checks.http import Answer, fetch

if TYPE_CHECKING:
    from gateway.settings import Settings

SCOPES = (
    *("app_mentions:read", "channels:history", "channels:read", "chat:write", "commands", "groups:history"),
    *("groups:read", "im:history", "im:read", "mpim:history", "mpim:read", "users:read"),
)
"""What the bot token must be allowed, as in deploy/slack-manifest.yaml."""

_BOT = "api.slack.com/apps: the app, OAuth & Permissions, Bot User OAuth Token (xoxb-...)"
_APP = "api.slack.com/apps: the app, Basic Information, App-Level Tokens, with the scope connections:write (xapp-...)"
_REINSTALL = "api.slack.com/apps: the app, OAuth & Permissions, Scopes; then Reinstall to Workspace"


async def check(settings: "Settings") -> Sequence[Finding]:
    """The bot token with its scopes, then the way of the events."""
    slack = settings.slack
    if slack.bot_token is None and slack.app_token is None and slack.signing_secret is None:
        return [off("slack", "slack.bot_token")]
    return [*await bot(settings), *await events(settings)]


async def bot(settings: "Settings") -> Sequence[Finding]:
    """The bot token and its scopes, then what else is to be said."""
    slack = settings.slack
    if slack.bot_token is None:
        return [Finding("slack", "fail", "slack.bot_token is not set", _BOT)]
    match await _call(settings, "auth.test", slack.bot_token.get_secret_value()):
        case Answer(200, {"ok": True, **about}, headers):
            name, team, own = about.get("user"), about.get("team"), about.get("user_id")
            found = [Finding("slack", "ok", f"the bot token is @{name}'s in {team}")]
            if about.get("bot_id") is None:
                found = [Finding("slack", "fail", f"that token is no bot's: it is {name}'s own", _BOT)]
            has = headers.get("x-oauth-scopes", "")
            missing = [scope for scope in SCOPES if scope not in {scope.strip() for scope in has.split(",")}]
            if has and missing:
                state: Literal["warn", "fail"] = "fail" if "chat:write" in missing else "warn"
                found.append(Finding("slack scopes", state, f"missing: {', '.join(missing)}", _REINSTALL))
            elif has:
                found.append(Finding("slack scopes", "ok", "all that is needed"))
            return found + people("slack", slack.admins + slack.allow, lambda one: _own(one, own))
        case answer:
            return [_refused("slack", settings, answer, "the bot token", _BOT)]


async def events(settings: "Settings") -> Sequence[Finding]:
    """Which way events come, and whether Slack opens it. One finding."""
    slack, part = settings.slack, "slack events"
    if slack.app_token is not None:
        match await _call(settings, "apps.connections.open", slack.app_token.get_secret_value()):
            case Answer(200, {"ok": True}):
                return [Finding(part, "ok", "the app token opens Socket Mode")]
            case answer:
                return [_refused(part, settings, answer, "the app token", _APP)]
    if slack.signing_secret is not None:
        return [Finding(part, "ok", "by HTTP, at /slack/events of this gateway (slack.signing_secret)")]
    advice = f"set slack.app_token ({_APP}), or slack.signing_secret for events by HTTP"
    return [Finding(part, "fail", "no way for events is set", advice)]


async def _call(settings: "Settings", method: str, token: str) -> Answer | None:
    headers = {"Authorization": f"Bearer {token}"}
    return await fetch("POST", f"{settings.slack.api_base.rstrip('/')}/{method}", headers)


def _refused(part: str, settings: "Settings", answer: Answer | None, what: str, where: str) -> Finding:
    match answer:
        case None:
            return unreachable(part, settings.slack.api_base, "slack.api_base")
        case Answer(200, {"error": str(word)}):
            return Finding(part, "fail", f"Slack refuses {what}: {word}", f"copy it anew: {where}")
        case Answer(status):
            return Finding(part, "warn", f"{settings.slack.api_base} answers with status {status}")


def _own(person: str, own: object) -> str:
    return "is the bot itself" if person == own else ""
