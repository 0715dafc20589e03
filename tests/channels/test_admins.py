"""The platform's word on who is an admin counts for minutes."""

import asyncio

import pytest

from channels.admins import KEPT, Admins
from gateway.errors import Retryable
from tests.support.clock import ManualClock


class Platform:
    def __init__(self) -> None:
        self.admins, self.asked, self.away = {"ann"}, list[str](), False

    async def ask(self, place: str, person: str) -> bool:
        self.asked.append(f"{place} {person}")
        if self.away:
            raise Retryable("away")
        return person in self.admins


async def test_an_answer_counts_for_minutes_and_then_is_asked_for_again() -> None:
    platform, clock = Platform(), ManualClock()
    admins = Admins(platform.ask, clock)
    assert await admins.find("room", "ann") is True
    platform.admins.clear()
    clock.advance(KEPT - 1)
    assert await admins.find("room", "ann") is True
    assert admins.known("room", "ann") is True
    clock.advance(1)
    assert await admins.find("room", "ann") is False
    assert platform.asked == ["room ann"] * 2


async def test_what_is_not_known_is_asked_for_in_the_background_once() -> None:
    platform = Platform()
    admins = Admins(platform.ask, ManualClock())
    assert admins.known("room", "ann") is None
    assert admins.known("room", "ann") is None
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert admins.known("room", "ann") is True
    assert admins.known("other", "ann") is None
    await admins.close()
    assert platform.asked == ["room ann"]


async def test_a_platform_that_is_away_is_no_answer() -> None:
    platform = Platform()
    platform.away = True
    admins = Admins(platform.ask, ManualClock())
    with pytest.raises(Retryable):
        await admins.find("room", "ann")
    assert admins.known("room", "ann") is None
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert admins.known("room", "ann") is None
    await admins.close()


async def test_what_the_platform_said_by_itself_is_not_asked_for() -> None:
    platform = Platform()
    admins = Admins(platform.ask, ManualClock())
    admins.learn("room", "ben", True)
    assert admins.known("room", "ben") is True
    assert platform.asked == []
