"""What was said while nobody listened: read back from where each place was taken in (F20)."""

import asyncio
from datetime import timedelta
from typing import Final

import structlog

from channels.backoff import Backoff
from channels.slack.api import Answer, Api
from gateway.clock import Clock
from gateway.errors import Broken, Refused, Retryable
from gateway.tape.last_seen import LastSeen

log = structlog.get_logger()

MOST: Final = 1000
"""Messages that are read back of one channel or thread; of a channel the newest, of a thread the first."""

THREADS: Final = 100
"""Threads of a channel that are read back: those in which something was said last."""

KEPT: Final = timedelta(days=7)
"""A thread that was quiet for so long is not looked at any more."""

_PLACES: Final = 5000
_TRIES: Final = 3
_AT_ONCE: Final = 2
_TYPES: Final = "public_channel,private_channel,mpim,im"


class Marks:
    """Up to where each place was taken in: a place is `<channel>`, or `<channel>/<root>` for a thread of the bot's."""

    def __init__(self, last_seen: LastSeen, account: str) -> None:
        self._last_seen, self._account = last_seen, account
        self._seen: dict[str, str] = {}
        self.newest = ""

    async def load(self) -> None:
        """What is on the tape. `newest` is the last time that anything was taken in; empty at the first start."""
        try:
            self._seen |= await self._last_seen.load(self._account)
        except Broken:  # better to listen from now on than never
            log.exception("slack.marks_not_read")
        self.newest = max(self._seen.values(), key=moment, default="")

    def of(self, place: str) -> str | None:
        """The ts up to which this place was taken in."""
        return self._seen.get(place)

    def places(self) -> list[str]:
        """All that are known."""
        return list(self._seen)

    async def saw(self, place: str, ts: str) -> None:
        """Everything there up to this is durable, or was nothing to the bot. What comes late takes nothing back."""
        if moment(ts) > moment(self._seen.get(place, "")):
            self._seen[place] = ts
            await self._last_seen.saw(place, ts)

    async def write(self) -> None:
        """At an orderly end."""
        await self._last_seen.write()


def moment(ts: str) -> tuple[int, ...]:
    """A ts in an order."""
    return tuple(int(part) for part in ts.split(".") if part.isdecimal())


class CatchUp:
    """Reads history. It waits as long as Slack asks it to, and what it may not read it leaves out and says so."""

    def __init__(self, api: Api, marks: Marks, clock: Clock) -> None:
        self._api, self._marks, self._clock = api, marks, clock
        self._at_once = asyncio.Semaphore(_AT_ONCE)

    async def channels(self) -> list[str]:
        """Those to read: known ones, and all that the bot is in. None at the first start: nothing was missed."""
        await self._marks.load()
        if not self._marks.newest:
            return []
        known = dict.fromkeys(place.partition("/")[0] for place in self._marks.places())
        return list(known | dict.fromkeys(await self._joined()))

    async def read(self, channel: str) -> list[dict[str, object]]:
        """What was said there since, oldest first, as events that Slack would have sent."""
        async with self._at_once:
            since = self._marks.of(channel) or self._marks.newest
            said = await self._all("conversations.history", channel, since)
            threads = {str(one["ts"]): since for one in said if one.get("reply_count")} | self._threads(channel)
            newest = sorted(threads, key=lambda root: moment(threads[root]))[-THREADS:]
            for root in newest:
                said += await self._all("conversations.replies", channel, threads[root], ts=root)
        by_ts = {str(one["ts"]): one for one in said}
        return [{**by_ts[ts], "channel": channel} for ts in sorted(by_ts, key=moment)]

    def _threads(self, channel: str) -> dict[str, str]:
        """The bot's threads of a channel in which something was said lately, and up to where each was taken in."""
        oldest = (self._clock.now() - KEPT).timestamp()
        found = {}
        for place in self._marks.places():
            where, _, root = place.partition("/")
            if where == channel and root and (mark := self._marks.of(place)) and float(mark) > oldest:
                found[root] = mark
        return found

    async def _joined(self) -> list[str]:
        backoff = Backoff()
        for _ in range(_TRIES):
            try:
                rooms, _ = await self._api.pages(
                    "users.conversations", "channels", _PLACES, types=_TYPES, exclude_archived=True
                )
                return [str(room["id"]) for room in rooms if room.get("id")]
            except Retryable as later:
                reason = str(later)
                await self._clock.wait(backoff.next() if later.after is None else later.after)
            except Refused as never:
                reason = str(never)
                break
        log.warning("slack.channels_not_listed", reason=reason)
        return []

    async def _all(self, method: str, channel: str, since: str, **more: str) -> list[Answer]:
        backoff = Backoff()
        while True:
            try:
                said, whole = await self._api.pages(method, "messages", MOST, channel=channel, oldest=since, **more)
            except Retryable as later:
                await self._clock.wait(backoff.next() if later.after is None else later.after)
            except Refused as never:
                log.warning("slack.history_not_read", channel=channel, reason=str(never))
                return []
            else:
                break
        if not whole:
            log.warning("slack.catch_up_cut", channel=channel, read=MOST)
        return [one for one in said if isinstance(one.get("ts"), str) and moment(str(one["ts"])) > moment(since)]
