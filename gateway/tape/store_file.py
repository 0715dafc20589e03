"""Tapes as files of a folder, for several processes of one machine: `<tape>.jsonl`, one entry a line.

Beside it `<tape>.lock`, `<tape>.torn` (what a crash left and a writer put aside), `<tape>.jsonl.<UTC stamp>.bak` (an
archive), `<tape>.jsonl.new` (a reset under way) and `journals/<tape>/`. Files are touched in threads, so that the loop
waits for no lock and no disk; a step that is cancelled ends in its thread, whole, and gives its lock back there.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import TypeVar

from gateway.clock import Clock
from gateway.errors import AttemptClosed, Broken
from gateway.message import IncomingMessage
from gateway.tape.commit import aside, decide, look_back, sealed
from gateway.tape.entries import Draft, Entry
from gateway.tape.filelock import locked
from gateway.tape.fork import Fork, Op
from gateway.tape.identity import Identity, identify
from gateway.tape.index import MessageIndex
from gateway.tape.journal import Journal, begin
from gateway.tape.journal_file import JournalFolder
from gateway.tape.name import is_safe, safe
from gateway.tape.query import Query
from gateway.tape.store import Claim
from gateway.tape.tapefile import TapeFile
from gateway.tape.window import Recorded, Window

T = TypeVar("T")

_KNOWN = 1024  # tapes
_THREADS = 32  # each may wait for the lock that a frozen process holds


class FileClaim:
    """A claim whose journal is a file; see the port."""

    def __init__(self, store: "FileTapeStore", tape: str, journal: Journal) -> None:
        self._store = store
        self.tape, self.turn, self.attempt = tape, journal.turn, journal.attempt
        self.messages, self.ops = journal.messages, journal.ops

    async def write(self, op: Op, *, durable: bool = False) -> None:
        """See the port."""
        await self._store.write(self, op, durable=durable)


class FileTapeStore:
    """See the port and the module. `workspace` names the tapes; the one given first in this folder stays."""

    def __init__(self, folder: Path, *, clock: Clock, workspace: str | None = None) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._identity: Identity = identify(folder, str(folder.resolve()) if workspace is None else workspace)
        self._folder, self._clock = folder, clock
        self._journals = JournalFolder(folder / "journals")
        self._files: OrderedDict[str, TapeFile] = OrderedDict()
        self._mutex = Lock()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="tape")

    @property
    def uuid(self) -> str:
        """See the port."""
        return self._identity.uuid

    @property
    def workspace(self) -> str:
        """The text that names of tapes are made from."""
        return self._identity.workspace

    async def list_tapes(self) -> Sequence[str]:
        """See the port."""
        return await self._run(self._list)

    async def window(self, tape: str) -> Window:
        """See the port."""
        return await self._run(self._file(tape).window)

    async def fetch_all(self, query: Query) -> Sequence[Entry]:
        """See the port."""
        file = self._file(query.tape)
        return await self._run(lambda: query.select(file.entries()))

    async def append(self, tape: str, drafts: Sequence[Draft]) -> Sequence[Entry]:
        """See the port."""
        file, facts = self._file(tape), aside(drafts)
        return await self._run(lambda: _append(file, facts)) if facts else []

    async def claim(self, tape: str, messages: Sequence[IncomingMessage]) -> Claim:
        """See the port."""
        file = self._file(tape)
        return FileClaim(self, tape, await self._run(lambda: self._claim(file, messages)))

    async def merge(self, claim: Claim, fork: Fork, closing: Recorded) -> Recorded:
        """See the port."""
        file = self._file(claim.tape)
        return await self._run(lambda: self._commit(file, claim, fork, closing, _extend))

    async def reset(self, claim: Claim, fork: Fork, closing: Recorded, *, archive: bool) -> Recorded:
        """See the port."""
        file = self._file(claim.tape)

        def begin_anew(file: TapeFile, drafts: Sequence[Draft]) -> None:
            file.replace(drafts, self._clock.now(), archive=archive)

        return await self._run(lambda: self._commit(file, claim, fork, closing, begin_anew))

    async def recorded(self, tape: str, since: datetime) -> MessageIndex:
        """See the port."""
        file = self._file(tape)
        return await self._run(lambda: file.index(since))

    async def write(self, claim: Claim, op: Op, *, durable: bool) -> None:
        """The part of a claim that the store does."""
        file = self._file(claim.tape)
        await self._run(lambda: self._write(file, claim, op, durable))

    def _claim(self, file: TapeFile, messages: Sequence[IncomingMessage]) -> Journal:
        if not messages:
            raise Broken("a turn answers at least one message")
        turn = messages[0].turn
        with file.writing():
            earlier = self._journals.latest(file.tape, turn)
            asked = messages if earlier is None else (*messages, *earlier.messages)
            index = file.index(look_back(self._clock.now(), asked))
            attempt = max(self._journals.attempts(file.tape, turn), default=0) + 1
            journal = begin(messages, earlier, index, file.window(), attempt)
            self._journals.create(file.tape, journal)
        return journal

    def _write(self, file: TapeFile, claim: Claim, op: Op, durable: bool) -> None:
        with locked(file.lock):
            if self._journals.is_closed(claim.tape, claim.turn, claim.attempt):
                raise AttemptClosed(f"a later attempt has claimed turn {claim.turn!r}")
            self._journals.write(claim.tape, claim.turn, claim.attempt, op, durable=durable)

    def _commit(
        self,
        file: TapeFile,
        claim: Claim,
        fork: Fork,
        closing: Recorded,
        write: Callable[[TapeFile, Sequence[Draft]], None],
    ) -> Recorded:
        since = look_back(self._clock.now(), claim.messages)
        with file.writing():
            closed = self._journals.is_closed(claim.tape, claim.turn, claim.attempt)
            known = decide(file.index(since), file.window(), fork, closing, claim.messages, closed=closed)
            if known is None:
                write(file, sealed(fork, closing, self._clock.now()))
                known = file.index(since).turns[closing.turn]
            self._journals.remove(claim.tape, claim.turn)
        return known

    def _list(self) -> Sequence[str]:
        found = (path.name.removesuffix(".new").removesuffix(".jsonl") for path in self._folder.glob("*.jsonl*"))
        return sorted(name for name in set(found) if is_safe(name) and self._known_or_new(name).holds_entries())

    def _known_or_new(self, tape: str) -> TapeFile:
        """A look at a tape that is not worth remembering."""
        with self._mutex:
            return self._files.get(tape) or TapeFile(self._folder, tape)

    def _file(self, tape: str) -> TapeFile:
        """The tape's file, with what is remembered of it, for as long as it is among the last _KNOWN."""
        with self._mutex:
            file = self._files.setdefault(safe(tape), TapeFile(self._folder, tape))
            self._files.move_to_end(tape)
            if len(self._files) > _KNOWN:
                self._files.popitem(last=False)
        return file

    async def _run(self, act: Callable[[], T]) -> T:
        """Does it in a thread. What the disk refuses is Broken."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, copy_context().run, act)
        except OSError as error:
            raise Broken(f"the disk refuses: {error}") from error


def _append(file: TapeFile, facts: Sequence[Draft]) -> Sequence[Entry]:
    with file.writing():
        return file.extend(facts, durable=False)


def _extend(file: TapeFile, drafts: Sequence[Draft]) -> None:
    file.extend(drafts, durable=True)
