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

IN_A_ROW = 10
"""After so many turns a session goes behind the others that wait."""


class Worker:
    """`at_once`: how many sessions this process serves side by side. What fails in one session, or for want of the
    server, ends neither the others nor the worker."""

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
        self._serving: dict[str, Session] = {}  # by token: a session that was lost may be held again already
        self._taking = False
        self._open = True

    def marked(self, session: str) -> None:
        """Something in this session was cancelled: if we hold it, fetch the news now."""
        for found in self._serving.values():
            if str(found.held.session) == session:
                found.lease.hurry()

    @property
    def busy(self) -> int:
        """How many sessions are being served, or taken."""
        return len(self._serving) + self._taking

    def close(self) -> None:
        """Takes no further session and begins no further turn; a turn that runs goes on."""
        self._open = False

    async def run(self) -> None:
        """Serves until cancelled. What is being served then goes on at the next start."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._recover())
            while True:
                await self._ready.wait()
                self._ready.clear()
                self._taking = True
                try:
                    await self._take_all(tasks)
                except Retryable as away:
                    log.warning("worker.waits", reason=str(away))
                except Exception:  # a row that cannot be read: the sessions behind it go on
                    log.exception("worker.take_failed")
                finally:
                    self._taking = False

    async def _take_all(self, tasks: asyncio.TaskGroup) -> None:
        while self._open and len(self._serving) < self._room and (held := await self._inbox.take()):
            if not self._open:
                await self._release(held, 0)
                return
            session = session_of(held, self._workspace, self._inbox, self._clock, ttl=self._ttl)
            self._serving[held.token] = session
            tasks.create_task(self._serve(session))

    async def _recover(self) -> None:
        """Once a second: sessions of dead holders become ready, and wake-ups that were lost are made up for."""
        while True:
            try:
                if await self._inbox.recover():
                    self._ready.set()
            except Retryable:  # said by whoever takes
                pass
            except Exception:  # sessions become ready by themselves, or at the next look
                log.exception("worker.recover_failed")
            await self._clock.wait(1)

    async def _serve(self, session: Session) -> None:
        held = session.held
        with bound_contextvars(session=str(held.session)):
            try:
                after = await self._work(session)
                if after is not None:
                    await self._release(held, after)
            except asyncio.CancelledError:  # an orderly stop: whoever comes next need not wait for the lease to run out
                await asyncio.shield(self._release(held, 0))
                raise
            except Exception:  # then the lease runs out by itself
                log.exception("session.release_failed")
            finally:
                del self._serving[held.token]
                self._ready.set()

    async def _work(self, session: Session) -> float | None:
        """Seconds until the session, still held, shall be ready again. None: nothing waits, and it is given back."""
        turns = 0

        def more() -> bool:
            nonlocal turns
            turns += 1
            return self._open and turns < IN_A_ROW

        try:
            async with session.lease.held():
                return None if await self._pipeline.drain(session, more=more) else 0
        except Lost as lost:
            log.info("session.lost", reason=str(lost))
            return 0
        except Retryable as away:
            log.warning("session.later", reason=str(away))
            return LATER if away.after is None else away.after
        except Exception:  # the one place where a fault of ours in a turn is caught: the other sessions go on
            log.exception("session.failed")
            return MUCH_LATER

    async def _release(self, held: Held, after: float) -> None:
        with suppress(Retryable):
            await self._inbox.release(held, after=after)
