"""Receives: one poll loop, whose offset moves only behind what is durable (facts 5.2, cases C25, C28)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

import structlog
from aiogram import Bot
from aiogram.methods import GetMe, GetUpdates, SetMyCommands
from aiogram.types import BotCommand
from pydantic import ValidationError

from channels.telegram.backoff import Backoff
from channels.telegram.failures import FAILURES, of_polling
from channels.telegram.parse import Me, parse
from channels.telegram.poison import PoisonFolder, number
from gateway.channel import Health, Receive
from gateway.clock import Clock
from gateway.errors import Lost, Retryable

log = structlog.get_logger()

_KINDS: Final = ["message"]
_BATCH: Final = 100
_TRIES: Final = 3
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
        poison: PoisonFolder,
        clock: Clock,
        commands: Sequence[tuple[str, str]],
        poll_timeout: int,
        tell: Callable[[Health], None],
    ) -> None:
        self._bot, self._poison, self._clock, self._tell = bot, poison, clock, tell
        self._commands, self._poll_timeout = commands, poll_timeout
        self._me: Me | None = None
        self._offset = 0
        self._health = Health("starting")

    async def run(self, receive: Receive) -> None:
        """Receives until cancelled; any trouble is told, waited for and tried again, for ever."""
        backoff = Backoff()
        patience = 0  # the first poll answers at once, so that "connected" is soon true or not
        self._say(Health("starting", "connecting to Telegram"))
        while True:
            try:
                me = self._me = self._me or await self._introduce()
                batch = await self._poll(patience)
            except FAILURES as error:
                trouble = of_polling(error)
                self._say(trouble.health)
                await self.close()  # the next try gets a fresh client: connections and cached addresses may be stale
                # Where two poll, a short poll would always succeed, and say nothing.
                patience = self._poll_timeout if trouble.conflict else 0
                await self._clock.wait(backoff.next() if trouble.after is None else trouble.after)
                continue
            backoff.reset()
            patience = self._poll_timeout
            self._say(Health("connected", f"@{me.username}"))
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
        backoff, failures = Backoff(), 0
        while True:
            try:
                if failures < _TRIES:
                    await self._hand_over(raw, me, receive)
                else:
                    await self._set_aside(raw)
                break
            except Retryable as later:
                self._say(Health("degraded", f"messages wait at Telegram: {later}"))
                wait = backoff.next() if later.after is None else later.after
            except Lost:
                raise
            except Exception:  # a fault of ours: those behind this update must come in, so it is tried, then set aside
                log.exception("telegram.receive_failed", update=number(raw))
                self._say(Health("degraded", "a message cannot be taken in; see the log"))
                failures += 1
                wait = backoff.next()
            await self._clock.wait(wait)
        self._say(Health("connected", f"@{me.username}"))

    async def _hand_over(self, raw: Mapping[str, Any], me: Me, receive: Receive) -> None:
        try:
            message = parse(raw, me, self._clock.now())
        except ValidationError:  # it will never be readable, and holds a person's words: not for the log
            await self._set_aside(raw)
            return
        if message is not None:
            await receive(message)

    async def _set_aside(self, raw: Mapping[str, Any]) -> None:
        path = await self._poison.keep(raw)
        log.error("telegram.update_set_aside", update=number(raw), file=str(path))

    def _say(self, health: Health) -> None:
        if health == self._health:
            return
        self._health = health
        self._tell(health)
        log.info("telegram.health", state=health.state, detail=health.detail)
