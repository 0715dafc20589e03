"""The port of the tape stores. A tape only grows and its ids only rise, also over a reset: there is no other verb."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from gateway.message import IncomingMessage, TurnId
from gateway.tape.entries import Draft, Entry
from gateway.tape.fork import Fork, Op
from gateway.tape.index import MessageIndex
from gateway.tape.query import Query
from gateway.tape.window import Recorded, Window


class Claim(Protocol):
    """One attempt at a turn, and its journal.

    Attempts of a turn count from 1. A later claim closes this one for ever: then `write`, and the store's `merge` and
    `reset`, raise AttemptClosed, so that a worker that was frozen can neither run a tool nor commit.
    """

    @property
    def tape(self) -> str: ...

    @property
    def turn(self) -> TurnId: ...

    @property
    def attempt(self) -> int: ...

    @property
    def messages(self) -> tuple[IncomingMessage, ...]:
        """What this turn answers: the first attempt's messages, unchanged but for any that is recorded meanwhile."""
        ...

    @property
    def ops(self) -> tuple[Op, ...]:
        """What earlier attempts did, taken over. Their final text is among it only if the tape was not reset since
        and the messages are the same."""
        ...

    async def write(self, op: Op, *, durable: bool = False) -> None:
        """Writes one operation down, before it is done. `durable`: on disk, not in a cache, when this returns.

        Raises AttemptClosed, or Broken where the disk refuses.
        """
        ...


class TapeStore(Protocol):
    """Where tapes live. Safe for many tasks and, where the technology allows, many processes."""

    @property
    def uuid(self) -> str:
        """Names this store, fixed when it was first used."""
        ...

    async def list_tapes(self) -> Sequence[str]:
        """The names of all tapes that hold an entry, sidecars included, archives not; sorted."""
        ...

    async def window(self, tape: str) -> Window:
        """The entries after the last anchor. Costs what the window and what is new cost, never the history."""
        ...

    async def fetch_all(self, query: Query) -> Sequence[Entry]:
        """The entries that the query selects, in the order of their ids. Raises Refused for an unknown anchor."""
        ...

    async def append(self, tape: str, drafts: Sequence[Draft]) -> Sequence[Entry]:
        """Adds facts from the side, each `context: false`, without the lease; they do not move the version.

        Raises Broken for a draft that would move it.
        """
        ...

    async def claim(self, tape: str, messages: Sequence[IncomingMessage]) -> Claim:
        """Begins the next attempt at the turn of `messages[0]`, in one act under the tape's writer lock.

        It closes all earlier attempts and takes over their operations. Raises TapeMoved if `messages[0]` is recorded.
        """
        ...

    async def merge(self, claim: Claim, fork: Fork, closing: Recorded) -> Recorded:
        """Commits `fork.drafts` and the closing `turn` event: all of it or nothing. Returns what is recorded.

        A turn that is recorded already changes nothing and returns its record. Raises AttemptClosed; TapeMoved if the
        tape's version is not the fork's base, or if a message of the turn is recorded in another turn.
        """
        ...

    async def reset(self, claim: Claim, fork: Fork, closing: Recorded, *, archive: bool) -> Recorded:
        """As `merge`, but the drafts and the closing event open a new tape, and the old one becomes an archive (or is
        deleted, where `archive` is false). Ids go on counting. The opening event tells what it closes.
        """
        ...

    async def recorded(self, tape: str, since: datetime) -> MessageIndex:
        """What turns were recorded since then (or, at the store's choice, earlier), over anchors and resets."""
        ...
