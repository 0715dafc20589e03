"""The lock of a file that is never renamed: one holder at a time, over tasks, threads and processes."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Waits in this thread until nobody else holds the lock. It ends with the block, or with the process."""
    fd = _acquired(path)
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)  # closing alone would leave it to a child that was forked meanwhile
        os.close(fd)


def _acquired(path: Path) -> int:
    """A descriptor of its own for each holder, since flock does not exclude two users of one."""
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            if _is_still(path, fd):
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _is_still(path: Path, fd: int) -> bool:
    """Whether the path names the file that was locked: else somebody removed it while we waited."""
    try:
        return os.path.samestat(path.stat(), os.fstat(fd))
    except FileNotFoundError:
        return False
