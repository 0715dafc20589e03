"""A fake of each platform for every test, and the real SDK connected to it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiogram import Bot
from openai import AsyncOpenAI

from tests.platforms.openai import FakeOpenAI
from tests.platforms.sdk import connected
from tests.platforms.telegram import Chat, FakeTelegram, Person


@pytest.fixture
async def tg() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram() as server:
        yield server


@pytest.fixture
async def bot(tg: FakeTelegram) -> AsyncIterator[Bot]:
    async with connected(tg) as sdk:
        yield sdk


@pytest.fixture
def ann(tg: FakeTelegram) -> Person:
    return tg.person(1001, "Ann", "ann")


@pytest.fixture
def room(tg: FakeTelegram, ann: Person) -> Chat:
    return tg.private(ann)


@pytest.fixture
async def ai() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI() as server:
        yield server


@pytest.fixture
async def client(ai: FakeOpenAI) -> AsyncIterator[Any]:
    async with AsyncOpenAI(api_key="k", base_url=ai.url, max_retries=0, timeout=20) as sdk:
        yield sdk
