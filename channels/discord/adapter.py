"""Discord as a channel: one bot, its gateway connection, replies by REST."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import structlog

from channels.admins import Admins
from channels.discord import outgoing
from channels.discord.catch_up import Seen
from channels.discord.failures import FAILURES, of_asking, of_login
from channels.discord.fields import Payload, ids, text, words
from channels.discord.gateway import GatewayConnection
from channels.discord.guilds import AdminRule, Guild
from channels.discord.intake import Intake
from channels.discord.interactions import Interactions
from channels.discord.parse import CHANNEL, Me
from channels.discord.render import render
from channels.discord.rest import Rest
from channels.discord.sender import Sender
from channels.handover import Handover, Unreadable
from channels.overheard import Overheard
from channels.poison import PoisonFolder
from channels.supervise import STANDBY, Holder, Supervisor
from gateway.channel import Health, Part, Receive
from gateway.clock import Clock
from gateway.errors import Refused, Retryable
from gateway.message import Reply, Route
from gateway.session.tokens import ReplyTokens
from gateway.tape.last_seen import LastSeen

log = structlog.get_logger()

_TYPING: Final = 5.0  # seconds; what is shown later is not worth waiting for


class DiscordChannel:
    """A Channel that ShowsTyping and KnowsAdmins. It receives in the process that holds the bot, and sends in any."""

    name = CHANNEL
    typing_every = 8.0  # it is shown for ten seconds

    def __init__(
        self,
        token: str,
        *,
        holder: Holder,
        clock: Clock,
        poison_folder: Path,
        last_seen: LastSeen,
        tokens: ReplyTokens,
        api_base: str,
        gateway_url: str,
        message_content: bool,
        rule: AdminRule,
        group_context: int,
        commands: Sequence[tuple[str, str]],
        deadline: float,
    ) -> None:
        """`deadline`: seconds for one request, and for all that one part of a reply takes."""
        self.account = ""
        self._token, self._gateway_url, self._message_content = token, gateway_url, message_content
        self._holder, self._clock, self._commands, self._rule = holder, clock, commands, rule
        self._poison, self._context = PoisonFolder(poison_folder), group_context
        self._supervisor = Supervisor(CHANNEL, clock)
        self._admins = Admins(self._ask_admin, clock)
        self._rest = Rest(token, api_base, deadline)
        self._interactions = Interactions(self._rest, tokens)
        self._sender = Sender(self._rest, self._interactions, tokens, clock, deadline)
        self._seen = Seen(last_seen, clock)

    @property
    def can_send(self) -> bool:
        return bool(self.account)

    @property
    def health(self) -> Health:
        return self._supervisor.health

    async def run(self, receive: Receive | None) -> None:
        """See the port."""
        try:
            if receive is None:
                await self._supervisor.run(self._send_alone)
            else:
                await self._receive(receive)
        finally:
            await self._admins.close()
            await self.close()

    async def close(self) -> None:
        """Closes what sends. `run` does so at its end; only a process that never runs the channel needs it."""
        await self._rest.close()

    def render(self, text: str) -> Sequence[Part]:
        return render(text)

    async def send(self, reply: Reply, part: Part, *, index: int, of: int, repeated: bool) -> str:
        """See the port. A part that may be there already is looked for: nothing is ever marked as possibly repeated."""
        return await self._sender.send(reply, part, index, repeated=repeated)

    async def typing(self, route: Route) -> None:
        """Shows "typing" for ten seconds, or until the next message."""
        try:
            async with asyncio.timeout(_TYPING):
                await self._rest.ask("POST", f"/channels/{outgoing.channel_of(route)}/typing")
        except (Refused, *FAILURES) as error:
            log.debug("discord.typing_failed", reason=type(error).__name__)

    def admin(self, route: Route, person: str) -> bool | None:
        """See KnowsAdmins: by their roles and permissions in the server."""
        return self._admins.known(route.conversation, person) if self._rule.names_somebody else False

    async def ask_admin(self, route: Route, person: str) -> bool:
        """See KnowsAdmins."""
        return self._rule.names_somebody and await self._admins.find(route.conversation, person)

    async def _receive(self, receive: Receive) -> None:
        intake = Intake(
            receive,
            self._rest,
            seen=self._seen,
            interactions=self._interactions,
            handover=Handover(CHANNEL, self._poison, self._supervisor, self._clock),
            supervisor=self._supervisor,
            overheard=Overheard(self._context),
            admins=self._admins,
            rule=self._rule,
            clock=self._clock,
            commands=self._commands,
            message_content=self._message_content,
        )
        connection = GatewayConnection(
            self._token,
            self._gateway_url,
            message_content=self._message_content,
            take=intake.take,
            tell=self._supervisor.tell,
            clock=self._clock,
        )
        try:
            await self._supervisor.run(partial(self._round, intake, connection))
        finally:
            await intake.close()

    async def _round(self, intake: Intake, connection: GatewayConnection) -> None:
        me = await self._introduce()
        self._supervisor.tell(STANDBY)
        async with self._holder(self.account):
            self._supervisor.tell(Health("starting", "connecting to Discord"))
            await intake.begin(me)
            await connection.run()

    async def _send_alone(self) -> None:
        await self._introduce()
        self._supervisor.tell(Health("connected", "sends alone"))
        await asyncio.Event().wait()

    async def _introduce(self) -> Me:
        """Who the bot is. Raises Refused for a token that Discord does not know, and Retryable."""
        try:
            me = _object(await self._rest.ask("GET", "/users/@me"))
            self.account = text(me, "id")
        except Unreadable as error:
            raise Retryable("what answers there is not Discord's API, or it is broken") from error
        except FAILURES as error:
            raise of_login(error) from error
        return Me(self.account, words(me, "username"))

    async def _ask_admin(self, channel: str, person: str) -> bool:
        """Channel, server, member. Whom Discord does not show is no admin."""
        try:
            place = _object(await self._rest.ask("GET", f"/channels/{channel}"))
            if not (id_ := words(place, "guild_id")):
                return False
            guild = Guild.of(_object(await self._rest.ask("GET", f"/guilds/{id_}")), self.account)
            member = _object(await self._rest.ask("GET", f"/guilds/{id_}/members/{person}"))
            return self._rule.holds(guild, person, ids(member, "roles"))
        except Unreadable as error:
            raise Retryable("Discord's answer cannot be read") from error
        except FAILURES as error:
            match of_asking(error):
                case Retryable() as later:
                    raise later from error
                case Refused():
                    return False


def _object(answer: object) -> Payload:
    return answer if isinstance(answer, dict) else {}
