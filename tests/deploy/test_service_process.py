"""What systemd does with the unit, rehearsed with plain processes: a stop by its KillMode, and what follows a crash."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.deploy.written import role_of, seconds, unit
from tests.platforms.openai import FakeOpenAI, Stall, Text
from tests.platforms.telegram import Chat, FakeTelegram
from tests.scenarios.friends import outcomes, session
from tests.support.gateway import Gateway, Home
from tests.support.locks import is_locked


class Service:
    """One service that systemd would have started, with the platforms around it."""

    def __init__(self, tg: FakeTelegram, ai: FakeOpenAI, home: Home) -> None:
        self.tg, self.ai, self.home = tg, ai, home
        self.room: Chat = tg.private(tg.person(1, "Ann"))

    @property
    def lock(self) -> Path:
        """What the embedded server holds for as long as it lives."""
        return self.home.data / "redis" / "running.lock"

    async def start(self) -> Gateway:
        """The command of the unit, polling."""
        return await (await (await self.home.begin(role_of(unit()["ExecStart"][0]))).ready()).polls()

    async def stalls(self, go: asyncio.Event, text: str) -> None:
        """Somebody writes; returns when the model has begun to answer, which it ends after `go`."""
        self.ai.answers.append(Stall(go, after_chunks=1, then=Text(text)))
        self.room.says(self.room.members[0], "hello")
        await self.ai.wait_stalled()

    async def hears(self) -> list[str]:
        """What the bot said, once it has said something."""
        return [sent.text for sent in await self.tg.wait_sent(1, 60)]


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    settings = {"telegram__access": "open", "session__lease_ttl": "2"}
    async with FakeTelegram() as tg, FakeOpenAI() as ai, Home(tg, ai, **settings) as home:
        yield Service(tg, ai, home)


async def test_the_embedded_server_lives_until_the_last_turn_has_ended(service: Service) -> None:
    """KillMode=mixed: the first signal is for the main process alone, which ends its server itself."""
    assert unit()["KillMode"] == ["mixed"]
    go, gateway = asyncio.Event(), await service.start()
    await service.stalls(go, "the whole answer")
    gateway.signal(signal.Signals[unit()["KillSignal"][0]])
    go.set()
    assert await gateway.ended(seconds(unit()["TimeoutStopSec"][0])) == 0

    assert await service.hears() == ["the whole answer"]
    assert outcomes(await service.home.tape(session(service.room))) == ["finished"]
    assert not [line for line in gateway.log if line["event"] == "redis.away"], "the server went before the gateway"
    assert not is_locked(service.lock), "it left the server running, for systemd to kill"


async def test_a_crash_that_takes_the_embedded_server_along_loses_nothing(service: Service) -> None:
    """After the main process systemd kills the rest of the service, and starts it anew (Restart=on-failure)."""
    never, gateway = asyncio.Event(), await service.start()
    await service.stalls(never, "never said")
    await gateway.kill()
    os.kill(int(service.lock.read_text()), signal.SIGKILL)
    again = await service.start()

    assert await service.hears() == ["echo: hello"]
    await again.logged("embedded.started")
    assert outcomes(await service.home.tape(session(service.room))) == ["finished"]
    assert await again.stop() == 0
