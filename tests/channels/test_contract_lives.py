"""Every channel passes the part of the channel contract for which a gateway must be stopped, killed or misled."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.contracts.channel_lives import (
    Killed,
    LivesContract,
    Misled,
    Stopped,
    kill_asking,
    mislead,
    stop_owing,
)
from tests.contracts.stand import Stand
from tests.contracts.stands import Ground, ground

pytestmark = pytest.mark.asyncio(loop_scope="module")

SOON = {"session__lease_ttl": "2"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def misled_ground() -> AsyncIterator[Ground]:
    async with ground() as grown:
        yield grown


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def misled(misled_ground: Ground) -> Misled:
    return await mislead(misled_ground)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stopped_ground() -> AsyncIterator[Ground]:
    async with ground() as grown:
        yield grown


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stopped(stopped_ground: Ground) -> Stopped:
    return await stop_owing(stopped_ground)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def killed_ground() -> AsyncIterator[Ground]:
    async with ground(**SOON) as grown:
        yield grown


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def killed(killed_ground: Ground) -> Killed:
    return await kill_asking(killed_ground)


@pytest.fixture
def stand(request: pytest.FixtureRequest) -> Stand:
    """Of the ground that the test asks for."""
    [name] = {"misled", "stopped", "killed"} & set(request.fixturenames)
    grown: Ground = request.getfixturevalue(f"{name}_ground")
    return grown.stands[request.param]


class TestLives(LivesContract):
    """All that takes a process its life."""
