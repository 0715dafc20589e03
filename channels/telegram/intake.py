"""Receives: one poll loop, whose offset moves only behind what is durable (facts 5.2, cases C25, C28)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

import structlog
from aiogram import Bot
from aiogram.methods import GetMe, GetUpdates, SetMyCommands
from aiogram.types import BotCommand
from pydantic import ValidationError

from channels.backoff import Backoff
from channels.handover import Handover, Unreadable
from channels.overheard import Aside, Overheard
from channels.telegram.failures import FAILURES, of_polling
from channels.telegram.parse import Me, parse
from gateway.channel import Health, Receive
from gateway.clock import Clock
from gateway.message import IncomingMessage

log = structlog.get_logger()

_KINDS: Final = ["message"]
_BATCH: Final = 100
_ASKING: Final = 20  # seconds for a short request
_SLACK: Final = 15  # seconds that an answer to a poll may be late


class RawGetUpdates(GetUpdates):
    """Takes updates as they are. The SDK validates a batch as a whole, and one update it cannot read stops all."""

    __returning__ = list[dict[str, Any]]


class Intake:
    """The loop of one bot, alone with its token. Updates are handled one by one in the order of their arrival."""

    def __init__(
        self,
        bot: Bot,
        *,
        handover: Handover,
        overheard: Overheard,
        clock: Clock,
        commands: Sequence[tuple[str, str]],
        poll_timeout: int,
        tell: Callable[[Health], None],
    ) -> None:
        self._bot, self._handover, self._overheard, self._clock = bot, handover, overheard, clock
        self._commands, self._poll_timeout, self._tell = commands, poll_timeout, tell
        self._me: Me | None = None
        self._offset = 0

    async def run(self, receive: Receive) -> None:
        """Receives until cancelled; any trouble is told, waited for and tried again, for ever."""
        backoff = Backoff()
        patience = 0  # the first poll answers at once, so that "connected" is soon true or not
        self._tell(Health("starting", "connecting to Telegram"))
        while True:
            try:
                me = self._me = self._me or await self._introduce()
                batch = await self._poll(patience)
            except FAILURES as error:
                trouble = of_polling(error)
                self._tell(trouble.health)
                await self.close()  # the next try gets a fresh client: connections and cached addresses may be stale
                # Where two poll, a short poll would always succeed, and say nothing.
                patience = self._poll_timeout if trouble.conflict else 0
                await self._clock.wait(backoff.next() if trouble.after is None else trouble.after)
                continue
            backoff.reset()
            patience = self._poll_timeout
            self._tell(Health("connected", f"@{me.username}"))
            for raw in batch:
                await self._take(raw, me, receive)
                self._offset = max(self._offset, (number(raw) or 0) + 1)
            if batch and all(number(raw) is None for raw in batch):
                await self._clock.wait(backoff.next())  # they come again at once: no offset confirms them

    async def close(self) -> None:
        """Closes the connections; the next request opens new ones."""
        await self._bot.session.close()

    async def _introduce(self) -> Me:
        user = await self._bot(GetMe(), request_timeout=_ASKING)
        if self._commands:
            commands = [BotCommand(command=name, description=description) for name, description in self._commands]
            try:
                await self._bot(SetMyCommands(commands=commands), request_timeout=_ASKING)
            except FAILURES as error:
                log.warning("telegram.commands_not_set", reason=of_polling(error).health.detail)
        return Me(user.id, user.username or "")

    async def _poll(self, patience: int) -> list[dict[str, Any]]:
        request = RawGetUpdates(offset=self._offset, limit=_BATCH, timeout=patience, allowed_updates=_KINDS)
        return cast(list[dict[str, Any]], await self._bot(request, request_timeout=patience + _SLACK))

    async def _take(self, raw: Mapping[str, Any], me: Me, receive: Receive) -> None:
        """Returns when the update is durable, or nothing to us, or set aside: only then may the offset pass it."""
        update = number(raw)
        await self._handover.give(receive, lambda: self._read(raw, me), raw, "" if update is None else str(update))

    def _read(self, raw: Mapping[str, Any], me: Me) -> IncomingMessage | None:
        try:
            found = parse(raw, me, self._clock.now())
        except ValidationError as error:
            raise Unreadable(type(error).__name__) from None
        match found:
            case Aside():
                self._overheard.hears(found)
                return None
            case IncomingMessage() if not found.private:
                return replace(found, quotes=self._overheard.quotes(found.route))
            case _:
                return found


def number(raw: Mapping[str, object]) -> int | None:
    """The update's id; every update of Telegram has one."""
    match raw.get("update_id"):
        case int(update_id):
            return update_id
    return None
