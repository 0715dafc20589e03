"""One queue a conversation: what is put in the same is handled one by one, in the order in which it was put."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

T = TypeVar("T")

MOST: Final = 10_000
"""So many items wait at most, over all conversations."""


class LanesFull(Exception):
    """More waits than may: the connection must stop bringing more, and read on later from where it was."""


class Lanes(Generic[T]):
    """`put` is to be a callback's first act: an SDK runs a task an event, and after one `await` their order is lost
    (F12). Conversations do not wait for each other.
    """

    def __init__(self, handle: Callable[[T], Awaitable[None]], *, most: int = MOST) -> None:
        self._handle, self._most = handle, most
        self._waiting: dict[str, deque[tuple[T, asyncio.Future[None]]]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def waiting(self) -> int:
        """How many items wait or are being handled."""
        return sum(map(len, self._waiting.values()))

    def put(self, lane: str, item: T) -> asyncio.Future[None]:
        """Done when the item was handled, with the error that its handling raised, if any. Raises LanesFull."""
        if self.waiting >= self._most:
            raise LanesFull(f"{self._most} messages wait to be taken in")
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.add_done_callback(_looked_at)
        self._waiting.setdefault(lane, deque()).append((item, done))
        if lane not in self._tasks:
            self._tasks[lane] = asyncio.create_task(self._work(lane))
        return done

    async def close(self) -> None:
        """Handles nothing more; what waits is cancelled."""
        tasks, queues = list(self._tasks.values()), list(self._waiting.values())
        self._tasks, self._waiting = {}, {}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for queue in queues:
            for _, done in queue:
                done.cancel()

    async def _work(self, lane: str) -> None:
        queue = self._waiting[lane]
        while queue:
            item, done = queue[0]
            try:
                await self._handle(item)
            except Exception as error:  # whoever put it hears of it; those behind it are handled
                _end(done, error)
            else:
                _end(done, None)
            queue.popleft()
        del self._waiting[lane], self._tasks[lane]


def _end(done: asyncio.Future[None], error: Exception | None) -> None:
    if done.cancelled():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)


def _looked_at(done: asyncio.Future[None]) -> None:
    """Whoever does not wait for an item need not hear how it ended."""
    if not done.cancelled():
        done.exception()
