"""The tape as the tools of a running turn read it: everything that is recorded, and the turn's own facts."""

from collections.abc import Sequence

from gateway.tape.entries import Draft, Entry
from gateway.tape.fork import Fork
from gateway.tape.query import Query
from gateway.tape.store import TapeStore


class ForkReader:
    """See agent.tool.TapeView."""

    def __init__(self, store: TapeStore, fork: Fork) -> None:
        self._store, self._fork = store, fork

    async def entries(self) -> Sequence[Entry | Draft]:
        recorded = await self._store.fetch_all(Query(self._fork.base.tape))
        return (*recorded, *self._fork.drafts)
