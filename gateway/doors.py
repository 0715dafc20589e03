"""Builds the channels that the settings switch on."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager

import channels
from gateway.channel import Channel
from gateway.errors import Refused
from gateway.message import Route, SessionKey
from gateway.parts import Parts, Role
from gateway.tape.commit import look_back
from gateway.tape.entries import Entry
from gateway.tape.index import MessageIndex
from gateway.tape.last_seen import LastSeen
from gateway.tape.name import tape_name
from gateway.tape.query import Query
from gateway.turn.commands import HANDLERS
from gateway.web.app import WebApp


def served(parts: Parts, *, web_token: str, announce: Callable[[str], None]) -> Sequence[Channel]:
    """Every platform whose token is set, and the web page where this process has a port.

    Raises Refused for a platform whose settings do not suffice.
    """
    built: list[Channel] = []
    web = parts.settings.web
    app = WebApp(web.host, web.port, healths=lambda: {channel.name: channel.health for channel in built})
    built += _platforms(parts, app)
    if parts.role is not Role.WORKER:
        built.append(_page(parts, app, web_token, announce))
    return built


def _platforms(parts: Parts, app: WebApp) -> Iterator[Channel]:
    telegram, discord, slack = parts.settings.telegram, parts.settings.discord, parts.settings.slack
    poison = parts.settings.data_dir / "poison"
    if telegram.token is not None:
        yield channels.load("telegram").build(
            token=telegram.token.get_secret_value(),
            api_base=telegram.api_base,
            clock=parts.clock,
            holder=_holder(parts, "telegram"),
            poison_folder=poison,
            commands=[(h.name, h.summary) for h in HANDLERS],
            group_context=telegram.group_context,
        )
    if discord.token is not None:
        yield channels.load("discord").build(
            token=discord.token.get_secret_value(),
            api_base=discord.api_base,
            gateway_url=discord.gateway_url,
            clock=parts.clock,
            holder=_holder(parts, "discord"),
            poison_folder=poison,
            last_seen=LastSeen(parts.store, parts.workspace, parts.clock, "discord"),
            tokens=parts.tokens,
            message_content=discord.message_content,
            platform_admins=discord.platform_admins,
            admin_roles=discord.admin_roles,
            group_context=discord.group_context,
            commands=[(h.usage, h.summary) for h in HANDLERS],
        )
    if slack.bot_token is not None:
        app_token, secret = slack.app_token, slack.signing_secret
        if app_token is None and secret is None and parts.role is not Role.WORKER:
            raise Refused(
                "slack.bot_token alone receives nothing: set slack.app_token (Socket Mode), "
                "or slack.signing_secret (events by HTTP)"
            )
        channel = channels.load("slack").build(
            bot_token=slack.bot_token.get_secret_value(),
            app_token=None if app_token is None else app_token.get_secret_value(),
            signing_secret=None if secret is None else secret.get_secret_value(),
            api_base=slack.api_base,
            clock=parts.clock,
            holder=_holder(parts, "slack"),
            poison_folder=poison,
            last_seen=LastSeen(parts.store, parts.workspace, parts.clock, "slack"),
            group_context=slack.group_context,
            commands=[(h.usage, h.summary) for h in HANDLERS],
        )
        app.mount(channel.routes(), signed=True)
        yield channel


def _holder(parts: Parts, channel: str) -> Callable[[str], AbstractAsyncContextManager[None]]:
    return lambda account: parts.holder.hold(channel, account)


def _page(parts: Parts, app: WebApp, token: str, announce: Callable[[str], None]) -> Channel:
    async def history(session: SessionKey) -> Sequence[Entry]:
        return await parts.store.fetch_all(Query(tape_name(parts.workspace, str(session))))

    async def records(session: SessionKey) -> MessageIndex:
        return await parts.store.recorded(tape_name(parts.workspace, str(session)), look_back(parts.clock.now()))

    page: Channel = channels.load("web").build(
        app=app,
        token=token,
        history=history,
        records=records,
        clock=parts.clock,
        announce=announce,
        commands=[(h.usage, h.summary) for h in HANDLERS],
    )
    return page


def terminal(parts: Parts, conversation: str) -> Sequence[Channel]:
    """The terminal alone. Raises Refused for a name that no conversation has."""
    if not conversation.strip():
        raise Refused("--session needs a name")
    key = SessionKey("terminal", conversation, "local")
    route = Route(key.channel, key.account, key.conversation)

    async def owed() -> bool:
        status = await parts.inbox.status(key)
        return status.waiting > 0 or await parts.outbox.owed(route) > 0

    adapter = channels.load("terminal").TerminalChannel(conversation, parts.clock, owed=owed)
    return [adapter]
