"""Both fakes on this machine, and a console to talk to the bot: `python -m tests.platforms`.

A line goes to the bot as a private message of person 1001; `/g text` goes into a group, with a mention of the bot.
"""

import argparse
import asyncio
import contextlib
import sys
import threading

from tests.platforms.openai import FakeOpenAI
from tests.platforms.telegram import FakeTelegram, Sent

GROUP_ID = -100500
PERSON_ID = 1001


def settings(telegram: FakeTelegram, model: FakeOpenAI) -> dict[str, str]:
    """What a gateway needs in its environment to use the two fakes, with person 1001 as its admin."""
    return {
        "GATEWAY_TELEGRAM__TOKEN": telegram.token,
        "GATEWAY_TELEGRAM__API_BASE": telegram.url,
        "GATEWAY_TELEGRAM__ADMINS": str(PERSON_ID),
        "GATEWAY_MODEL__BASE_URL": model.url,
        "GATEWAY_MODEL__API_KEY": "test",
        "GATEWAY_MODEL__NAME": model.models[0],
    }


async def show(telegram: FakeTelegram) -> None:
    """Print every message of the bot, and every change of one."""
    shown: list[Sent] = []
    while True:
        changed = await telegram.wait(lambda: [sent for sent in telegram.sent if sent not in shown], timeout=10**9)
        for sent in changed:
            shown.append(sent)
            mark = "deleted" if sent.deleted else f"edit {sent.edits}" if sent.edits else "sent"
            print(f"[{mark} {sent.chat_id}#{sent.message_id}] {sent.text}", flush=True)


async def talk(telegram: FakeTelegram) -> None:
    """Send what is typed, until the input ends."""
    ann = telegram.person(PERSON_ID, "Ann", "ann")
    private = telegram.private(ann)
    group = telegram.group(GROUP_ID, "Friends", members=[ann], admins=[ann])
    lines: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    threading.Thread(target=read, args=(loop, lines), daemon=True).start()
    while line := await lines.get():
        text = line.strip()
        if text.startswith("/g "):
            group.says(ann, text[3:], mention=True)
        elif text:
            private.says(ann, text)


def read(loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[str]) -> None:
    """Pass lines on, an empty one at the end; a thread, since a loop cannot watch every kind of input."""
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
        while True:
            line = sys.stdin.readline()
            loop.call_soon_threadsafe(lines.put_nowait, line)
            if not line:
                return


async def serve(telegram_port: int, openai_port: int, *, console: bool) -> None:
    async with FakeTelegram(port=telegram_port) as telegram, FakeOpenAI(port=openai_port) as model:
        for name, value in settings(telegram, model).items():
            print(f"export {name}={value}", flush=True)
        telegram.private(telegram.person(PERSON_ID, "Ann", "ann"))
        showing = asyncio.create_task(show(telegram))
        try:
            await (talk(telegram) if console else asyncio.Event().wait())
        finally:
            showing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await showing


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.platforms", description=__doc__)
    parser.add_argument("--telegram-port", type=int, default=0, help="default: any free port")
    parser.add_argument("--openai-port", type=int, default=0, help="default: any free port")
    parser.add_argument("--no-console", action="store_true", help="only serve, until Ctrl-C")
    chosen = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(chosen.telegram_port, chosen.openai_port, console=not chosen.no_console))


if __name__ == "__main__":
    main()
