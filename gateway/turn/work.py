"""One attempt at one turn: from its claim to what the merge recorded."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import structlog

from gateway.agent.loop import Agent, Run
from gateway.agent.tape_view import ForkedTape
from gateway.clock import Clock
from gateway.errors import Broken, Refused, Retryable
from gateway.message import IncomingMessage, MessageId, Reply
from gateway.session.inbox import Held
from gateway.session.lock import Lease
from gateway.tape.attempt import Attempt
from gateway.tape.entries import Draft, Error, Json
from gateway.tape.fork import Appended, Fork, Op, Said, bootstrap, interruptions, note, words
from gateway.tape.journal import cleaned
from gateway.tape.store import Claim, TapeStore
from gateway.tape.window import Recorded, Window
from gateway.turn.access import Access, Verdict
from gateway.turn.asides import told
from gateway.turn.commands import Acted, Asked, Command, Desk, handler, parse, refusal, unknown
from gateway.turn.marks import Marks
from gateway.turn.progress import Progress

log = structlog.get_logger()

MOST_ATTEMPTS = 10
"""After so many attempts without a final text a turn ends all the same, and its person is told."""

NOT_ANY_MORE = "You may not talk to me here any more. Nothing was changed."

NOT_KNOWN = "I could not find out whether you are an admin here. Nothing was changed; please try again in a minute."

GAVE_UP = (
    f"I tried {MOST_ATTEMPTS} times to answer this and failed each time, so I stop here. What was done so far is kept; "
    "the reason stands in the log. Please ask again, perhaps in other words."
)


@dataclass(frozen=True, slots=True)
class Session:
    """A held session: the lease proves it, the marks say what was cancelled."""

    held: Held
    tape: str
    lease: Lease[Mapping[MessageId, MessageId]]
    marks: Marks


class Work:
    """Works on claimed turns. Ends with a record, or raises: Lost, TapeMoved, Retryable.

    `redact` takes secrets out of JSON values: nothing reaches a journal or a tape before it did.
    """

    def __init__(
        self,
        *,
        store: TapeStore,
        agent: Agent,
        desk: Desk,
        access: Access,
        progress: Progress,
        clock: Clock,
        redact: Callable[[object], object],
    ) -> None:
        self._store, self._agent, self._desk, self._access = store, agent, desk, access
        self._progress, self._clock, self._redact = progress, clock, redact

    async def attempt(self, session: Session, messages: tuple[IncomingMessage, ...]) -> Recorded:
        """Claims the turn of these messages and carries it to its record."""
        window = await self._store.window(session.tape)
        claim = await self._store.claim(session.tape, messages)
        command = parse(claim.messages[0].text)
        log.info("turn.claimed", turn=claim.turn, attempt=claim.attempt, messages=len(claim.messages))
        if session.marks.hits(m.id for m in claim.messages):
            return await self._cancelled(session, claim, window, command)
        if claim.attempt > MOST_ATTEMPTS and not any(isinstance(op, Said) for op in claim.ops):
            return await self._give_up(session, claim, window)
        if command is not None:
            return await self._command(session, claim, window, command)
        return await self._answer(session, claim, window)

    async def _answer(self, session: Session, claim: Claim, window: Window) -> Recorded:
        attempt, ids = self._resume(claim, window), [m.id for m in claim.messages]
        last = claim.messages[-1]
        async with self._progress.shown(last.route, claim.turn) as heard:
            run = Run(last.session, last.author, claim.turn, ForkedTape(self._store, attempt.fork), heard)
            thinking = asyncio.create_task(self._agent.run(attempt, run))
            marked = asyncio.create_task(session.marks.wait(ids))
            try:
                await asyncio.wait({thinking, marked}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                marked.cancel()
                thinking.cancel()
                await asyncio.gather(thinking, marked, return_exceptions=True)
        if thinking.cancelled():
            if not session.marks.hits(ids):  # a library may cancel the task that it runs in: nobody asked for that
                raise Retryable("the model's answer was cancelled from within")
            return await self._stopped(session, claim, attempt.fork)
        answer = thinking.result()
        await session.lease.refresh()
        if session.marks.hits(ids):
            return await self._stopped(session, claim, attempt.fork)
        # The fork's text, not the answer's: that one is redacted.
        return await self._merge(session, claim, attempt.fork, answer.outcome, attempt.fork.said)

    async def _cancelled(self, session: Session, claim: Claim, window: Window, command: Command | None) -> Recorded:
        """A turn that was cancelled before this attempt began: what earlier attempts did is still merged."""
        if command is None:
            return await self._stopped(session, claim, self._resume(claim, window).fork)
        fork = Fork(window, claim.turn, opening=self._opening(claim))
        fork.apply(self._clean(self._noted(command, claim.messages[0], None)))
        return await self._merge(session, claim, fork, "cancelled", None)

    async def _stopped(self, session: Session, claim: Claim, fork: Fork) -> Recorded:
        self._end(fork, Error("cancelled", "stopped before an answer was given"))
        return await self._merge(session, claim, fork, "cancelled", None)

    async def _give_up(self, session: Session, claim: Claim, window: Window) -> Recorded:
        """Ends a turn that fails again and again, so that those who wait behind it are answered."""
        log.error("turn.given_up", turn=claim.turn, attempts=claim.attempt - 1)
        try:
            fork = self._resume(claim, window).fork
        except Broken:  # the journal itself may be what fails
            fork = Fork(window, claim.turn, opening=self._opening(claim), words=words(claim.messages))
        self._end(fork, Error("unknown", GAVE_UP))
        return await self._merge(session, claim, fork, "failed", GAVE_UP)

    def _end(self, fork: Fork, error: Error) -> None:
        """Closes a fork that has no answer: a text that came too late is withdrawn, open calls are interrupted."""
        fork.withdraw()
        now = self._clock.now()
        for op in interruptions(fork, now):
            fork.apply(op)
        fork.apply(Appended(error, now))

    async def _command(self, session: Session, claim: Claim, window: Window, command: Command) -> Recorded:
        message = claim.messages[0]
        acted = await self._act(command, message)
        fork = Fork(window, claim.turn, opening=self._opening(claim))
        if acted.restart is not None:
            by: dict[str, Json] = {"by": message.author.id, "via": "reset", "cause": message.id}
            opening = bootstrap(str(message.session), self._clock.now(), claim.turn, by)
            fork = Fork(replace(window, anchor=None, entries=()), claim.turn, opening=opening)
        for op in (*acted.ops, self._noted(command, message, acted.answer)):
            fork.apply(self._clean(op))
        answer = str(self._redact(acted.answer))
        return await self._merge(session, claim, fork, "finished", answer, restart=acted.restart)

    async def _act(self, command: Command, message: IncomingMessage) -> Acted:
        """Rights are judged again: they may have changed while the command waited."""
        found = handler(command)
        if found is None:
            return Acted(unknown(command))
        if await self._access.admit(message) is not Verdict.TALK:
            return Acted(NOT_ANY_MORE)
        try:
            if not await self._access.settle(message, found.need(command)):
                return Acted(refusal(found))
        except Retryable as away:
            log.warning("access.not_known", command=command.name, reason=str(away))
            return Acted(NOT_KNOWN)
        try:
            return await found.run(Asked(command, message, self._clock.now(), self._desk))
        except Refused as refused:
            return Acted(str(refused))

    async def _merge(
        self, session: Session, claim: Claim, fork: Fork, outcome: str, text: str | None, *, restart: str | None = None
    ) -> Recorded:
        last = claim.messages[-1]
        reply = None if text is None else Reply(claim.turn, last.session, last.route, text, last.reply_to)
        closing = Recorded(claim.turn, tuple(m.id for m in claim.messages), outcome, reply)
        session.lease.ensure()
        if restart is None:
            recorded = await self._store.merge(claim, fork, closing)
        else:
            recorded = await self._store.reset(claim, fork, closing, archive=restart == "archive")
        log.info("turn.merged", turn=claim.turn, outcome=recorded.outcome, facts=len(fork.drafts))
        return recorded

    def _resume(self, claim: Claim, window: Window) -> Attempt:
        fork = Fork(window, claim.turn, opening=self._opening(claim), words=words(claim.messages))
        attempt = Attempt(fork, claim, clean=self._clean)
        attempt.replay(claim.ops)
        return attempt

    def _clean(self, op: Op) -> Op:
        return cleaned(op, self._redact)

    def _opening(self, claim: Claim) -> tuple[Draft, ...]:
        return bootstrap(str(claim.messages[0].session), claim.messages[0].received_at, claim.turn, {})

    def _noted(self, command: Command, message: IncomingMessage, answer: str | None) -> Appended:
        return note("command", told(command, message.author.id, answer), self._clock.now())
