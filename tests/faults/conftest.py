"""Both fakes and a home for gateways that are killed."""

from collections.abc import AsyncIterator

import pytest

from tests.faults.crowd import LEASE
from tests.platforms.openai import FakeOpenAI
from tests.platforms.telegram import FakeTelegram
from tests.support.gateway import Home


@pytest.fixture
async def tg() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram() as server:
        yield server


@pytest.fixture
async def ai() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI() as server:
        yield server


@pytest.fixture
async def home(tg: FakeTelegram, ai: FakeOpenAI) -> AsyncIterator[Home]:
    async with Home(tg, ai, telegram__access="open", session__lease_ttl=str(LEASE)) as folder:
        yield folder
