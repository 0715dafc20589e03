"""A Slack channel against the fake Slack, somebody who listens, and one account lease for all of them."""

import asyncio
import copy
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import web

from channels.slack import build
from channels.slack.adapter import SlackChannel
from gateway.channel import Health, Receive
from gateway.message import IncomingMessage, Reply, Route, SessionKey, TurnId
from gateway.tape.last_seen import LastSeen
from gateway.tape.store_memory import MemoryTapeStore
from tests.platforms.server import Bell, LocalServer
from tests.platforms.slack import FakeSlack
from tests.support.clock import InstantClock

T = TypeVar("T")

ACCOUNT = "T1:UBOT"
USAGES = ("help", "status", "whoami", "pair [code]", "search <words>", "reset [discard]", "stop")
COMMANDS = [(usage, "what it does") for usage in USAGES]


class WatchfulClock(InstantClock):
    """Nobody waits; `waits` has what the channel said of itself at each wait, and `until` waits for that.

    Its wall clock is the machine's, as the fake's is.
    """

    def __init__(self) -> None:
        super().__init__()
        self.channel: SlackChannel | None = None
        self.waits: list[tuple[float, Health]] = []
        self.bell = Bell()

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def wait(self, seconds: float) -> None:
        if self.channel is not None:
            self.waits.append((seconds, self.channel.health))
            self.bell.ring()
        await super().wait(seconds)

    async def until(self, seen: Callable[[list[tuple[float, Health]]], T]) -> T:
        return await self.bell.until(lambda: seen(self.waits), 20)

    async def trouble(self, state: str) -> str:
        """What the channel said in its first wait in this state."""
        return (await self.until(lambda waits: [h.detail for _, h in waits if h.state == state]))[0]


class Ear:
    """A `receive` that keeps what it is given, once a message; `fails` are raised first, one a call."""

    def __init__(self) -> None:
        self.heard: list[IncomingMessage] = []
        self.again: list[IncomingMessage] = []
        self.fails: list[Exception] = []
        self.called = 0
        self.opened = asyncio.Event()
        self.opened.set()
        self.bell = Bell()

    async def __call__(self, message: IncomingMessage) -> None:
        self.called += 1
        self.bell.ring()
        await self.opened.wait()
        if self.fails:
            raise self.fails.pop(0)
        known = message.id in {one.id for one in self.heard}
        (self.again if known else self.heard).append(message)
        self.bell.ring()

    async def texts(self, count: int) -> list[str]:
        await self.bell.until(lambda: len(self.heard) >= count, 20)
        return [message.text for message in self.heard]

    async def message(self) -> IncomingMessage:
        await self.texts(1)
        [message] = self.heard
        return message

    async def calls(self, count: int) -> None:
        await self.bell.until(lambda: self.called >= count, 20)


class Accounts:
    """One lease an account; whoever waits for it is counted."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self.waiting = 0
        self.bell = Bell()

    @asynccontextmanager
    async def hold(self, account: str) -> AsyncIterator[None]:
        lock = self._locks.setdefault(account, asyncio.Lock())
        self.waiting += 1
        self.bell.ring()
        async with lock:
            self.waiting -= 1
            yield


class Gateway(LocalServer):
    """The web server that a channel's routes are mounted on."""

    def __init__(self, channel: SlackChannel) -> None:
        super().__init__()
        self._channel = channel

    def routes(self) -> list[web.RouteDef]:
        return self._channel.routes()


class Rig:
    """Makes channels of the fake's app; what they saw is on one tape, as that of one gateway."""

    def __init__(self, slack: FakeSlack, folder: Path) -> None:
        self.slack, self.poison, self.accounts = slack, folder / "poison", Accounts()
        self.store = MemoryTapeStore()

    def channel(self, **changes: Any) -> SlackChannel:
        clock = changes.pop("clock", None) or WatchfulClock()
        settings: dict[str, Any] = {
            "bot_token": self.slack.bot_token,
            "app_token": self.slack.app_token,
            "holder": self.accounts.hold,
            "poison_folder": self.poison,
            "last_seen": LastSeen(self.store, "ws", clock, "slack"),
            "api_base": self.slack.url,
            "commands": COMMANDS,
        }
        channel = build(**settings | {"clock": clock} | changes)
        if isinstance(clock, WatchfulClock):
            clock.channel = channel
        return channel

    @asynccontextmanager
    async def running(self, receive: Receive | None, **changes: Any) -> AsyncIterator[SlackChannel]:
        channel = self.channel(**changes)
        async with live(channel, receive):
            yield channel

    @asynccontextmanager
    async def connected(self, receive: Receive, **changes: Any) -> AsyncIterator[SlackChannel]:
        async with self.running(receive, **changes) as channel:
            await self.slack.wait_connected()
            await soon(lambda: channel.health.state == "connected")
            yield channel

    @asynccontextmanager
    async def hooked(self, receive: Receive, **changes: Any) -> AsyncIterator[SlackChannel]:
        """As `connected`, over HTTP."""
        clock = WatchfulClock()
        secret = self.slack.signing_secret
        channel = self.channel(**{"app_token": None, "signing_secret": secret, "clock": clock} | changes)
        async with Gateway(channel) as gateway, live(channel, receive):
            self.slack.deliver_to(f"{gateway.origin}/slack/events")
            await soon(lambda: channel.health.state == "connected")
            yield channel


def give_up(slack: FakeSlack) -> None:
    """Slack's retries are over for all that is on its way: history alone has it."""
    for delivery in slack.unacked:
        delivery.gone = True


async def soon(seen: Callable[[], object]) -> None:
    """Waits for what no bell tells of."""
    async with asyncio.timeout(20):
        while not seen():
            await asyncio.sleep(0.001)


@asynccontextmanager
async def live(channel: SlackChannel, receive: Receive | None) -> AsyncIterator[None]:
    task = asyncio.create_task(channel.run(receive))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def reply_to(conversation: str, text: str = "", *, thread: str | None = None, answers: str | None = None) -> Reply:
    key = SessionKey("slack", ACCOUNT, conversation, thread)
    route = Route("slack", ACCOUNT, conversation, thread)
    return Reply(TurnId(f"slack/{ACCOUNT}/{conversation}:{answers or 1}"), key, route, text, answers)


def shaped(sample: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A sample with some fields changed; None takes a field away."""
    changed = copy.deepcopy(sample) | changes
    return {name: value for name, value in changed.items() if value is not None}
