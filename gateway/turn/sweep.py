"""Puts every recorded reply that lacks a receipt, so that a Redis that lost its data loses no reply."""

from dataclasses import replace
from typing import Protocol

import structlog

from gateway.clock import Clock
from gateway.errors import Broken, Retryable
from gateway.session.outbox import Outbox
from gateway.tape.commit import look_back
from gateway.tape.name import is_sidecar
from gateway.tape.store import TapeStore

log = structlog.get_logger()

EVERY = 10.0
"""Seconds between two looks at whether the server started anew."""


class Memory(Protocol):
    """What tells that the server may have lost its data."""

    async def forgotten(self) -> str | None:
        """The server's generation, if nobody has swept since it began; else None. Raises Retryable."""
        ...

    async def swept(self, generation: str) -> None:
        """Notes, on the server, that this generation was swept. Raises Retryable."""
        ...


class Sweep:
    """Sweeps once after each time that the server started anew. Putting a known reply changes nothing.

    It does not sweep at each start of a gateway: a reply that is recorded and not settled yet would count as unsure,
    though its session is about to put it.
    """

    def __init__(self, outbox: Outbox, store: TapeStore, server: Memory, clock: Clock) -> None:
        self._outbox, self._store, self._server, self._clock = outbox, store, server, clock

    async def run(self) -> None:
        """Watches until cancelled."""
        while True:
            try:
                if generation := await self._server.forgotten():
                    await self.once()
                    await self._server.swept(generation)
            except Retryable:  # said by whoever takes
                pass
            except Broken as broken:
                log.exception("sweep.failed", reason=str(broken))
            await self._clock.wait(EVERY)

    async def once(self) -> int:
        """One sweep over all tapes. Returns how many replies were put. Raises Retryable."""
        put = 0
        for tape in await self._store.list_tapes():
            if is_sidecar(tape):
                continue
            try:
                index = await self._store.recorded(tape, look_back(self._clock.now()))
            except Broken as broken:  # the other tapes' replies are owed all the same
                log.exception("sweep.cannot_read", tape=tape, reason=str(broken))
                continue
            for reply in index.owed():
                put += await self._outbox.put(replace(reply, unsure=True))
        if put:
            log.info("sweep.put", replies=put)
        return put
