"""Both fakes and a home for gateways that are killed, for all tests of a module: what lives on serves the next test."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.faults.crew import LEASE, Crew
from tests.platforms.openai import FakeOpenAI, echo
from tests.platforms.telegram import FakeTelegram
from tests.support.gateway import Home


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def living() -> AsyncIterator[Crew]:
    async with FakeTelegram() as tg, FakeOpenAI() as ai:
        settings = {"telegram__access": "open", "session__lease_ttl": str(LEASE), "session__drain": "30"}
        async with Home(tg, ai, **settings) as home:
            yield Crew(tg, ai, home)


@pytest.fixture
def crew(living: Crew) -> Crew:
    """The crew, with a model that nobody has scripted."""
    living.ai.script = echo
    living.ai.answers.clear()
    return living
