"""Who looks at which chat now, and what they are told. No promise: a page that missed something reads history."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_BACKLOG = 256
"""A page that lags more than this is cut off: it comes back and reads history, which is cheaper for both."""


@dataclass(frozen=True, slots=True)
class News:
    """One server-sent event. A later one with the same `slot` replaces one that still waits."""

    event: str
    data: str
    slot: str | None = None

    def encode(self) -> bytes:
        """As it goes over the wire; `data` is one line of JSON."""
        return f"event: {self.event}\ndata: {self.data}\n\n".encode()


class Feed:
    """What one connected page has yet to be told."""

    def __init__(self) -> None:
        self._waiting: list[News] = []
        self._stirred = asyncio.Event()
        self._closed = False

    def put(self, news: News) -> None:
        """Never blocks."""
        if news.slot is not None:
            self._waiting = [old for old in self._waiting if old.slot != news.slot]
        self._waiting.append(news)
        self._closed = self._closed or len(self._waiting) > _BACKLOG
        self._stirred.set()

    def close(self) -> None:
        """Ends the feed: whoever takes from it gets nothing more."""
        self._closed = True
        self._stirred.set()

    async def take(self) -> list[News]:
        """All that waits, once something does; nothing when the feed is closed."""
        await self._stirred.wait()
        if self._closed:
            return []
        self._stirred.clear()
        taken, self._waiting = self._waiting, []
        return taken


class Hub:
    """The feeds of all pages of this process."""

    def __init__(self) -> None:
        self._feeds: dict[str, set[Feed]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._feeds.values()))

    @contextmanager
    def feed(self, chat: str) -> Iterator[Feed]:
        """A feed of the chat, from now on, for as long as the page is connected."""
        feed = Feed()
        self._feeds.setdefault(chat, set()).add(feed)
        try:
            yield feed
        finally:
            self._feeds[chat].discard(feed)
            if not self._feeds[chat]:
                del self._feeds[chat]

    def publish(self, chat: str, news: News) -> None:
        """To all pages of one chat."""
        for feed in self._feeds.get(chat, ()):
            feed.put(news)

    def publish_everywhere(self, news: News) -> None:
        """To all pages."""
        for chat in self._feeds:
            self.publish(chat, news)

    def close(self) -> None:
        """Ends all feeds of now; later ones are new."""
        for feeds in self._feeds.values():
            for feed in feeds:
                feed.close()
