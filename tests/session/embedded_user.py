"""Another process that uses the embedded server of a folder: `User`, and, run as a program, what it runs."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from gateway.session.embedded import EmbeddedServer

REPOSITORY = Path(__file__).parents[2]
PATIENCE = 30  # seconds


class User:
    """Another process, attached to the server of a folder."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.url = ""

    async def entered(self) -> None:
        assert self._process.stdout
        lines = [line async for line in _until(self._process.stdout, b"in ")]
        self.url = lines[-1].split()[1].decode()

    async def leave(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        async for _ in _until(self._process.stdout, b"out"):
            pass
        assert await self._process.wait() == 0

    async def kill(self) -> None:
        self._process.kill()
        await self._process.wait()


async def _until(stream: asyncio.StreamReader, start: bytes) -> AsyncIterator[bytes]:
    async with asyncio.timeout(PATIENCE):
        while not (line := await stream.readline()).startswith(start):
            assert line, "the process ended"
        yield line


async def begin(folder: Path) -> User:
    """Start a process and do not wait until it has entered."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, str(folder)), stdin=pipe, stdout=pipe, cwd=REPOSITORY, env={"PYTHONPATH": "."}
    )
    return User(process)


async def enter(folder: Path) -> User:
    user = await begin(folder)
    await user.entered()
    return user


async def main(folder: Path) -> None:
    """Say `in URL` once attached, stay until the standard input ends, leave, and say `out`."""
    async with EmbeddedServer(folder) as server:
        print(f"in {server.url}", flush=True)
        await asyncio.to_thread(sys.stdin.read)
    print("out", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
