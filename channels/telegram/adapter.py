"""Telegram as a channel: one bot, long polling, replies as text with entities."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final, cast

import structlog
from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import TelegramBadRequest
from aiogram.methods import SendChatAction

from channels.telegram import outgoing
from channels.telegram.backoff import Backoff
from channels.telegram.failures import FAILURES, of_sending
from channels.telegram.intake import Intake
from channels.telegram.parse import CHANNEL
from channels.telegram.poison import PoisonFolder
from channels.telegram.render import render
from gateway.channel import Ambiguous, Health, Part, Receive
from gateway.clock import Clock
from gateway.errors import Lost, Refused, Retryable
from gateway.message import Reply, Route

log = structlog.get_logger()

Holder = Callable[[], AbstractAsyncContextManager[None]]
"""Waits until this process holds the bot's token; the body is cancelled, and LeaseLost raised, when it no more does."""

_STANDBY: Final = Health("standby", "waiting for this bot's token: another process holds it")
_TYPING: Final = 5  # seconds; what is shown later is not worth waiting for


class TelegramChannel:
    """A Channel that ShowsTyping. It sends in any process; it receives in the one that holds the token."""

    name = CHANNEL

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
    ) -> None:
        """`deadline`: seconds for one request that sends. Refused for a token that has not the form of one."""
        account, colon, secret = token.partition(":")
        if not (account.isascii() and account.isdigit() and colon and secret) or any(map(str.isspace, token)):
            raise Refused("the Telegram token is not one: it looks like 12345678:AAH... and comes from @BotFather")
        self.account = account
        self._holder, self._clock, self._health = holder, clock, Health("starting")
        # Two clients: a poll must not hold up a reply, and a fresh start of one must not cut the other.
        self._sender = _bot(token, api_base, deadline)
        self._intake = Intake(
            _bot(token, api_base, deadline),
            poison=PoisonFolder(poison_folder),
            clock=clock,
            commands=commands,
            poll_timeout=poll_timeout,
            tell=self._tell,
        )

    @property
    def can_send(self) -> bool:
        return True

    @property
    def health(self) -> Health:
        return self._health

    async def run(self, receive: Receive) -> None:
        """Receives while this process holds the token, stands by while another does. Ends by cancellation alone."""
        backoff = Backoff()
        try:
            while True:
                self._health = _STANDBY
                try:
                    async with self._holder():
                        backoff.reset()
                        await self._intake.run(receive)
                except Lost as lost:
                    log.warning("telegram.token_lost", reason=str(lost))
                    self._health = _STANDBY
                except Retryable as away:
                    self._health = Health("degraded", f"not polling: {away}")
                except Exception:  # a fault of ours ends a round, never the channel: the other channels run on
                    log.exception("telegram.round_failed")
                    self._health = Health("degraded", "not polling: a fault of the gateway; see the log")
                await self._clock.wait(backoff.next())
        finally:
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

    def _tell(self, health: Health) -> None:
        self._health = health


def _bot(token: str, api_base: str, timeout: float) -> Bot:
    return Bot(token, session=AiohttpSession(api=TelegramAPIServer.from_base(api_base), timeout=timeout))
