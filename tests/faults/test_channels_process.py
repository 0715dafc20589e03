"""The process that holds the connections is killed in a burst: nothing that anybody wrote meanwhile is lost."""

import pytest

from tests.faults.crowd import answer_to, words_of
from tests.platforms.openai import Text
from tests.support.everywhere import Everywhere, Spot

LEASE = 2
PLATFORMS = ("telegram", "discord", "slack")


class Burst:
    """Numbered words in many places, and what became of them."""

    def __init__(self, world: Everywhere) -> None:
        self.world = world
        self.spots = world.spots()
        self.said: dict[str, list[str]] = {spot.name: [] for spot in self.spots}

    def says(self, number: int) -> None:
        for place, spot in enumerate(self.spots):
            word = f"c{place:02}n{number:03}"
            self.said[spot.name].append(word)
            spot.says(word)

    def missing(self, spot: Spot) -> list[str]:
        heard = " ".join(spot.heard())
        return [word for word in self.said[spot.name] if word not in heard]

    async def answered(self) -> None:
        await self.world.until(lambda: not any(map(self.missing, self.spots)), 90)

    async def is_whole(self) -> None:
        """Each word once, in order, on its tape."""
        for spot in self.spots:
            said = [w for w in words_of(await self.world.home.tape(spot.session)) if w.startswith("c")]
            assert said == self.said[spot.name], spot.name


@pytest.fixture
def lease() -> str:
    return str(LEASE)


async def test_a_channels_process_killed_in_a_burst_loses_nothing(lease: str) -> None:
    """Channels, done when 3, F11, C25: Telegram and Slack deliver again, Discord's history is read."""
    async with Everywhere(session__lease_ttl=lease) as world:
        world.ai.script = lambda request: Text(answer_to(request))
        worker = await world.home.begin("worker")
        first = await (await world.home.begin("channels")).connected(*PLATFORMS)
        await worker.connected(*PLATFORMS)
        burst = Burst(world)
        for number in range(3):
            burst.says(number)
        await burst.answered()
        for number in range(3, 6):
            burst.says(number)
        await first.kill()
        for number in range(6, 9):
            burst.says(number)
        await (await world.home.begin("channels")).connected(*PLATFORMS)
        world.sl.expire_acks()  # what the killed process had not acknowledged is delivered again
        await burst.answered()
        await burst.is_whole()


async def test_slack_messages_of_a_long_outage_are_read_from_its_history(lease: str) -> None:
    """Channels, done when 3, F20: three retries are gone after six minutes; only the history still has them."""
    async with Everywhere(session__lease_ttl=lease) as world:
        world.ai.script = lambda request: Text(answer_to(request))
        first = await (await world.home.start()).connected(*PLATFORMS)
        burst = Burst(world)
        burst.spots = [spot for spot in burst.spots if spot.name.startswith("slack")]
        burst.says(0)
        await burst.answered()
        await first.kill()
        for number in range(1, 4):
            burst.says(number)
        for _ in range(4):
            world.sl.expire_acks()
        await (await world.home.start()).connected(*PLATFORMS)
        await burst.answered()
        await burst.is_whole()
