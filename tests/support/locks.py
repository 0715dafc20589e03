"""Whether somebody holds a file lock: the kernel gives it back when its holder is gone, however it went."""

import fcntl
from pathlib import Path


def is_locked(path: Path) -> bool:
    """Whether another process holds the flock of this file."""
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
