"""The console of the fakes as another process sees it."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

from tests.platforms.console import Console, Fakes
from tests.platforms.discord import FakeDiscord
from tests.platforms.openai import FakeOpenAI
from tests.platforms.slack import FakeSlack
from tests.platforms.telegram import FakeTelegram

ROOT = Path(__file__).parents[2]
SETTINGS = 14


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
    process.stdin.write(b"hello\n:telegram/group friends\n:nowhere\n")
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
    shown = [(await process.stdout.readline()).decode() for _ in range(3)]
    process.stdin.close()

    assert [update["message"]["text"] for update in updates] == ["hello", "@gateway_bot friends"]
    assert shown[0] == "-> telegram/group\n"
    assert "discord/thread, " in shown[1]
    assert shown[2] == "[telegram 1001#2] hello Ann\n"
    assert await process.wait() == 0


async def test_somebody_speaks_in_every_kind_of_place() -> None:
    """Channels, done when 4: a person can try each by hand."""
    told: list[str] = []
    async with FakeTelegram() as telegram, FakeDiscord() as discord, FakeSlack() as slack, FakeOpenAI() as model:
        fakes = Fakes(telegram, discord, slack, model)
        console = Console(fakes.places(), told.append)
        for place in fakes.places():
            if place != "discord/command":
                console.takes(f":{place} hello from {place}")
        console.takes("again")
        console.takes(":discord/command nonsense")

        assert telegram.pending == 3
        assert len(slack.unacked) >= 3
    assert told[-1] != "-> discord/command", "an unknown command is told, and ends nothing"
