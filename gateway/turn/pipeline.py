"""From what waits in a held session to what is recorded on its tape, in the order that DESIGN section 4 fixes.

Each step may be the last before a crash, and each may be repeated by somebody else. What the merge recorded is the
truth: nothing but a record is ever settled.
"""

from collections.abc import Callable, Mapping

import structlog

from gateway.clock import Clock
from gateway.errors import Retryable, TapeMoved
from gateway.message import IncomingMessage, MessageId, Reply, TurnId
from gateway.session.inbox import Held, Inbox, Waiting
from gateway.session.lock import Lease
from gateway.tape.commit import look_back
from gateway.tape.name import tape_name
from gateway.tape.store import TapeStore
from gateway.tape.window import Recorded
from gateway.turn.asides import answered, aside
from gateway.turn.commands import Command
from gateway.turn.commands.stop import stopped
from gateway.turn.marks import Marks
from gateway.turn.turn import next_turn
from gateway.turn.work import Session, Work

log = structlog.get_logger()

LOOKS = 10
"""How often a turn looks again at a tape that moved before it lets others go first."""


class Pipeline:
    """Answers what waits. Raises Lost when the session is another's, Retryable when a part is away."""

    def __init__(self, *, store: TapeStore, workspace: str, inbox: Inbox, work: Work, clock: Clock) -> None:
        self._store, self._workspace, self._inbox = store, workspace, inbox
        self._work, self._clock = work, clock

    async def drain(self, session: Session, *, more: Callable[[], bool] = lambda: True) -> bool:
        """Answers everything that waits in the session, oldest first. True: nothing waits and it is given back.

        `more` is asked after each turn; where it says no, the session is still held, and False is returned.
        """
        waiting: Waiting | None = session.held.waiting
        while waiting is not None:
            session.marks.tell(waiting.marks)
            recorded = None if not waiting.messages else await self._record(session, waiting)
            waiting = await self._settle(session, waiting, recorded)
            if waiting is not None and not more():
                return False
        return True

    async def _record(self, session: Session, waiting: Waiting) -> Recorded:
        """The record of the turn at the head of the queue, made now if there is none. Settles nothing."""
        since = look_back(self._clock.now(), waiting.messages)
        for _ in range(LOOKS):
            index = await self._store.recorded(session.tape, since)
            found = next_turn(waiting.messages, session.marks.ids, index)
            if isinstance(found, Recorded):
                return found
            try:
                return await self._work.attempt(session, found.messages)
            except TapeMoved as moved:
                log.info("turn.looks_again", reason=str(moved))
                session.lease.ensure()
        raise Retryable("the tape keeps moving under this turn")

    async def _settle(self, session: Session, waiting: Waiting, recorded: Recorded | None) -> Waiting | None:
        gone = () if recorded is None else recorded.messages
        replies = [recorded.reply] if recorded and recorded.reply and recorded.outcome != "cancelled" else []
        left = {m.id for m in waiting.messages} - set(gone)
        ended = [stop for stop in waiting.stops if not left & set(session.marks.of(stop.id))]
        for stop in ended:
            replies.append(await self._answer_stop(session, stop))
        return await self._inbox.settle(session.held, gone, replies, [stop.id for stop in ended])

    async def _answer_stop(self, session: Session, stop: IncomingMessage) -> Reply:
        """The words of a /stop whose messages are all recorded by now: said from the record, never from the mark."""
        text = answered((await self._store.window(session.tape)).entries, stop.id)
        if text is None:
            since = look_back(self._clock.now(), [stop])
            index = await self._store.recorded(session.tape, since)
            found = [index.find(message) for message in session.marks.of(stop.id)]
            text = stopped([recorded.outcome for recorded in found if recorded is not None])
            command = Command("stop", "", stop.text.strip())
            await self._store.append(session.tape, [aside(stop, command, text, self._clock.now())])
        return Reply(TurnId(stop.id), stop.session, stop.route, text, stop.reply_to)


def session_of(held: Held, workspace: str, inbox: Inbox, clock: Clock, *, ttl: float) -> Session:
    """The working view of a session as taken: its lease, not yet running, and its marks."""
    marks = Marks(held.waiting.marks)
    lease: Lease[Mapping[MessageId, MessageId]] = Lease(
        lambda: inbox.renew(held.session, held.token),
        name=str(held.session),
        ttl=ttl,
        asked=held.asked,
        clock=clock,
        told=marks.tell,
    )
    return Session(held, tape_name(workspace, str(held.session)), lease, marks)
