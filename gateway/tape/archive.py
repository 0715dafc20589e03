"""The files beside a tape's file: its archives, and the new tape that a reset prepares. All of it under the lock."""

import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

_STAMP = "%Y%m%dT%H%M%SZ"


def tape_path(folder: Path, tape: str) -> Path:
    """The tape's own file."""
    return folder / f"{tape}.jsonl"


def new_path(folder: Path, tape: str) -> Path:
    """The next tape, as a reset prepares it."""
    return folder / f"{tape}.jsonl.new"


def archives(folder: Path, tape: str) -> Sequence[Path]:
    """The tape's archives, newest first."""
    pattern = re.compile(re.escape(tape) + r"\.jsonl\.\d{8}T\d{6}Z\.bak")
    with os.scandir(folder) as names:
        return sorted((folder / entry.name for entry in names if pattern.fullmatch(entry.name)), reverse=True)


def exchange(folder: Path, tape: str, content: bytes, now: datetime, *, archive: bool) -> None:
    """Puts a new tape in the place of the old one, which is archived or goes.

    A crash at any step leaves the old tape whole, or the archive and the new one: `finish` completes the last step.
    """
    old, new = tape_path(folder, tape), new_path(folder, tape)
    write_whole(new, content, durable=True)
    if archive and old.exists():
        old.rename(_free(folder, tape, now))
    new.rename(old)
    sync_folder(folder)


def finish(folder: Path, tape: str) -> None:
    """Completes what a crash in `exchange` left, or takes it back.

    Where no tape was before, the new one may be half: that is half a merge like any other.
    """
    old, new = tape_path(folder, tape), new_path(folder, tape)
    if not new.exists():
        return
    if old.exists():
        new.unlink()
    else:
        new.rename(old)
    sync_folder(folder)


def write_whole(path: Path, content: bytes, *, durable: bool) -> None:
    """Writes a file, and has it on disk if `durable`."""
    with path.open("wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(content)
        file.flush()
        if durable:
            os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Has the names in a folder on disk."""
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _free(folder: Path, tape: str, now: datetime) -> Path:
    """A name that no archive has: a second later than the true one, where there were several in one second."""
    while (path := folder / f"{tape}.jsonl.{now.astimezone(UTC).strftime(_STAMP)}.bak").exists():
        now += timedelta(seconds=1)
    return path
