"""One gateway for the tests of this folder, with both fakes; every test brings its own people and chats."""

from collections.abc import AsyncIterator, Iterator
from itertools import count

import pytest
import pytest_asyncio

from tests.platforms.openai import FakeOpenAI, echo
from tests.platforms.telegram import FakeTelegram, Person
from tests.scenarios.friends import ADMIN, FRIENDS, Bot
from tests.support.gateway import Home

_numbers = count()


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def living() -> AsyncIterator[Bot]:
    async with FakeTelegram() as tg, FakeOpenAI() as ai:
        allowed = ",".join(map(str, FRIENDS))
        async with Home(tg, ai, telegram__admins=str(ADMIN), telegram__allow=allowed) as home:
            gateway = await (await home.start()).polls()
            yield Bot(tg, ai, home, gateway)


@pytest.fixture
def bot(living: Bot) -> Iterator[Bot]:
    """The bot, with a model that nobody has scripted."""
    living.ai.script = echo
    living.ai.answers.clear()
    yield living
    assert living.gateway.alive, living.gateway.told()


@pytest.fixture
def ann(bot: Bot) -> Person:
    """The bot's admin."""
    return bot.tg.person(ADMIN, "Ann", "ann")


@pytest.fixture
def ben(bot: Bot) -> Person:
    """Somebody who may talk to the bot alone, and whom no test has met."""
    return bot.tg.person(FRIENDS[next(_numbers)], "Ben")


@pytest.fixture
def number() -> int:
    """A number that no other test has."""
    return next(_numbers)
