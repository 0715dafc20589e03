"""A fork that is written down as it happens."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from gateway.tape.fork import Fork, Op


class Writes(Protocol):
    """The part of a claim that an attempt needs."""

    async def write(self, op: Op, *, durable: bool = False) -> None: ...


class Attempt:
    """A fork and its journal: what `do` returns from is in both, and the journal came first.

    `clean` takes out of an operation what no tape may hold.
    """

    def __init__(self, fork: Fork, journal: Writes, *, clean: Callable[[Op], Op] = lambda op: op) -> None:
        self.fork = fork
        self._journal, self._clean = journal, clean
        self._order = asyncio.Lock()

    async def do(self, op: Op, *, durable: bool = False) -> None:
        """Journals the operation, then applies it. Raises AttemptClosed when a later attempt has taken over.

        Tools of one step may call it side by side: the fork takes the operations in the order of the journal.
        """
        async with self._order:
            cleaned = self._clean(op)
            await self._journal.write(cleaned, durable=durable)
            self.fork.apply(cleaned)

    def replay(self, ops: tuple[Op, ...]) -> None:
        """Applies what earlier attempts did; it is in the journal already."""
        for op in ops:
            self.fork.apply(op)

    @property
    def finished(self) -> str | None:
        """The final text, if the turn has one."""
        return self.fork.said
