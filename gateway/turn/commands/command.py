"""What a command is made of. One file a command; `__init__` lists them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Protocol

from gateway.message import IncomingMessage
from gateway.session.inbox import SessionStatus
from gateway.tape.entries import Entry
from gateway.tape.fork import Op
from gateway.tape.window import Window
from gateway.turn.commands.parse import Command


class Need(Enum):
    """Who may. OWNER: in an own session its person, in a shared one an admin."""

    ANYONE = "anyone"
    OWNER = "owner"
    ADMIN = "admin"


class Desk(Protocol):
    """What a command may ask and do beside the tape of its own session."""

    async def entries(self, message: IncomingMessage) -> Sequence[Entry]:
        """All entries of the session's tape."""
        ...

    async def window(self, message: IncomingMessage) -> Window: ...

    async def status(self, message: IncomingMessage) -> SessionStatus: ...

    async def pair(self, message: IncomingMessage, code: str) -> str:
        """Approves the person behind a code, or lists who asks; returns the answer."""
        ...

    def is_admin(self, message: IncomingMessage) -> bool | None:
        """None: only the platform can tell, and it was not asked lately."""
        ...

    def may(self, message: IncomingMessage, need: Need) -> bool | None:
        """As `is_admin`."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """A command as asked for."""

    command: Command
    message: IncomingMessage
    now: datetime
    desk: Desk


@dataclass(frozen=True, slots=True)
class Acted:
    """The answer, what goes onto the tape beside it, and whether the tape starts anew (`archive`, `discard`)."""

    answer: str
    ops: tuple[Op, ...] = ()
    restart: str | None = None


@dataclass(frozen=True, slots=True)
class Handler:
    """`usage` as /help shows it. `control`: takes the control lane, past the queue and the lock, and writes nothing."""

    name: str
    usage: str
    summary: str
    need: Callable[[Command], Need]
    run: Callable[[Asked], Awaitable[Acted]]
    control: bool = False


def anyone(_command: Command) -> Need:
    """The need of a command that harms nobody."""
    return Need.ANYONE
