"""Takes ready sessions and works on them, many side by side, one turn at a time in each."""

import asyncio
from contextlib import suppress

import structlog
from structlog.contextvars import bound_contextvars

from gateway.clock import Clock
from gateway.errors import Lost, Retryable
from gateway.session.inbox import Held, Inbox
from gateway.turn.pipeline import Pipeline, session_of
from gateway.turn.work import Session

log = structlog.get_logger()

LATER = 5.0
"""Seconds until a session whose turn failed for want of a part is tried again."""

MUCH_LATER = 30.0
"""Seconds until a session is tried again whose turn failed by a fault of ours."""


class Worker:
    """`at_once`: how many sessions this process serves side by side."""

    def __init__(
        self,
        inbox: Inbox,
        pipeline: Pipeline,
        clock: Clock,
        *,
        workspace: str,
        ttl: float,
        at_once: int,
        ready: asyncio.Event,
    ) -> None:
        self._inbox, self._pipeline, self._clock = inbox, pipeline, clock
        self._workspace, self._ttl, self._room = workspace, ttl, at_once
        self._ready = ready
        self._serving: dict[str, Session] = {}
        self._open = True

    def marked(self, session: str) -> None:
        """Something in this session was cancelled: if we hold it, fetch the news now."""
        if found := self._serving.get(session):
            found.lease.hurry()

    @property
    def busy(self) -> int:
        """How many sessions are being served."""
        return len(self._serving)

    def close(self) -> None:
        """Takes no further session; what runs goes on."""
        self._open = False

    async def run(self) -> None:
        """Serves until cancelled. What is being served then goes on at the next start."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._recover())
            while True:
                await self._ready.wait()
                self._ready.clear()
                await self._take_all(tasks)

    async def _take_all(self, tasks: asyncio.TaskGroup) -> None:
        try:
            while self._open and len(self._serving) < self._room and (held := await self._inbox.take()):
                session = session_of(held, self._workspace, self._inbox, self._clock, ttl=self._ttl)
                self._serving[str(held.session)] = session
                tasks.create_task(self._serve(session))
        except Retryable as away:
            log.warning("worker.waits", reason=str(away))

    async def _recover(self) -> None:
        """Once a second: sessions of dead holders become ready, and wake-ups that were lost are made up for."""
        while True:
            with suppress(Retryable):
                if await self._inbox.recover():
                    self._ready.set()
            await self._clock.wait(1)

    async def _serve(self, session: Session) -> None:
        key = str(session.held.session)
        with bound_contextvars(session=key):
            try:
                async with session.lease.held():
                    await self._pipeline.drain(session)
            except Lost as lost:
                log.info("session.lost", reason=str(lost))
                await self._release(session.held, 0)
            except Retryable as away:
                log.warning("session.later", reason=str(away))
                await self._release(session.held, LATER if away.after is None else away.after)
            except asyncio.CancelledError:
                await asyncio.shield(self._release(session.held, 0))
                raise
            except Exception:  # the one place where a fault of ours in a turn is caught: the other sessions go on
                log.exception("session.failed")
                await self._release(session.held, MUCH_LATER)
            finally:
                self._serving.pop(key, None)
                self._ready.set()

    async def _release(self, held: Held, after: float) -> None:
        with suppress(Retryable):
            await self._inbox.release(held, after=after)
