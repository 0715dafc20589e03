"""Facts beside the conversation: which command was answered past the queue, and how."""

from collections.abc import Iterable
from datetime import datetime

from gateway.message import IncomingMessage, MessageId
from gateway.tape.entries import Draft, Entry, Event, Json, Meta
from gateway.turn.commands import Command


def told(command: Command, by: str, answer: str | None) -> dict[str, Json]:
    """The data of a `command` event. `answer` is None where the command was cancelled."""
    return {"name": command.name, "raw": command.raw, "by": by, "answer": answer}


def aside(message: IncomingMessage, command: Command, answer: str, now: datetime) -> Draft:
    """The fact that a command was answered. It enters no view and disturbs no turn."""
    meta = Meta(author=message.author.id, message=message.id, context=False, more={"session": str(message.session)})
    return Draft(Event("command", told(command, message.author.id, answer)), now, meta)


def answered(entries: Iterable[Entry], message: MessageId) -> str | None:
    """How the command of this message was answered, as far as these entries tell."""
    for entry in entries:
        match entry.fact:
            case Event("command", {"answer": str(answer)}) if entry.meta.message == message:
                return answer
    return None
