"""What the contracts of the tape stores stand on."""

from datetime import UTC, datetime

import pytest

from gateway.tape.query import Query
from gateway.tape.store import TapeStore
from tests.support.clock import ManualClock
from tests.tape.given import (
    NOW,
    TAPE,
)

AGES = datetime(2000, 1, 1, tzinfo=UTC)


class StoreCase:
    """`make` is called once a test; the store keeps its time by `self.clock`."""

    clock: ManualClock
    store: TapeStore

    def make(self) -> TapeStore:
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def _made(self, _folder: None) -> None:
        self.clock = ManualClock(NOW)
        self.store = self.make()

    @pytest.fixture
    def _folder(self) -> None:
        """A store on disk overrides this to take a folder."""

    async def ids(self, tape: str = TAPE) -> list[int]:
        return [entry.id for entry in await self.store.fetch_all(Query(tape))]
