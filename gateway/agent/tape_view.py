"""The tape that a turn's tools read."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.tape.entries import Draft, Entry
from gateway.tape.fork import Fork
from gateway.tape.query import Query
from gateway.tape.store import TapeStore


@dataclass(frozen=True, slots=True)
class ForkedTape:
    """A `TapeView`: what the store holds now, and behind it what this turn adds."""

    store: TapeStore
    fork: Fork

    async def entries(self) -> Sequence[Entry | Draft]:
        return (*await self.store.fetch_all(Query(self.fork.base.tape)), *self.fork.drafts)
