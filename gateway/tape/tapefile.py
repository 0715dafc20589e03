"""One tape's file: what this process has seen of it, and how it is written.

Reading costs what the window and what is new cost: a first look goes back from the end to the last anchor, later looks
read what was added since. A file that was replaced or cut by others is noticed and read anew. Reading never writes, so
that a reader beside a writer repairs nothing; who holds the lock mends what a crash left, before anything is added.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from threading import Lock

import structlog

from gateway.tape.archive import archives, exchange, finish, new_path, sync_folder, tape_path
from gateway.tape.codec import EPOCH, encode, written
from gateway.tape.commit import KEPT, is_mark, numbered, opening
from gateway.tape.entries import Anchor, Draft, Entry, Event
from gateway.tape.filelock import locked
from gateway.tape.index import MessageIndex
from gateway.tape.lines import Line, Shrunk, backward, committed, first_entry, forward, highest_id
from gateway.tape.window import Window

log = structlog.get_logger()

_CHECKED = 64  # bytes before `end` that are compared before a file counts as merely longer
_LOOKS = 5
_FORGET = 7 * KEPT  # an index that goes back further than asked by this much is built anew, so that it stays small


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one look at the file found. `end` is where what counts ends; `tail` are the bytes before it.

    `first` is the oldest entry. `last` is the highest id ever given; None until a writer asks.
    """

    window: Window
    stamp: tuple[int, int, int] = (0, 0, 0)  # inode, size, mtime_ns
    end: int = 0
    tail: bytes = b""
    first: Entry | None = None
    last: int | None = None

    @property
    def original(self) -> bool:
        """Whether this is a tape of ours that was never reset, so that it has no archives."""
        return self.first is not None and self.first.id == 1 and self.first.meta.turn is not None


class TapeFile:
    """See the module. Its methods block: they are for threads. Those below `writing` want the lock held."""

    def __init__(self, folder: Path, tape: str) -> None:
        self.folder, self.tape = folder, tape
        self.path = tape_path(folder, tape)
        self.lock = folder / f"{tape}.lock"
        self._mutex = Lock()
        self._seen = _Seen(Window(tape))
        self._index: tuple[datetime, MessageIndex] | None = None
        self._told: set[int] = set()
        self._named = False  # whether the file's name is known to be on disk

    def window(self) -> Window:
        """The entries after the last anchor."""
        with self._mutex, self._open() as fd:
            return self._look(fd).window

    def entries(self) -> Sequence[Entry]:
        """All that the tape holds."""
        with self._open() as fd:
            with self._mutex:
                end = self._look(fd).end
            return [] if fd is None else list(self._entries(forward(fd, 0, end)))

    def holds_entries(self) -> bool:
        """Whether there is any entry."""
        with self._open() as fd:
            return fd is not None and first_entry(fd, committed(fd, os.fstat(fd).st_size)) is not None

    def index(self, since: datetime) -> MessageIndex:
        """The turns recorded since then, back into the archives."""
        with self._mutex, self._open() as fd:
            seen = self._look(fd)
            if self._index is None or not self._index[0] <= since < self._index[0] + _FORGET:
                found = list(_until_old(() if fd is None else self._entries(backward(fd, seen.end)), since))
                if not seen.original and not (found and _is_old(found[-1], since)):
                    found += self._archived(since)
                self._index = since, MessageIndex.of(reversed(found))
            index = self._index[1]
            return MessageIndex(dict(index.turns), dict(index.messages))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Holds the tape's lock. What a crash left is mended first, and half a merge is put aside."""
        with locked(self.lock):
            finish(self.folder, self.tape)
            self._mend()
            yield

    def extend(self, drafts: Sequence[Draft], *, durable: bool) -> Sequence[Entry]:
        """Adds entries in one write. Where the disk refuses, nothing is added."""
        entries = [written(entry) for entry in numbered(drafts, self._last())]
        content = b"".join(encode(entry) for entry in entries)
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            write_at_end(fd, content, durable=durable)
        finally:
            os.close(fd)
        if durable and not self._named:
            sync_folder(self.folder)
            self._named = True
        return entries

    def replace(self, drafts: Sequence[Draft], now: datetime, *, archive: bool) -> None:
        """Begins a new tape with these entries."""
        opened = opening(drafts, [entry.id for entry in self.entries()])
        content = b"".join(encode(entry) for entry in numbered(opened, self._last()))
        exchange(self.folder, self.tape, content, now, archive=archive)

    def _last(self) -> int:
        """The highest id ever given. A tape whose file is gone goes on where its last archive ended."""
        with self._mutex, self._open() as fd:
            seen = self._look(fd)
            if seen.last is None and fd is not None:
                self._seen = seen = replace(seen, last=highest_id(fd, seen.end))
        if seen.last:
            return seen.last
        for path in archives(self.folder, self.tape):
            with path.open("rb") as file:
                return highest_id(file.fileno(), os.fstat(file.fileno()).st_size)
        return 0

    def _mend(self) -> None:
        with self._mutex, self._open() as fd:
            seen = self._look(fd)
            if fd is None:
                return
            end = seen.end
            rest = os.pread(fd, seen.stamp[1] - end, end)
            last = os.pread(fd, 1, end - 1) if end else b"\n"
        if rest:
            log.warning("tape.mended", tape=self.tape, bytes=len(rest))
            torn = os.open(self.folder / f"{self.tape}.torn", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with open(torn, "ab") as file:  # noqa: PTH123  # a path's own method leaves it readable to all
                file.write(rest.removesuffix(b"\n") + b"\n")
                file.flush()
                os.fsync(torn)
            os.truncate(self.path, end)
        if last != b"\n":
            with self.path.open("ab") as file:
                file.write(b"\n")

    @contextmanager
    def _open(self) -> Iterator[int | None]:
        """The file to read; between the two renames of a reset that is the new one under its old name."""
        for path in (self.path, new_path(self.folder, self.tape), self.path):
            try:
                fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            try:
                yield fd
            finally:
                os.close(fd)
            return
        yield None

    def _look(self, fd: int | None) -> _Seen:
        """What the file says now."""
        if fd is None:
            self._seen, self._index = _Seen(Window(self.tape)), None
            return self._seen
        for _ in range(_LOOKS):
            status = os.fstat(fd)
            stamp = status.st_ino, status.st_size, status.st_mtime_ns
            if stamp == self._seen.stamp:
                return self._seen
            try:
                self._seen = self._more(fd, stamp) if self._is_longer(fd, stamp) else self._anew(fd, stamp)
            except Shrunk:
                continue
            return self._seen
        raise Shrunk(f"the file of tape {self.tape} is changed by another program all the time")

    def _is_longer(self, fd: int, stamp: tuple[int, int, int]) -> bool:
        """Whether the file is the one last seen with something else after what counted."""
        seen = self._seen
        same = stamp[0] == seen.stamp[0] and stamp[1] != seen.stamp[1] and stamp[1] >= seen.end
        return same and os.pread(fd, len(seen.tail), seen.end - len(seen.tail)) == seen.tail

    def _more(self, fd: int, stamp: tuple[int, int, int]) -> _Seen:
        seen = self._seen
        end = committed(fd, stamp[1], seen.end)
        added = list(self._entries(forward(fd, seen.end, end)))
        if self._index:
            for entry in added:
                self._index[1].add(entry)
        last = None if seen.last is None else max([seen.last, *(entry.id for entry in added)])
        first = seen.first or next(iter(added), None)
        return _Seen(_grown(seen.window, first, added), stamp, end, _tail(fd, end), first, last)

    def _anew(self, fd: int, stamp: tuple[int, int, int]) -> _Seen:
        self._index = None
        self._told.clear()
        end = committed(fd, stamp[1])
        found: list[Entry] = []
        for entry in self._entries(backward(fd, end)):
            found.append(entry)
            if _is_anchor(entry):
                break
        first = first_entry(fd, end)
        return _Seen(_grown(Window(self.tape), first, found[::-1]), stamp, end, _tail(fd, end), first)

    def _archived(self, since: datetime) -> Iterator[Entry]:
        for path in archives(self.folder, self.tape):
            with path.open("rb") as file:
                end = committed(file.fileno(), os.fstat(file.fileno()).st_size)
                entries = (line.entry for line in backward(file.fileno(), end) if line.entry)
                for entry in _until_old(entries, since):
                    yield entry
                    if _is_old(entry, since):
                        return

    def _entries(self, lines: Iterator[Line]) -> Iterator[Entry]:
        """The entries among the lines. Damage is told once."""
        damaged = []
        try:
            for line in lines:
                if line.damaged and line.start not in self._told:
                    damaged.append(line.start)
                if line.entry:
                    yield line.entry
        finally:
            if damaged:
                self._told.update(damaged)
                log.warning("tape.damaged", tape=self.tape, lines=len(damaged), first_at=min(damaged))


def write_at_end(fd: int, content: bytes, *, durable: bool) -> None:
    """Writes all of it, or takes it back and raises what the disk said. The caller holds the lock."""
    size = os.fstat(fd).st_size
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(fd, left) :]
        if durable:
            os.fsync(fd)
    except OSError:
        with suppress(OSError):
            os.ftruncate(fd, size)
        raise


def _grown(window: Window, first: Entry | None, added: Sequence[Entry]) -> Window:
    entries, anchor, version = list(window.entries), window.anchor, window.version
    for entry in added:
        if entry.moves:
            version = entry.id
        if _is_anchor(entry):
            anchor, entries = entry, []
        else:
            entries.append(entry)
    return Window(window.tape, version, 0 if first is None else first.id, anchor, tuple(entries))


def _tail(fd: int, end: int) -> bytes:
    start = max(end - _CHECKED, 0)
    return os.pread(fd, end - start, start)


def _until_old(entries: Iterable[Entry], since: datetime) -> Iterator[Entry]:
    """What an index needs of entries that come newest first. If the last one is old, all the rest is older."""
    for entry in entries:
        if isinstance(entry.fact, Event) and entry.fact.name in ("turn", "delivery"):
            yield entry
        if _is_old(entry, since):
            yield entry
            return


def _is_anchor(entry: Entry) -> bool:
    """Whether a window begins here. A fact from the side disturbs no turn, not even as an anchor."""
    return isinstance(entry.fact, Anchor) and entry.moves


def _is_old(entry: Entry, since: datetime) -> bool:
    """Whether all before it is older than `since`: its date is when it was written, not when something was said."""
    ours = is_mark(entry)
    foreign = entry.meta.turn is None and entry.moves and entry.date > EPOCH
    return (ours or foreign) and entry.date < since
