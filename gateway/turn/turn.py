"""Which messages are answered next. Pure: the queue and the tape's record decide, nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.message import IncomingMessage
from gateway.tape.index import MessageIndex
from gateway.tape.window import Recorded
from gateway.turn.commands.parse import parse

TOGETHER = 20
"""At most so many messages are answered by one turn."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One command, or the run of plain messages at the head of the queue that may be answered together."""

    messages: tuple[IncomingMessage, ...]


def next_turn(
    waiting: Sequence[IncomingMessage], marks: Sequence[str] | frozenset[str], index: MessageIndex
) -> Turn | Recorded:
    """What to do about a queue that is not empty.

    A recorded message is not answered again: its record is returned, to be settled. Adjacent plain messages of the
    same author and route, all of them cancelled or none, form one turn; another author's are the next.
    """
    head = waiting[0]
    if found := index.find(head.id):
        return found
    run = [head]
    if parse(head.text) is None:
        for message in waiting[1:TOGETHER]:
            if not _joins(head, message) or (message.id in marks) != (head.id in marks) or index.find(message.id):
                break
            run.append(message)
    return Turn(tuple(run))


def _joins(head: IncomingMessage, message: IncomingMessage) -> bool:
    same = (message.author.id, message.route) == (head.author.id, head.route)
    return same and parse(message.text) is None
