"""Slack as a channel: one app in one workspace, over a socket or over HTTP; replies as rich text."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from aiohttp import web

from channels.handover import Handover
from channels.overheard import Overheard
from channels.poison import PoisonFolder
from channels.slack.api import Api
from channels.slack.catch_up import CatchUp, Marks
from channels.slack.delivery import Delivery
from channels.slack.hook import PATH, Hook
from channels.slack.intake import Intake, NotTaken
from channels.slack.parse import CHANNEL, Me
from channels.slack.people import People
from channels.slack.render import render
from channels.slack.socket import Socket
from channels.slack.status import EVERY, Status
from channels.slack.threads import Threads
from channels.supervise import STANDBY, Holder, Supervisor
from gateway.channel import Health, Part, Receive
from gateway.clock import Clock
from gateway.errors import Refused, Retryable
from gateway.message import Reply, Route
from gateway.tape.last_seen import LastSeen

NO_WAY_IN: Final = (
    "Slack has no way to bring messages: set GATEWAY_SLACK__APP_TOKEN (xapp-..., for Socket Mode), "
    "or GATEWAY_SLACK__SIGNING_SECRET (for events over HTTP)"
)


class SlackChannel:
    """A Channel that ShowsTyping and KnowsAdmins. Over a socket it receives in the process that holds the account;
    over HTTP in every process that `routes` are mounted in. It sends in any.
    """

    name = CHANNEL

    def __init__(
        self,
        *,
        bot_token: str,
        app_token: str | None,
        signing_secret: str | None,
        holder: Holder,
        clock: Clock,
        poison_folder: Path,
        last_seen: LastSeen,
        api_base: str,
        group_context: int,
        commands: Sequence[tuple[str, str]],
        deadline: float,
        ping_interval: float,
    ) -> None:
        """`deadline`: seconds for one request. `ping_interval`: of a socket; a deaf one is replaced within two."""
        _check(bot_token, app_token)
        self._app_token, self._secret, self._holder, self._clock = app_token, signing_secret, holder, clock
        self._last_seen, self._ping = last_seen, ping_interval
        self._commands = [usage.partition(" ")[0] for usage, _ in commands]
        self._api = Api(bot_token, api_base, deadline)
        self._supervisor = Supervisor(CHANNEL, clock)
        self._handover = Handover(CHANNEL, PoisonFolder(poison_folder), self._supervisor, clock)
        self._overheard = Overheard(group_context)
        self._people, self._status = People(self._api, clock), Status(self._api, clock)
        self._delivery = Delivery(self._api)
        self._me: Me | None = None
        self._intake: Intake | None = None

    @property
    def account(self) -> str:
        return "" if self._me is None else self._me.account

    @property
    def can_send(self) -> bool:
        return self._me is not None and self._api.is_open

    @property
    def health(self) -> Health:
        return self._supervisor.health

    async def run(self, receive: Receive | None) -> None:
        """Receives while this process holds the account, stands by while another does. Ends by cancellation alone."""
        self._api.open()
        try:
            await self._supervisor.run(lambda: self._round(receive))
        finally:
            try:
                if self._intake is not None:
                    await self._intake.close()
                await self._people.close()
                await self._last_seen.write()
            finally:
                self._intake = None
                await self._api.close()

    def routes(self) -> list[web.RouteDef]:
        """What to mount on the web server: the address of events where there is no socket. It guards itself by
        signatures, so that no other guard may stand before it.
        """
        if self._app_token or not self._secret:
            return []
        return Hook(self._secret, self._accept).routes()

    def render(self, text: str) -> Sequence[Part]:
        return render(text)

    async def send(self, reply: Reply, part: Part, *, index: int, of: int, repeated: bool) -> str:
        return await self._delivery.send(reply, part, index=index, repeated=repeated)

    @property
    def typing_every(self) -> float:
        return EVERY

    async def typing(self, route: Route) -> None:
        await self._status.show(route)

    def admin(self, route: Route, person: str) -> bool | None:
        """Of the workspace: apps know no admins of a single channel."""
        return self._people.admins.known("", person)

    async def ask_admin(self, route: Route, person: str) -> bool:
        """As `admin`."""
        return await self._people.admins.find("", person)

    async def _round(self, receive: Receive | None) -> None:
        """Until the connection ends."""
        me = self._me = self._me or await self._introduce()
        if receive is None:
            self._supervisor.tell(Health("connected", "sends alone"))
            await asyncio.Event().wait()
        elif self._app_token:
            self._supervisor.tell(STANDBY)
            async with self._holder(me.account):
                await self._listen(self._receiver(me, receive), self._app_token)
        elif self._secret:
            intake = self._receiver(me, receive)
            intake.missed(await intake.behind())
            self._supervisor.tell(Health("connected", f"waits for events at {PATH}"))
            await asyncio.Event().wait()
        else:
            raise Refused(NO_WAY_IN)

    async def _introduce(self) -> Me:
        match await self._api.ask("auth.test"):
            case {"team_id": str(team), "user_id": str(user), **rest}:
                bot = rest.get("bot_id")
                return Me(team, user, bot if isinstance(bot, str) else "")
        raise Retryable("what answers there is not Slack's Web API")

    async def _listen(self, intake: Intake, app_token: str) -> None:
        self._supervisor.tell(Health("starting", "connecting to Slack"))
        socket = Socket(
            self._api, self._accept, app_token, ping=self._ping, clock=self._clock, tell=self._supervisor.tell
        )
        channels = await intake.behind()
        await socket.run(lambda: intake.missed(channels))

    def _receiver(self, me: Me, receive: Receive) -> Intake:
        """One for all rounds: what waits in its lanes does not end with a connection."""
        if self._intake is None:
            marks = Marks(self._last_seen, me.account)
            self._intake = Intake(
                me,
                self._commands,
                receive,
                people=self._people,
                threads=Threads(self._api, me),
                marks=marks,
                catch_up=CatchUp(self._api, marks, self._clock),
                handover=self._handover,
                overheard=self._overheard,
                clock=self._clock,
            )
        return self._intake

    async def _accept(self, body: Mapping[str, object]) -> str:
        if self._intake is None:
            raise NotTaken
        return await self._intake.accept(body)


def _check(bot_token: str, app_token: str | None) -> None:
    if not bot_token or any(map(str.isspace, bot_token)) or bot_token.startswith("xapp-"):
        raise Refused(
            "the Slack bot token is not one: it looks like xoxb-... and comes from the page "
            '"OAuth & Permissions" of your app at api.slack.com/apps'
        )
    if app_token and (any(map(str.isspace, app_token)) or app_token.startswith("xox")):
        raise Refused(
            "the Slack app token is not one: it looks like xapp-... and comes from the page "
            '"Basic Information" of your app at api.slack.com/apps'
        )
