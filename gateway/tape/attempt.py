"""A fork that is written down as it happens."""

import asyncio
from typing import Protocol

from gateway.tape.fork import Fork, Op


class Writes(Protocol):
    """The part of a claim that an attempt needs."""

    async def write(self, op: Op, *, durable: bool = False) -> None: ...


class Attempt:
    """A fork and its journal: what `do` returns from is in both, and the journal came first."""

    def __init__(self, fork: Fork, journal: Writes) -> None:
        self.fork = fork
        self._journal = journal
        self._order = asyncio.Lock()

    async def do(self, op: Op, *, durable: bool = False) -> None:
        """Journals the operation, then applies it. Raises AttemptClosed when a later attempt has taken over.

        Tools of one step may call it side by side: the fork takes the operations in the order of the journal.
        """
        async with self._order:
            await self._journal.write(op, durable=durable)
            self.fork.apply(op)

    def replay(self, ops: tuple[Op, ...]) -> None:
        """Applies what earlier attempts did; it is in the journal already."""
        for op in ops:
            self.fork.apply(op)

    @property
    def finished(self) -> str | None:
        """The final text, if the turn has one."""
        return self.fork.said
