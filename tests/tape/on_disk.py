"""Tapes on disk as other processes see them."""

import asyncio
from pathlib import Path

from gateway.tape.entries import Entry
from gateway.tape.query import Query
from gateway.tape.store_file import FileTapeStore
from tests.support.clock import ManualClock
from tests.tape.given import NOW, TAPE

CLOCK = ManualClock(NOW)


def opened(folder: Path) -> FileTapeStore:
    """A store of a process that has just started."""
    return FileTapeStore(folder, clock=CLOCK)


async def facts(folder: Path) -> list[Entry]:
    return [*await opened(folder).fetch_all(Query(TAPE))]


async def until_somebody_waits_for(path: Path) -> None:
    """Returns when a thread or process waits for this lock."""
    inode = f":{path.stat().st_ino} "
    async with asyncio.timeout(10):
        while not any("->" in line and inode in line for line in Path("/proc/locks").read_text().splitlines()):
            await asyncio.sleep(0)
