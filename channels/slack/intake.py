"""Receives: from what Slack delivers to `receive`, in the order of each channel, and back to Slack's ack (F12)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import structlog

from channels.backoff import Backoff
from channels.handover import Handover, Unreadable
from channels.lanes import Lanes, LanesFull
from channels.overheard import Aside, Overheard
from channels.slack.catch_up import CatchUp, Marks
from channels.slack.parse import Known, Me, Place, is_from, is_message, parse, place, strangers
from channels.slack.people import People
from channels.slack.slash import slash
from channels.slack.threads import Threads
from gateway.channel import Receive
from gateway.clock import Clock
from gateway.errors import GatewayError, Retryable
from gateway.message import IncomingMessage

log = structlog.get_logger()

ACK_WITHIN: Final = 2.5
"""Seconds: Slack waits three. What is not durable by then is not acknowledged, and Slack delivers it again; the lane
goes on trying meanwhile, and the second copy is known then."""


class NotTaken(Exception):
    """Slack must not be told that this was received."""


Accept = Callable[[Mapping[str, object]], Awaitable[str]]
"""As Intake.accept."""


def answer(told: str) -> dict[str, object]:
    """What Slack is given for the person who gave a command; nobody else sees it."""
    return {"response_type": "ephemeral", "text": told}


@dataclass(frozen=True, slots=True)
class _Event:
    raw: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Command:
    raw: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Missed:
    channel: str


class Intake:
    """One lane a channel: each takes in what was missed there, then what comes."""

    def __init__(
        self,
        me: Me,
        commands: Iterable[str],
        receive: Receive,
        *,
        people: People,
        threads: Threads,
        marks: Marks,
        catch_up: CatchUp,
        handover: Handover,
        overheard: Overheard,
        clock: Clock,
    ) -> None:
        self._me, self._commands, self._receive, self._clock = me, frozenset(commands), receive, clock
        self._people, self._threads, self._marks, self._catch_up = people, threads, marks, catch_up
        self._handover, self._overheard = handover, overheard
        self._lanes: Lanes[_Event | _Command | _Missed] = Lanes(self._handle)

    async def behind(self) -> list[str]:
        """The channels in which something may have been missed: for `missed`, once there is a connection."""
        return await self._catch_up.channels()

    def missed(self, channels: Sequence[str]) -> None:
        """What was said there since is read before anything that comes after this call is handled."""
        for known in self._marks.places():
            channel, _, root = known.partition("/")
            if root:
                self._threads.learn(channel, root)
        for channel in channels:
            try:
                self._lanes.put(channel, _Missed(channel))
            except LanesFull as full:
                log.warning("slack.catch_up_left_out", channel=channel, reason=str(full))

    async def accept(self, body: Mapping[str, object]) -> str:
        """Returns when Slack may be told, with what the person is told at once. Raises NotTaken otherwise.

        The first thing is to put it into its lane: nothing is awaited before.
        """
        item: _Event | _Command
        match body:
            case {"type": "event_callback", "event": dict(event)} if is_message(event):
                lane, item = str(event.get("channel")), _Event(event)
            case {"command": str()}:
                if (told := self._answered(body)) is not None:
                    return told
                lane, item = str(body.get("channel_id")), _Command(body)
            case _:
                if body.get("type") == "app_rate_limited":
                    log.warning("slack.events_dropped", reason="more than Slack delivers to one app in an hour")
                return ""
        try:
            async with asyncio.timeout(ACK_WITHIN):
                await self._lanes.put(lane, item)
        except (TimeoutError, LanesFull, GatewayError) as error:
            raise NotTaken from error
        return ""

    async def close(self) -> None:
        """Takes in nothing more."""
        await self._lanes.close()

    async def _handle(self, item: _Event | _Command | _Missed) -> None:
        match item:
            case _Event(event):
                await self._take(event)
            case _Command(raw):
                await self._handover.give(
                    self._receive, lambda: self._ordered(raw), raw, str(raw.get("trigger_id", ""))
                )
            case _Missed(channel):
                said = await self._catch_up.read(channel)
                log.info("slack.caught_up", channel=channel, messages=len(said))
                for event in said:
                    await self._take(event)

    def _ordered(self, raw: Mapping[str, object]) -> IncomingMessage | None:
        order = slash(raw, self._me, Known({}, self._commands), self._clock.now())
        return order if isinstance(order, IncomingMessage) else None

    def _answered(self, raw: Mapping[str, object]) -> str | None:
        """What is said at once to a slash command that goes nowhere."""
        with suppress(Unreadable):
            order = slash(raw, self._me, Known({}, self._commands), self._clock.now())
            return order if isinstance(order, str) else None
        return None

    async def _take(self, event: Mapping[str, object]) -> None:
        try:
            where = place(event)
        except Unreadable:
            where = None
        ours = where is not None and await self._is_ours(event, where)
        names = {} if where is None or event.get("bot_id") else await self._people.names(strangers(event))
        reading = _Once(event, self._me, Known(names, self._commands, ours), self._clock, self._overheard)
        name = "" if where is None else f"{where.channel}-{where.ts}"
        await self._handover.give(self._receive, reading, event, name)
        if where is not None:
            await self._note(where, reading.message, ours=ours)

    async def _is_ours(self, event: Mapping[str, object], where: Place) -> bool:
        if event.get("bot_id") and not is_from(event, self._me):
            return False
        backoff = Backoff()
        while True:
            try:
                return await self._threads.ours(event, where)
            except Retryable as later:
                await self._clock.wait(backoff.next() if later.after is None else later.after)

    async def _note(self, where: Place, message: IncomingMessage | None, *, ours: bool) -> None:
        """Of threads those alone that are read back: the bot's, and those of a DM."""
        if where.root is None:
            await self._marks.saw(where.channel, where.ts)
        elif ours or where.private:
            await self._marks.saw(f"{where.channel}/{where.root}", where.ts)
        if message is not None and not where.private:
            root = where.root or where.ts
            self._threads.learn(where.channel, root)
            await self._marks.saw(f"{where.channel}/{root}", where.ts)


class _Once:
    """Reads an event the first time it is called, and then says the same: what was overheard is given once."""

    def __init__(self, event: Mapping[str, object], me: Me, known: Known, clock: Clock, overheard: Overheard) -> None:
        self._event, self._me, self._known, self._clock, self._overheard = event, me, known, clock, overheard
        self._is_read = False
        self.message: IncomingMessage | None = None

    def __call__(self) -> IncomingMessage | None:
        if self._is_read:
            return self.message
        match parse(self._event, self._me, self._known, self._clock.now()):
            case Aside() as aside:
                self._overheard.hears(aside)
            case IncomingMessage() as message:
                here = (
                    message.route if message.route.thread != message.reply_to else replace(message.route, thread=None)
                )
                self.message = replace(message, quotes=self._overheard.quotes(here))
        self._is_read = True
        return self.message
