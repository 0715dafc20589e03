"""The cancellation marks of a held session, as the last renewal brought them."""

import asyncio
from collections.abc import Iterable, Mapping

from gateway.message import MessageId


class Marks:
    """A mark is a request: what the merge records decides."""

    def __init__(self, marks: Mapping[MessageId, MessageId]) -> None:
        self._marks, self._news = dict(marks), asyncio.Event()

    def tell(self, marks: Mapping[MessageId, MessageId]) -> None:
        """Takes in what a renewal or a settle brought."""
        if marks != self._marks:
            self._marks = dict(marks)
            self._news.set()

    def hits(self, ids: Iterable[MessageId]) -> bool:
        """Whether any of these is marked."""
        return any(i in self._marks for i in ids)

    def of(self, request: MessageId) -> tuple[MessageId, ...]:
        """The messages that this request marked."""
        return tuple(message for message, by in self._marks.items() if by == request)

    @property
    def ids(self) -> frozenset[MessageId]:
        """All that is marked."""
        return frozenset(self._marks)

    async def wait(self, ids: Iterable[MessageId]) -> None:
        """Returns when any of these is marked."""
        wanted = tuple(ids)
        while not self.hits(wanted):
            self._news.clear()
            await self._news.wait()
