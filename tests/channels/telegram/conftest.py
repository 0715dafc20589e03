from collections.abc import AsyncIterator

import pytest

from tests.channels.telegram.rig import Ear, Rig, WatchfulClock
from tests.platforms.telegram import Chat, FakeTelegram, Person


@pytest.fixture
async def tg() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram() as fake:
        yield fake


@pytest.fixture
async def rig(tg: FakeTelegram, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Rig]:
    rig = Rig(tg, tmp_path_factory.mktemp("data"))
    yield rig
    await rig.close()


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
def clock() -> WatchfulClock:
    return WatchfulClock()


@pytest.fixture
def ann(tg: FakeTelegram) -> Person:
    return tg.person(1001, "Ann")


@pytest.fixture
def chat(tg: FakeTelegram, ann: Person) -> Chat:
    """Ann's private chat with the bot."""
    return tg.private(ann)
