"""A command of the gateway at a terminal, as a person sees it."""

import asyncio
import os
import sys
from types import TracebackType
from typing import Self

from tests.platforms.server import Bell
from tests.support.gateway import PATIENCE, Home


class Terminal:
    """`async with Terminal(home, "init") as terminal:` a person at a command. `shown`: all that is seen."""

    def __init__(self, home: Home, *words: str, **settings: str) -> None:
        self._home, self._words, self._settings, self._bell = home, words, settings, Bell()
        self.shown, self._read_to = "", 0

    async def __aenter__(self) -> Self:
        self._own, theirs = os.openpty()
        asyncio.get_running_loop().add_reader(self._own, self._read)
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", *self._words),
            cwd=self._home.folder,
            env=self._home.environment(**self._settings),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
        asyncio.get_running_loop().remove_reader(self._own)
        os.close(self._own)

    async def asked(self, question: str, answer: str | None) -> None:
        """Waits for the next question of these words, and types; None types nothing."""
        at = await self._bell.until(lambda: self.shown.find(question, self._read_to) + 1, PATIENCE)
        self._read_to = at + len(question)
        if answer is not None:
            os.write(self._own, f"{answer}\n".encode(errors="surrogateescape"))

    def _read(self) -> None:
        try:
            self.shown += os.read(self._own, 65536).decode(errors="replace")
        except OSError:  # the other side is gone
            asyncio.get_running_loop().remove_reader(self._own)
        self._bell.ring()
