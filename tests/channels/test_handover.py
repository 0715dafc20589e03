"""An update is handed over until it is durable, or set aside where people find it."""

import json
from pathlib import Path

import pytest

from channels.handover import TRIES, Handover, Unreadable
from channels.poison import PoisonFolder
from channels.supervise import Supervisor
from gateway.channel import Health
from gateway.errors import LeaseLost, Retryable
from gateway.message import IncomingMessage
from tests.support.clock import InstantClock
from tests.support.messages import message

RAW = {"id": "1", "text": "words"}


class Door:
    """Takes messages in, after as many failures as it was given."""

    def __init__(self, folder: Path, *failures: Exception) -> None:
        self.clock = InstantClock()
        self.supervisor = Supervisor("x", self.clock)
        self.supervisor.tell(Health("connected", "@bot"))
        self.taken: list[IncomingMessage] = []
        self.told: list[Health] = []
        self._failures = list(failures)
        self._folder = folder / "poison"
        self.handover = Handover("x", PoisonFolder(self._folder), self.supervisor, self.clock)

    async def receive(self, found: IncomingMessage) -> None:
        self.told.append(self.supervisor.health)
        if self._failures:
            raise self._failures.pop(0)
        self.taken.append(found)

    async def give(self, found: IncomingMessage | Exception | None) -> None:
        def read() -> IncomingMessage | None:
            if isinstance(found, Exception):
                raise found
            return found

        await self.handover.give(self.receive, read, RAW, "x-1")

    @property
    def aside(self) -> dict[str, object]:
        return {path.name: json.loads(path.read_text()) for path in self._folder.glob("*")}


async def test_it_waits_for_redis_says_so_and_says_when_that_is_over(tmp_path: Path) -> None:
    door = Door(tmp_path, Retryable("Redis is away"), Retryable("Redis is away"))
    await door.give(message(1))
    assert door.taken == [message(1)]
    assert door.told[1] == Health("degraded", "messages wait to be taken in: Redis is away")
    assert door.supervisor.health == Health("connected", "@bot")
    assert door.aside == {}


async def test_it_is_read_once_however_often_it_must_be_tried(tmp_path: Path) -> None:
    """What was overheard before a message is given once, so a second reading would lose it."""
    door, read = Door(tmp_path, Retryable("away"), ZeroDivisionError()), list[int]()

    def reading() -> IncomingMessage:
        read.append(1)
        return message(1)

    assert await door.handover.give(door.receive, reading, RAW, "x-1") == message(1)
    assert door.taken == [message(1)]
    assert read == [1]


async def test_what_nobody_can_read_is_set_aside_whole(tmp_path: Path) -> None:
    door = Door(tmp_path)
    await door.give(Unreadable())
    assert door.taken == []
    assert door.aside == {"x-1.json": RAW}
    assert door.supervisor.health.state == "connected"


async def test_a_fault_of_ours_is_tried_and_then_set_aside(tmp_path: Path) -> None:
    door = Door(tmp_path, *[ZeroDivisionError()] * TRIES)
    await door.give(message(1))
    assert len(door.told) == TRIES
    assert list(door.aside) == ["x-1.json"]
    assert door.supervisor.health.state == "connected"


async def test_what_is_nothing_to_us_is_over_at_once(tmp_path: Path) -> None:
    door = Door(tmp_path)
    await door.give(None)
    assert (door.told, door.aside) == ([], {})


async def test_a_lost_account_ends_it(tmp_path: Path) -> None:
    door = Door(tmp_path, LeaseLost("x/1"))
    with pytest.raises(LeaseLost):
        await door.give(message(1))
