from collections.abc import AsyncIterator

import pytest

from tests.channels.telegram.rig import Ear, Rig, WatchfulClock
from tests.platforms.telegram import FakeTelegram


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
