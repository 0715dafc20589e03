"""Every channel passes the channel contract, all of them in one living gateway."""

import re
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.contracts.channel import ChannelContract
from tests.contracts.channel_lives import LivesContract
from tests.contracts.stand import Stand
from tests.contracts.stands import LINES, STANDS, Ground, ground
from tests.house.code import REPOSITORY

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def living() -> AsyncIterator[tuple[Ground, object]]:
    async with ground() as grown:
        yield grown, await grown.start()


@pytest.fixture(name="ground")
def _ground(living) -> Iterator[Ground]:
    """The ground, with a model that nobody has scripted."""
    grown, gateway = living
    grown.reset()
    yield grown
    assert gateway.alive, gateway.told()


@pytest.fixture
def stand(ground: Ground, request: pytest.FixtureRequest) -> Stand:
    return ground.stands[request.param]


class TestContract(ChannelContract):
    """All that one living gateway can show."""


async def test_every_line_of_the_contract_has_a_test() -> None:
    """Channels, done when 2: the contract has all that was asked for, and each channel passes it or says why not."""
    tests = [getattr(contract, name) for contract in (ChannelContract, LivesContract) for name in dir(contract)]

    assert {test.line for test in tests if hasattr(test, "line")} == set(LINES)


@pytest.mark.parametrize("name", STANDS)
async def test_each_exemption_has_its_reason_in_the_readme_of_the_channels(name: str) -> None:
    """channels/README.md, the table of the channel: `| what | exempt: why |`."""
    page = (REPOSITORY / "channels" / "README.md").read_text()
    [table] = re.findall(rf"^## {name}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    reasons = set(re.findall(r"\| exempt: (.+?) \|$", table, re.MULTILINE))

    assert set(STANDS[name].exempt) <= set(LINES)
    assert set(STANDS[name].exempt.values()) <= reasons
