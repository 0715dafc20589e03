"""All fakes on this machine, and a console to talk to the bot: `python -m tests.platforms`.

A line goes to the current place, at first a private chat in Telegram. `:` lists the places; `:slack/thread` goes to
another; `:discord/command status` says one thing there. What the bot shows is printed, wherever it is.
"""

import argparse
import asyncio
import contextlib
import sys
import threading

from tests.platforms.console import Console, Fakes, show
from tests.platforms.discord import FakeDiscord
from tests.platforms.openai import FakeOpenAI
from tests.platforms.slack import FakeSlack
from tests.platforms.telegram import FakeTelegram


def tell(line: str) -> None:
    print(line, flush=True)


async def talk(console: Console) -> None:
    """Say what is typed, until the input ends."""
    lines: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    threading.Thread(target=read, args=(loop, lines), daemon=True).start()
    while line := await lines.get():
        console.takes(line)


def read(loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[str]) -> None:
    """Pass lines on, an empty one at the end; a thread, since a loop cannot watch every kind of input."""
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
        while True:
            line = sys.stdin.readline()
            loop.call_soon_threadsafe(lines.put_nowait, line)
            if not line:
                return


async def serve(port: int, *, console: bool) -> None:
    ports = [port + step if port else 0 for step in range(4)]
    async with (
        FakeTelegram(port=ports[0]) as telegram,
        FakeDiscord(port=ports[1]) as discord,
        FakeSlack(port=ports[2]) as slack,
        FakeOpenAI(port=ports[3]) as model,
    ):
        fakes = Fakes(telegram, discord, slack, model)
        for name, value in fakes.settings().items():
            tell(f"export {name}={value}")
        places = Console(fakes.places(), tell)
        showing = asyncio.create_task(show(fakes, tell))
        try:
            await (talk(places) if console else asyncio.Event().wait())
        finally:
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.platforms", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="the first of four ports in a row; default: any free ones")
    parser.add_argument("--no-console", action="store_true", help="only serve, until Ctrl-C")
    chosen = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(chosen.port, console=not chosen.no_console))


if __name__ == "__main__":
    main()
