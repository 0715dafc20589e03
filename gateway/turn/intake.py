"""Acceptance: from what a channel parsed to what is durable. Uses local data only, and never waits for a turn."""

from collections.abc import Callable
from dataclasses import replace

import structlog

from gateway.clock import Clock
from gateway.message import IncomingMessage, Quote, Reply, TurnId, clean
from gateway.session.inbox import Accepted, Inbox
from gateway.session.outbox import Outbox
from gateway.tape.name import tape_name
from gateway.tape.store import TapeStore
from gateway.turn.access import Access, Verdict
from gateway.turn.asides import answered, aside
from gateway.turn.commands import Asked, Command, Desk, Handler, handler, parse, refusal
from gateway.turn.commands.reset import restarts
from gateway.turn.commands.stop import NOTHING, NOTHING_OF_YOURS
from gateway.turn.notices import Notices

log = structlog.get_logger()

LONGEST = 1_000_000
"""Characters of a message that is still taken in."""

EMPTY = "That message is empty; write a few words."
TOO_LONG = f"That is too long: I take at most {LONGEST:,} characters in a message."
FULL = "Too many messages wait here already. Please write again when I have caught up."
STRANGER = (
    "I do not know you yet. An admin can let you in with the code {code}: "
    "`/pair {code}` in a chat with me, or `gateway access approve {code}`."
)


class Intake:
    """`receive` is what channels are given (see channel.Receive).

    `redact` takes secrets out of what people wrote and of what is answered here: from this door on, no part of the
    gateway holds them.
    """

    def __init__(
        self,
        inbox: Inbox,
        outbox: Outbox,
        store: TapeStore,
        workspace: str,
        access: Access,
        desk: Desk,
        clock: Clock,
        *,
        redact: Callable[[str], str],
    ) -> None:
        self._inbox, self._outbox, self._store, self._workspace = inbox, outbox, store, workspace
        self._access, self._desk, self._clock, self._redact = access, desk, clock, redact
        self._notices = Notices(clock)

    async def receive(self, message: IncomingMessage) -> None:
        """Returns when the message is durable, known, or refused in public. Raises Retryable when it cannot be.

        A message that is received again, wherever the first time ended, is accepted, answered and noted once.
        """
        message = self._redacted(clean(message))
        match await self._access.admit(message):
            case Verdict.PAIR:
                await self._pair(message)
            case Verdict.REFUSE:
                log.info("access.refused", session=str(message.session), author=message.author.id)
            case Verdict.TALK:
                await self._accept(message)

    async def _accept(self, message: IncomingMessage) -> None:
        if not message.text.strip():
            await self._say(message, EMPTY)
            return
        if len(message.text) > LONGEST:
            await self._say(message, TOO_LONG)
            return
        command = parse(message.text)
        found = None if command is None else handler(command)
        if command is None or found is None:
            await self._put(message)
            return
        # None: only the platform knows whether they may. The command waits in its place, and stops nothing meanwhile.
        allowed = self._access.may(message, found.need(command))
        if found.control or allowed is False:
            await self._control(message, command, found)
        else:
            await self._put(message, cancels=allowed is True and found.name == "reset" and restarts(command))

    async def _put(self, message: IncomingMessage, *, cancels: bool = False) -> None:
        accepted = await self._inbox.put(message, cancels=cancels)
        log.info("message.accepted", session=str(message.session), message=message.id, how=accepted.value)
        if accepted is Accepted.FULL:
            await self._notice(message, FULL, TurnId(f"{message.id}/full"))

    async def _control(self, message: IncomingMessage, command: Command, found: Handler) -> None:
        """The control lane, past the queue and the lock, and refusals. No turn is disturbed.

        The answer first, then the fact: a command whose fact is on the tape was answered, and does nothing again,
        whatever else is forgotten.
        """
        tape = tape_name(self._workspace, str(message.session))
        if answered((await self._store.window(tape)).entries, message.id) is not None:
            return
        answer: str | None
        if self._access.may(message, found.need(command)) is False:
            answer = refusal(found)
        elif found.name == "stop":
            answer = await self._stop(message)
        else:
            answer = (await found.run(Asked(command, message, self._clock.now(), self._desk))).answer
        if answer is not None:
            answer = self._redact(answer)
            await self._say(message, answer)
            await self._store.append(tape, [aside(message, command, answer, self._clock.now())])

    async def _stop(self, message: IncomingMessage) -> str | None:
        """None where somebody else answers: whoever settles the last message that it marked."""
        everybody = self._access.is_admin(message) is True
        marked = await self._inbox.stop(message, everybody=everybody)
        if marked != 0:
            return None
        return NOTHING if everybody or message.private else NOTHING_OF_YOURS

    async def _pair(self, message: IncomingMessage) -> None:
        person = await self._access.approvals.ask(message)
        log.info("access.asked", session=str(message.session), author=message.author.id)
        await self._notice(message, STRANGER.format(code=person.code), message.turn, on_tape=False)

    async def _notice(self, message: IncomingMessage, text: str, turn: TurnId, *, on_tape: bool = True) -> None:
        """Says it once in a while, however much its author writes."""
        who = f"{message.route} {message.author.id}"
        if self._notices.due(who):
            await self._outbox.put(replace(self._reply(message, text), turn=turn, on_tape=on_tape))
            self._notices.told(who)

    async def _say(self, message: IncomingMessage, text: str) -> None:
        await self._outbox.put(self._reply(message, text))

    def _redacted(self, message: IncomingMessage) -> IncomingMessage:
        author = replace(message.author, name=self._redact(message.author.name))
        quotes = tuple(Quote(self._redact(quote.name), self._redact(quote.text)) for quote in message.quotes)
        return replace(message, text=self._redact(message.text), author=author, quotes=quotes)

    @staticmethod
    def _reply(message: IncomingMessage, text: str) -> Reply:
        return Reply(message.turn, message.session, message.route, text, message.reply_to)
