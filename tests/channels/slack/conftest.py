from collections.abc import AsyncIterator

import pytest

from tests.channels.slack.rig import Ear, Rig, WatchfulClock
from tests.platforms.slack import Channel, FakeSlack, Person


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as fake:
        yield fake


@pytest.fixture
def rig(slack: FakeSlack, tmp_path_factory: pytest.TempPathFactory) -> Rig:
    return Rig(slack, tmp_path_factory.mktemp("data"))


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
def clock() -> WatchfulClock:
    return WatchfulClock()


@pytest.fixture
def ann(slack: FakeSlack) -> Person:
    return slack.person("U1", "Ann")


@pytest.fixture
def bob(slack: FakeSlack) -> Person:
    return slack.person("U2", "Bob")


@pytest.fixture
def room(slack: FakeSlack, ann: Person, bob: Person) -> Channel:
    return slack.channel("C1", "general", [ann, bob])


@pytest.fixture
def chat(slack: FakeSlack, ann: Person) -> Channel:
    """Ann's direct messages with the bot."""
    return slack.private(ann)
