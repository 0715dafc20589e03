"""What was said while nobody listened: Discord repeats nothing over a restart, so the histories are read (F11)."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog

from channels.backoff import Backoff
from channels.discord.failures import FAILURES, of_asking
from channels.discord.fields import Payload, rows, text, words
from channels.discord.rest import Rest
from channels.discord.snowflake import first_of, is_id, made_at
from gateway.clock import Clock
from gateway.errors import Refused, Retryable
from gateway.tape.last_seen import LastSeen

log = structlog.get_logger()

MOST: Final = 500
"""Messages of one place that are read back; older ones are left unread, and a line of the log says so."""

MARGIN: Final = timedelta(minutes=10)
"""A place without a note is read from so long before the newest note of all: notes are written every few minutes."""

_PAGE: Final = 100
_AT_ONCE: Final = 4
_START: Final = "start"  # the note of a bot that has taken in nothing yet: from here on it listened
_PRIVATE: Final = "private/"


@dataclass(frozen=True, slots=True)
class Place:
    """A channel, thread or DM (no guild) whose history may hold what is missing."""

    channel: str
    guild: str | None = None

    def __str__(self) -> str:
        """As its note is named. Discord lists no DMs, so a note says of itself that it is of one."""
        return self.channel if self.guild is not None else _PRIVATE + self.channel


class Seen:
    """Up to where each place was taken in."""

    def __init__(self, last_seen: LastSeen, clock: Clock) -> None:
        self._last_seen, self._clock = last_seen, clock
        self._noted: dict[str, int] = {}

    async def load(self, account: str) -> None:
        """Before a connection. An account's first start ever notes when that was: what is older is never read."""
        noted = await self._last_seen.load(account)
        self._noted = {place: int(id_) for place, id_ in noted.items() if is_id(id_)}
        if not self._noted:
            await self._note(_START, first_of(self._clock.now()))

    def after(self, place: Place) -> int:
        """What is newer than this id was not taken in there."""
        noted = self._noted.get(str(place))
        return self._watermark() if noted is None else noted

    def knows(self, place: Place) -> bool:
        """Whether the place has a note of its own."""
        return str(place) in self._noted

    def private(self) -> list[Place]:
        """The DMs with a note, the latest first."""
        found = [
            (id_, place.removeprefix(_PRIVATE)) for place, id_ in self._noted.items() if place.startswith(_PRIVATE)
        ]
        return [Place(channel) for _, channel in sorted(found, reverse=True)]

    async def saw(self, place: Place, id_: int) -> None:
        """Everything there up to this id is durable, or nothing to the bot. An older one than the note says nothing."""
        if id_ > self._noted.get(str(place), 0):
            await self._note(str(place), id_)

    async def write(self) -> None:
        """At an orderly end."""
        await self._last_seen.write()

    async def _note(self, place: str, id_: int) -> None:
        self._noted[place] = id_
        await self._last_seen.saw(place, str(id_))

    def _watermark(self) -> int:
        start = self._noted.get(_START, 0)
        newest = max((id_ for place, id_ in self._noted.items() if place != _START), default=start)
        return max(start, first_of(made_at(str(newest)) - MARGIN))


def with_news(guild: Payload, seen: Seen) -> Iterator[Place]:
    """The channels and threads of a GUILD_CREATE whose newest message may be after what was seen. Raises Unreadable."""
    id_ = text(guild, "id")
    for channel in (*rows(guild, "channels"), *rows(guild, "threads")):
        last, place = words(channel, "last_message_id"), Place(words(channel, "id"), id_)
        if is_id(last) and int(last) > seen.after(place):
            yield place


class Histories:
    """Reads what is missing of a place. A few at a time: the answers to people have the same budget of requests."""

    def __init__(self, rest: Rest, clock: Clock) -> None:
        self._rest, self._clock = rest, clock
        self._room = asyncio.Semaphore(_AT_ONCE)

    async def read(self, place: Place, after: int) -> list[Payload]:
        """The messages since that id, oldest first, at most MOST and then the newest; empty where it may not be read.

        Tries until there is an answer: what is said there meanwhile waits behind it.
        """
        found: list[Payload] = []
        async with self._room:
            before: str | None = None
            while len(found) < MOST:
                page = [raw for raw in await self._page(place, before) if is_id(words(raw, "id"))]
                news = [raw for raw in page if int(text(raw, "id")) > after]
                found += news
                if len(news) < _PAGE:
                    return found[::-1]
                before = text(news[-1], "id")
        log.warning("discord.catch_up_cut", channel=place.channel, read=len(found), after=after, before=before)
        return found[::-1]

    async def _page(self, place: Place, before: str | None) -> list[Payload]:
        query = {"limit": str(_PAGE)} | ({} if before is None else {"before": before})
        backoff = Backoff()
        while True:
            try:
                answer = await self._rest.ask("GET", f"/channels/{place.channel}/messages", query=query)
                return list(rows({"all": answer}, "all"))
            except FAILURES as error:
                match of_asking(error):
                    case Refused() as never:
                        log.info("discord.history_refused", channel=place.channel, reason=str(never))
                        return []
                    case Retryable() as later:
                        log.info("discord.history_later", channel=place.channel, reason=str(later))
                        await self._clock.wait(backoff.next() if later.after is None else later.after)
