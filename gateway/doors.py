"""Builds the channels that the settings switch on."""

from collections.abc import Callable, Sequence

import channels
from gateway.channel import Channel
from gateway.errors import Refused
from gateway.message import Route, SessionKey
from gateway.parts import Parts
from gateway.tape.commit import look_back
from gateway.tape.entries import Entry
from gateway.tape.index import MessageIndex
from gateway.tape.name import tape_name
from gateway.tape.query import Query
from gateway.turn.commands import HANDLERS


def served(parts: Parts, *, web_token: str, announce: Callable[[str], None]) -> Sequence[Channel]:
    """The web page, and every platform whose token is set."""
    built: list[Channel] = []

    async def history(session: SessionKey) -> Sequence[Entry]:
        return await parts.store.fetch_all(Query(tape_name(parts.workspace, str(session))))

    async def records(session: SessionKey) -> MessageIndex:
        return await parts.store.recorded(tape_name(parts.workspace, str(session)), look_back(parts.clock.now()))

    settings = parts.settings
    if settings.telegram.token is not None:
        token = settings.telegram.token.get_secret_value()
        account = token.partition(":")[0]
        built.append(
            channels.load("telegram").build(
                token=token,
                api_base=settings.telegram.api_base,
                clock=parts.clock,
                holder=lambda: parts.holder.hold("telegram", account),
                poison_folder=settings.data_dir / "poison",
                commands=[(h.name, h.summary) for h in HANDLERS],
            )
        )
    built.append(
        channels.load("web").build(
            token=web_token,
            history=history,
            records=records,
            host=settings.web.host,
            port=settings.web.port,
            clock=parts.clock,
            announce=announce,
            commands=[(h.usage, h.summary) for h in HANDLERS],
            healths=lambda: {channel.name: channel.health for channel in built},
        )
    )
    return built


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
