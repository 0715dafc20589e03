"""Telegram as a channel: one bot, long polling, replies as text with entities."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, cast

import structlog
from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import TelegramBadRequest
from aiogram.methods import SendChatAction

from channels.admins import Admins
from channels.handover import Handover
from channels.overheard import Overheard
from channels.poison import PoisonFolder
from channels.supervise import STANDBY, Holder, Supervisor
from channels.telegram import outgoing
from channels.telegram.administrators import administrators, is_group
from channels.telegram.failures import FAILURES, of_sending
from channels.telegram.intake import Intake
from channels.telegram.parse import CHANNEL
from channels.telegram.render import render
from gateway.channel import Ambiguous, Health, Part, Receive
from gateway.clock import Clock
from gateway.errors import Refused
from gateway.message import Reply, Route

log = structlog.get_logger()

_TYPING: Final = 5  # seconds; what is shown later is not worth waiting for


class TelegramChannel:
    """A Channel that ShowsTyping and KnowsAdmins. It receives in the process that holds the token, and sends in any."""

    name = CHANNEL
    typing_every = 4.0  # it is shown for 5 seconds

    def __init__(
        self,
        token: str,
        *,
        poison_folder: Path,
        holder: Holder,
        clock: Clock,
        api_base: str,
        commands: Sequence[tuple[str, str]],
        poll_timeout: int,
        deadline: float,
        group_context: int,
    ) -> None:
        """`deadline`: seconds for one request that sends. Refused for a token that has not the form of one."""
        account, colon, secret = token.partition(":")
        if not (account.isascii() and account.isdigit() and colon and secret) or any(map(str.isspace, token)):
            raise Refused("the Telegram token is not one: it looks like 12345678:AAH... and comes from @BotFather")
        self.account = account
        self._holder, self._supervisor = holder, Supervisor(CHANNEL, clock)
        self._admins = Admins(self._ask_admin, clock)
        # Two clients: a poll must not hold up a reply, and a fresh start of one must not cut the other.
        self._sender = _bot(token, api_base, deadline)
        self._intake = Intake(
            _bot(token, api_base, deadline),
            handover=Handover(CHANNEL, PoisonFolder(poison_folder), self._supervisor, clock),
            overheard=Overheard(group_context),
            clock=clock,
            commands=commands,
            poll_timeout=poll_timeout,
            tell=self._supervisor.tell,
        )

    @property
    def can_send(self) -> bool:
        return True

    @property
    def health(self) -> Health:
        return self._supervisor.health

    async def run(self, receive: Receive | None) -> None:
        """See the port."""
        try:
            if receive is None:
                self._supervisor.tell(Health("connected", "sends alone"))
                await asyncio.Event().wait()
            else:
                await self._supervisor.run(partial(self._round, receive))
        finally:
            await self._admins.close()
            try:
                await self._intake.close()
            finally:
                await self.close()

    async def close(self) -> None:
        """Closes what sends. `run` does so at its end; only a process that never runs the channel needs it."""
        await self._sender.session.close()

    def render(self, text: str) -> Sequence[Part]:
        return render(text)

    async def send(self, reply: Reply, part: Part, *, index: int, of: int, repeated: bool) -> str:
        """Sends once, and once more without entities or quote where Telegram refuses those: nothing was sent then."""
        request = outgoing.message(reply, part, index=index, repeated=repeated)
        while True:
            try:
                answer = await self._sender(request)
            except TelegramBadRequest as error:
                simpler = outgoing.simpler(request, error.message)
                if simpler is None:
                    raise of_sending(error) from error
                log.warning("telegram.sent_simpler", turn=reply.turn, part=index, of=of, reason=error.message)
                request = simpler
            except FAILURES as error:
                raise of_sending(error) from error
            else:
                break
        sent = outgoing.receipt(cast(dict[str, object], answer))
        if sent is None:
            raise Ambiguous("Telegram took the message and did not say which it is")
        return sent

    async def typing(self, route: Route) -> None:
        """Shows "typing" for 5 seconds, or until the next message."""
        try:
            chat, thread = outgoing.address(route)
            action = SendChatAction(chat_id=chat, action="typing", message_thread_id=thread)
            await self._sender(action, request_timeout=_TYPING)
        except (Refused, *FAILURES) as error:
            log.debug("telegram.typing_failed", reason=type(error).__name__)

    def admin(self, route: Route, person: str) -> bool | None:
        """See KnowsAdmins: the administrators of the chat, and whoever writes as the chat itself."""
        if not is_group(route.conversation):
            return False
        return person == route.conversation or self._admins.known(route.conversation, person)

    async def ask_admin(self, route: Route, person: str) -> bool:
        """See KnowsAdmins."""
        if not is_group(route.conversation):
            return False
        return person == route.conversation or await self._admins.find(route.conversation, person)

    async def _ask_admin(self, chat: str, person: str) -> bool:
        found = await administrators(self._sender, chat)
        for one in found:
            self._admins.learn(chat, one, True)
        return person in found

    async def _round(self, receive: Receive) -> None:
        self._supervisor.tell(STANDBY)
        async with self._holder(self.account):
            await self._intake.run(receive)


def _bot(token: str, api_base: str, timeout: float) -> Bot:
    return Bot(token, session=AiohttpSession(api=TelegramAPIServer.from_base(api_base), timeout=timeout))
