"""Reads lines, prints replies."""

import asyncio
import secrets
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from typing import TextIO

from channels.terminal import keyboard, parse, render
from gateway.channel import Ambiguous, Health, Part, Receive
from gateway.clock import Clock
from gateway.errors import Broken, Refused, Retryable
from gateway.message import Reply

PROMPT = "> "

ERASE = "\r\x1b[K"
"""Takes the prompt, and what is typed behind it, off the line. What is typed is still there when Enter is pressed."""


class TerminalChannel:
    """`run` ends when the input ends and everything is answered; `owed` tells whether something is not.

    A person is shown a prompt and may write on while an answer is on its way; a pipe waits for each answer.
    """

    name = parse.NAME

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
        self._typed, self._prompts = lines.isatty(), lines.isatty() and out.isatty()
        self._health = Health("starting")

    @property
    def account(self) -> str:
        return self._conversation

    @property
    def can_send(self) -> bool:
        return self._health.state == "connected"

    @property
    def health(self) -> Health:
        return self._health

    async def run(self, receive: Receive | None) -> None:
        """Takes lines until the input ends. Broken without `receive`: a terminal is where its keyboard is."""
        if receive is None:
            raise Broken("a terminal cannot send alone")
        self._health = Health("connected")
        try:
            await self._show(PROMPT if self._prompts else "")
            async with aclosing(keyboard.lines(self._lines)) as lines:
                async for line in lines:
                    await self._take(line, receive)
                    if not self._typed:
                        await self._answered()
                    await self._show(PROMPT if self._prompts else "")
            await self._answered()
        finally:
            self._health = Health("off")

    def render(self, text: str) -> Sequence[Part]:
        return render.render(text)

    async def send(self, reply: Reply, part: Part, *, index: int, of: int, repeated: bool) -> str:
        mark = "(possibly repeated) " if repeated else ""
        before, behind = (ERASE, PROMPT) if self._prompts else ("", "")
        try:
            await self._show(f"{before}{mark}{part.text}\n{behind}")
        except BrokenPipeError as gone:
            raise Refused("nobody reads the output any more") from gone
        except OSError as error:
            raise Ambiguous(str(error)) from error
        return f"{reply.turn}:{index}"

    async def _take(self, line: str, receive: Receive) -> None:
        found = parse.message(line, conversation=self._conversation, unique=secrets.token_hex(8), now=self._clock.now())
        said = ""
        while found is not None:
            try:
                await receive(found)
                found = None
            except Retryable as away:
                if str(away) != said:
                    said = str(away)
                    await self._show(f"(waiting: {said})\n")
                await self._clock.wait(2 if away.after is None else away.after)

    async def _answered(self) -> None:
        """Returns when nothing is owed. While that cannot be asked, something may be."""
        owed = True
        while owed:
            with suppress(Retryable):
                owed = await self._owed()
            if owed:
                await self._clock.wait(0.05)

    async def _show(self, text: str) -> None:
        """In a thread: output that is held (Ctrl-S, a slow pipe) must not hold the loop, which renews leases."""
        if text:
            await asyncio.to_thread(self._write, text)

    def _write(self, text: str) -> None:
        encoding = self._out.encoding or "utf-8"
        self._out.write(text.encode(encoding, "replace").decode(encoding))
        self._out.flush()
