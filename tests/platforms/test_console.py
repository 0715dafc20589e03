"""The console of the fakes as another process sees it."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

ROOT = Path(__file__).parents[2]
SETTINGS = 6


async def test_typed_lines_reach_the_bot_and_its_messages_are_printed() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.platforms"),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    exports = [(await process.stdout.readline()).decode().removeprefix("export ").strip() for _ in range(SETTINGS)]
    env = dict(line.split("=", 1) for line in exports)
    process.stdin.write(b"hello\n/g friends\n")
    await process.stdin.drain()

    base = f"{env['GATEWAY_TELEGRAM__API_BASE']}/bot{env['GATEWAY_TELEGRAM__TOKEN']}"
    updates: list[Any] = []
    async with ClientSession() as web:
        while len(updates) < 2:
            form = {"timeout": 20, "offset": updates[-1]["update_id"] + 1 if updates else 0}
            async with web.post(f"{base}/getUpdates", data=form) as answer:
                updates += (await answer.json())["result"]
        async with web.post(f"{base}/sendMessage", data={"chat_id": 1001, "text": "hello Ann"}) as answer:
            assert answer.status == 200
        async with web.get(f"{env['GATEWAY_MODEL__BASE_URL']}/models") as answer:
            assert (await answer.json())["data"][0]["id"] == env["GATEWAY_MODEL__NAME"]
    shown = (await process.stdout.readline()).decode()
    process.stdin.close()

    assert [update["message"]["text"] for update in updates] == ["hello", "@gateway_bot friends"]
    assert shown == "[sent 1001#2] hello Ann\n"
    assert await process.wait() == 0
