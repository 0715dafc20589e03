"""Commands that wait for a first answer: Discord wants one within three seconds, or the person reads a failure."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import structlog

from channels.discord.asked import Asked
from channels.discord.failures import FAILURES, of_asking
from channels.discord.outgoing import NOBODY
from channels.discord.rest import Rest
from gateway.channel import Receive
from gateway.errors import Retryable
from gateway.session.tokens import ReplyTokens

log = structlog.get_logger()

TAKE_IN: Final = 2.0
"""Seconds from its arrival in which a command is taken in, or not at all; a third is left for the answer."""

TOKEN_LIFE: Final = 14 * 60
"""Seconds that the token of a command is kept: Discord takes it for fifteen minutes."""

NOT_TAKEN: Final = "That could not be taken in just now, and nothing was done. Please try again in a moment."

_GRACE: Final = 0.2  # so much later it is given up by whoever answers: nothing is taken in and called lost
_DEFER: Final = {"type": 5}  # "is thinking", for all to see, as the reply will be
_EPHEMERAL: Final = 1 << 6
_REFUSE: Final = {"type": 4, "data": {"content": NOT_TAKEN, "flags": _EPHEMERAL, "allowed_mentions": NOBODY}}


@dataclass(slots=True)
class Waiting:
    """A command on its way through its channel's lane. `until`: seconds of the loop's clock."""

    asked: Asked
    until: float
    taken: bool = False
    answered: asyncio.Event = field(default_factory=asyncio.Event)


class Interactions:
    """Takes commands in, tells Discord, and lets a reply wait until there is something whose place it can take."""

    def __init__(self, rest: Rest, tokens: ReplyTokens) -> None:
        self._rest, self._tokens = rest, tokens
        self._waiting: dict[str, Waiting] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def arrived(self, asked: Asked, put: Callable[[Waiting], asyncio.Future[None]]) -> None:
        """Right when it came. `put` brings it into its lane, whose handling is `take`; raises what `put` raises."""
        waiting = Waiting(asked, asyncio.get_running_loop().time() + TAKE_IN)
        handled = put(waiting)
        self._waiting[asked.id] = waiting
        task = asyncio.create_task(self._answer(waiting, handled))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def take(self, waiting: Waiting, receive: Receive) -> None:
        """The command's turn in its lane. It is taken in in time, or never."""
        asked = waiting.asked
        if asyncio.get_running_loop().time() >= waiting.until:  # its person was told, or is about to be
            return
        try:
            async with asyncio.timeout_at(waiting.until):
                await self._tokens.keep(asked.message.id, asked.reply_token, TOKEN_LIFE)
                await receive(asked.message)
            waiting.taken = True
        except (Retryable, TimeoutError) as error:
            log.warning("discord.command_not_taken", message=asked.message.id, reason=str(error))

    async def until_answered(self, interaction: str) -> None:
        """Returns when Discord was told, if this process is about to. A reply must not come before that."""
        if (waiting := self._waiting.get(interaction)) is not None:
            await waiting.answered.wait()

    async def close(self) -> None:
        """Answers nothing more."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(self, waiting: Waiting, handled: asyncio.Future[None]) -> None:
        asked = waiting.asked
        try:
            left = waiting.until + _GRACE - asyncio.get_running_loop().time()
            await asyncio.wait({handled}, timeout=left)
            if handled.done() and not handled.cancelled() and (error := handled.exception()) is not None:
                log.error("discord.command_failed", message=asked.message.id, exc_info=error)
            body = _DEFER if waiting.taken else _REFUSE
            await self._rest.ask("POST", f"/interactions/{asked.id}/{asked.token}/callback", body, signed=False)
        except FAILURES as late:  # too late, or no answer: the message was taken in, and its reply comes as one
            log.warning("discord.command_not_answered", message=asked.message.id, reason=str(of_asking(late)))
        finally:
            waiting.answered.set()
            del self._waiting[asked.id]
