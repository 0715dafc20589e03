"""Acceptance: from what a channel parsed to what is durable. Uses local data only, and never waits for a turn."""

from collections.abc import Callable
from dataclasses import replace

import structlog

from gateway.clock import Clock
from gateway.message import IncomingMessage, Reply, TurnId, clean
from gateway.session.inbox import Accepted, Inbox
from gateway.session.outbox import Outbox
from gateway.tape.entries import Draft, Event, Json, Meta
from gateway.tape.name import tape_name
from gateway.tape.store import TapeStore
from gateway.turn.access import Access, Verdict
from gateway.turn.commands import Asked, Command, Desk, handler, parse
from gateway.turn.commands.stop import NOTHING

log = structlog.get_logger()

LONGEST = 1_000_000
"""Characters of a message that is still taken in."""

QUIET = 60.0
"""Seconds between two times that a stranger is told the same."""


class Intake:
    """`receive` is what channels are given (see channel.Receive)."""

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
        self._told: dict[str, float] = {}

    async def receive(self, message: IncomingMessage) -> None:
        """Returns when the message is durable, known, or refused in public. Raises Retryable when it cannot be."""
        message = self._redacted(clean(message))
        match await self._access.admit(message):
            case Verdict.PAIR:
                await self._pair(message)
            case Verdict.REFUSE:
                log.info("access.refused", session=str(message.session), author=message.author.id)
            case Verdict.TALK:
                await self._accept(message)

    def _redacted(self, message: IncomingMessage) -> IncomingMessage:
        author = replace(message.author, name=self._redact(message.author.name))
        return replace(message, text=self._redact(message.text), author=author)

    async def _accept(self, message: IncomingMessage) -> None:
        command = parse(message.text)
        found = None if command is None else handler(command)
        if not message.text.strip():
            await self._say(message, "That message is empty; write a few words.")
        elif len(message.text) > LONGEST:
            await self._say(message, f"That is too long: I take at most {LONGEST:,} characters in a message.")
        elif command is None or found is None:
            await self._put(message)
        elif not self._access.may(message, found.need(command)):
            await self._control(message, command, f"/{found.name} is for admins here. Nothing was changed.")
        elif found.name == "stop":
            await self._stop(message, command)
        elif found.control:
            acted = await found.run(Asked(command, message, self._clock.now(), self._desk))
            await self._control(message, command, acted.answer)
        else:
            await self._put(message, cancels=found.name == "reset" and command.rest.lower() in ("", "discard"))

    async def _put(self, message: IncomingMessage, *, cancels: bool = False) -> None:
        accepted = await self._inbox.put(message, cancels=cancels)
        log.info("message.accepted", session=str(message.session), message=message.id, how=accepted.value)
        if accepted is Accepted.FULL:
            full = "Too many messages wait here already. Please write again when I have caught up."
            await self._outbox.put(replace(self._reply(message, full), turn=TurnId(f"{message.id}/full")))

    async def _stop(self, message: IncomingMessage, command: Command) -> None:
        marked = await self._inbox.stop(message, everybody=self._access.is_admin(message))
        if marked == 0:
            await self._control(message, command, NOTHING)

    async def _control(self, message: IncomingMessage, command: Command, answer: str) -> None:
        """Answers past the queue. The answer and the fact are from the side: no turn is disturbed."""
        if await self._say(message, answer):
            await self._store.append(
                tape_name(self._workspace, str(message.session)), [aside(message, command, answer, self._clock)]
            )

    async def _pair(self, message: IncomingMessage) -> None:
        person = await self._access.approvals.ask(message)
        log.info("access.asked", session=str(message.session), author=message.author.id)
        if not self._may_tell(f"{message.session.channel}:{message.author.id}"):
            return
        await self._say(
            message,
            f"I do not know you yet. An admin can let you in with the code {person.code}: "
            f"`/pair {person.code}` in a chat with me, or `gateway access approve {person.code}`.",
            on_tape=False,
        )

    def _may_tell(self, stranger: str) -> bool:
        """Whether a stranger may be told the code (again): once in a while, however much they write."""
        now = self._clock.boot()
        self._told = {who: when for who, when in self._told.items() if now - when < QUIET}
        if stranger in self._told:
            return False
        self._told[stranger] = now
        return True

    async def _say(self, message: IncomingMessage, text: str, *, on_tape: bool = True) -> bool:
        return await self._outbox.put(replace(self._reply(message, text), on_tape=on_tape))

    @staticmethod
    def _reply(message: IncomingMessage, text: str) -> Reply:
        return Reply(message.turn, message.session, message.route, text, message.reply_to)


def aside(message: IncomingMessage, command: Command, answer: str, clock: Clock) -> Draft:
    """The fact that a command was answered past the queue."""
    data: dict[str, Json] = {"name": command.name, "raw": command.raw, "by": message.author.id, "answer": answer}
    meta = Meta(author=message.author.id, message=message.id, context=False, more={"session": str(message.session)})
    return Draft(Event("command", data), clock.now(), meta)
