"""Journals in a folder: one file an attempt, `<tape>/<md5 of the turn>.<attempt>.jsonl`.

All of it wants the lock of the tape's writer held. A file is there at once and whole, with everything that it took
over; that a later one exists closes it.
"""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from hashlib import md5
from pathlib import Path

from gateway.message import TurnId
from gateway.tape.archive import sync_folder, write_whole
from gateway.tape.fork import Op
from gateway.tape.journal import Journal, decode_journal, encode_op
from gateway.tape.tapefile import write_at_end


class JournalFolder:
    """See the module. Its methods block: they are for threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def attempts(self, tape: str, turn: TurnId) -> Sequence[int]:
        """The attempts at the turn so far, the last one first."""
        pattern = re.compile(re.escape(_stem(turn)) + r"\.(\d+)\.jsonl")
        folder = self._folder / tape
        if not folder.exists():
            return []
        found = (pattern.fullmatch(path.name) for path in folder.iterdir())
        return sorted((int(match[1]) for match in found if match), reverse=True)

    def latest(self, tape: str, turn: TurnId) -> Journal | None:
        """What the last attempt wrote down; of the one before, if power was lost before that was on disk."""
        for attempt in self.attempts(tape, turn):
            if journal := decode_journal(self._path(tape, turn, attempt).read_bytes()):
                return journal
        return None

    def create(self, tape: str, journal: Journal) -> None:
        """Begins a journal: from now on the earlier ones are closed."""
        path = self._path(tape, journal.turn, journal.attempt)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        write_whole(new, journal.encode(), durable=bool(journal.ops))
        new.rename(path)
        if journal.ops:
            self._sync(path)

    def is_closed(self, tape: str, turn: TurnId, attempt: int) -> bool:
        """Whether the turn was merged, or claimed again, since this attempt began."""
        return attempt not in self.attempts(tape, turn)[:1]

    def write(self, tape: str, turn: TurnId, attempt: int, op: Op, *, durable: bool) -> None:
        """Adds an operation. What an earlier write left half done is cut away first."""
        path = self._path(tape, turn, attempt)
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        try:
            size = os.fstat(fd).st_size
            if size and os.pread(fd, 1, size - 1) != b"\n":
                os.ftruncate(fd, path.read_bytes().rfind(b"\n") + 1)
            write_at_end(fd, encode_op(op), durable=durable)
        finally:
            os.close(fd)
        if durable:
            self._sync(path)

    def remove(self, tape: str, turn: TurnId) -> None:
        """Forgets the turn, which is recorded. One that stays does no harm: a recorded turn is not claimed."""
        with suppress(OSError):
            for attempt in self.attempts(tape, turn):
                self._path(tape, turn, attempt).unlink()
            (self._folder / tape).rmdir()

    def _sync(self, path: Path) -> None:
        """Has the file's name on disk, and the names of its folders."""
        for folder in (path.parent, self._folder, self._folder.parent):
            sync_folder(folder)

    def _path(self, tape: str, turn: TurnId, attempt: int) -> Path:
        return self._folder / tape / f"{_stem(turn)}.{attempt}.jsonl"


def _stem(turn: TurnId) -> str:
    return md5(turn.encode(errors="surrogatepass"), usedforsecurity=False).hexdigest()
