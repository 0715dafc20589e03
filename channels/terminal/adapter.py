"""Reads lines, prints replies."""

import asyncio
import secrets
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TextIO

from channels.terminal import parse, render
from gateway.channel import Health, Part, Receive
from gateway.clock import Clock
from gateway.errors import Retryable
from gateway.message import Reply

PROMPT = "> "


class TerminalChannel:
    """`run` ends when the input ends and everything is answered; `owed` tells whether something is not."""

    name = parse.NAME
    account = parse.ACCOUNT

    def __init__(
        self,
        conversation: str,
        clock: Clock,
        *,
        owed: Callable[[], Awaitable[bool]],
        lines: TextIO = sys.stdin,
        out: TextIO = sys.stdout,
    ) -> None:
        self._conversation, self._clock, self._owed = conversation, clock, owed
        self._lines, self._out = lines, out
        self._health = Health("starting")

    @property
    def can_send(self) -> bool:
        return self._health.state == "connected"

    @property
    def health(self) -> Health:
        return self._health

    async def run(self, receive: Receive) -> None:
        """Takes lines until the input ends."""
        self._health = Health("connected")
        try:
            self._prompt()
            async for line in _read(self._lines):
                await self._take(line, receive)
                if not self._lines.isatty():
                    await self._answered()  # a pipe waits for each answer, as a person would
                self._prompt()
            await self._answered()
        finally:
            self._health = Health("off")

    def render(self, text: str) -> Sequence[Part]:
        return render.render(text)

    async def send(self, reply: Reply, part: Part, *, index: int, of: int, repeated: bool) -> str:
        mark = "(possibly repeated) " if repeated else ""
        lead = "\r" if self._lines.isatty() else ""
        self._out.write(f"{lead}{mark}{part.text}\n")
        self._prompt()
        self._out.flush()
        return f"{reply.turn}:{index}"

    async def _take(self, line: str, receive: Receive) -> None:
        now = self._clock.now()
        found = parse.message(line, conversation=self._conversation, unique=secrets.token_hex(8), now=now)
        while found is not None:
            try:
                await receive(found)
                found = None
            except Retryable as away:
                self._out.write(f"(waiting: {away})\n")
                self._out.flush()
                await self._clock.wait(2 if away.after is None else away.after)

    async def _answered(self) -> None:
        while await self._owed():
            await self._clock.wait(0.05)

    def _prompt(self) -> None:
        if self._lines.isatty():
            self._out.write(PROMPT)
            self._out.flush()


async def _read(lines: TextIO) -> AsyncIterator[str]:
    while line := await asyncio.to_thread(lines.readline):
        yield line
