"""The lines that somebody types, or that a pipe or a file holds."""

import asyncio
import codecs
import os
from collections.abc import AsyncGenerator
from io import UnsupportedOperation
from typing import TextIO

_BLOCK = 65_536


async def lines(source: TextIO) -> AsyncGenerator[str, None]:
    """Yields each line without its end, also a last one that has none. Bytes that are no text become U+FFFD.

    A keyboard and a pipe are waited for by the loop and by no thread: one that waited for a key would keep the program
    from ending until somebody pressed it.
    """
    decoder = codecs.getincrementaldecoder(source.encoding or "utf-8")("replace")
    rest = ""
    async for block in _blocks(source):
        *whole, rest = (rest + decoder.decode(block)).split("\n")
        for line in whole:
            yield line.removesuffix("\r")
    if rest := rest + decoder.decode(b"", final=True):
        yield rest


async def _blocks(source: TextIO) -> AsyncGenerator[bytes, None]:
    while True:
        try:
            fd = source.fileno()
            await _readable(fd)
        except (UnsupportedOperation, PermissionError):  # no file, or one on a disk, which always has its answer
            yield (await asyncio.to_thread(source.read)).encode(source.encoding or "utf-8", "replace")
            return
        try:
            block = os.read(fd, _BLOCK)
        except BlockingIOError:
            continue
        except OSError:  # the terminal was closed
            return
        if not block:
            return
        yield block


async def _readable(fd: int) -> None:
    """Watched only while somebody waits: input that nobody takes yet would keep the loop spinning."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)
