"""What a tool is, and what it is given when it runs."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

from gateway.agent.model import ToolSpec
from gateway.message import Author, SessionKey, TurnId
from gateway.tape.attempt import Attempt
from gateway.tape.entries import Draft, Entry, Json, JsonMap


class TapeView(Protocol):
    """The tape of the running turn, to read."""

    async def entries(self) -> Sequence[Entry | Draft]:
        """All of it in tape order, before and after anchors, the running fork's drafts at the end."""
        ...


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Where and for whom a tool runs. `call` names this call for ever: a tool that runs again sees the same."""

    session: SessionKey
    author: Author
    turn: TurnId
    call: str
    tape: TapeView
    attempt: Attempt
    now: Callable[[], datetime]


RunTool: TypeAlias = Callable[[ToolContext, JsonMap], Awaitable[Json]]


@dataclass(frozen=True, slots=True)
class Tool:
    """`run` returns the result, or raises: then the model reads the error's text as the result.

    `idempotent`: running it twice with the same call does what running it once does. Only such a tool runs again
    after a crash; the others' calls are closed as interrupted.
    """

    spec: ToolSpec
    run: RunTool
    idempotent: bool = False
