"""A process of its own that writes on a tape: `python -m tests.tape.writer_process <folder> <name> <count>`."""

import asyncio
import sys
from pathlib import Path

from gateway.clock import Clock
from gateway.errors import TapeMoved
from gateway.tape.store_file import FileTapeStore
from tests.tape.given import TAPE, finished, fork_of, message, said, side


async def main(folder: Path, name: str, count: int) -> None:
    """`count` facts from the side, and a turn for each twenty of them."""
    store = FileTapeStore(folder, clock=Clock())
    print(store.uuid, flush=True)
    sys.stdin.readline()
    for number in range(count):
        await store.append(TAPE, [side(f"{name}-{number}")])
        if number % 20 == 0:
            await answer(store, f"{name}-m{number}")


async def answer(store: FileTapeStore, name: str) -> None:
    claim = await store.claim(TAPE, [message(name)])
    while True:
        fork = fork_of(await store.window(TAPE), claim, said())
        try:
            await store.merge(claim, fork, finished(claim))
        except TapeMoved:
            continue
        return


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
