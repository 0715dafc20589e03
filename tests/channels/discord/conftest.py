from collections.abc import AsyncIterator

import pytest

from tests.channels.discord.rig import Ear, Rig, WatchfulClock
from tests.platforms.discord import Channel, FakeDiscord, Guild, Person


@pytest.fixture
def clock() -> WatchfulClock:
    return WatchfulClock()


@pytest.fixture
async def dc(clock: WatchfulClock) -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord(clock=lambda: clock.now().timestamp()) as fake:
        yield fake


@pytest.fixture
async def rig(dc: FakeDiscord, clock: WatchfulClock, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Rig]:
    rig = Rig(dc, tmp_path_factory.mktemp("data"), clock)
    yield rig
    await rig.close()


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
def ann(dc: FakeDiscord) -> Person:
    return dc.person(1001, "Ann")


@pytest.fixture
def bob(dc: FakeDiscord) -> Person:
    return dc.person(1002, "Bob")


@pytest.fixture
def private(dc: FakeDiscord, ann: Person) -> Channel:
    """Ann's DM with the bot."""
    return dc.private(ann)


@pytest.fixture
def guild(dc: FakeDiscord, ann: Person, bob: Person) -> Guild:
    return dc.guild(100, "Friends", members=[ann, bob])


@pytest.fixture
def general(guild: Guild) -> Channel:
    return guild.text("general", id=200)
