"""A fake Slack that the real slack_sdk and Bolt talk to: Web API, Socket Mode and the Events API over HTTP.

It keeps what Slack keeps and refuses what Slack refuses, with Slack's words. What it does not do: rate limits of its
own (inject `RetryAfter`), pings from its side, streaming messages, views, and what `in_channel` responses look like.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import TypeVar, overload

from aiohttp import web

from tests.platforms.faults import (
    Call,
    DropReply,
    Fault,
    File,
    Injection,
    Refuse,
    Rejects,
    RetryAfter,
    ServerError,
    Slow,
)
from tests.platforms.server import LocalServer
from tests.platforms.slack_api import Api, Tokens
from tests.platforms.slack_channel import Channel, Json
from tests.platforms.slack_delivery import Ack, Deliveries, Delivery, Envelope
from tests.platforms.slack_http import Hook, Post, Signature
from tests.platforms.slack_methods import Methods
from tests.platforms.slack_people import BOT_ID, BOT_USER, Person
from tests.platforms.slack_said import Command, Said
from tests.platforms.slack_socket import Connection, Moment, Reason, Sockets
from tests.platforms.slack_world import Ping, Sent, Status, World

__all__ = [
    "Ack",
    "Call",
    "Channel",
    "Command",
    "Connection",
    "Delivery",
    "DropReply",
    "Envelope",
    "FakeSlack",
    "File",
    "Person",
    "Ping",
    "Post",
    "Refuse",
    "Rejects",
    "RetryAfter",
    "Said",
    "Sent",
    "ServerError",
    "Slow",
    "Status",
]

T = TypeVar("T")


class FakeSlack(LocalServer):
    """One workspace with one app, its people and its conversations.

    `sent`, `calls`, `statuses`, `pings`, `acks`, `envelopes`, `connections`, `posts` are logs in order of arrival;
    `wait_sent`, `wait_calls`, `wait_acked` and `wait` wait on them without polling. All of it belongs to the event
    loop the server runs in; the bot may be another process. Every retry comes by `expire_acks`, or `ack_within`
    seconds after the try before it, which tests shorten.
    """

    def __init__(
        self,
        bot_token: str = "xoxb-test",
        app_token: str = "xapp-test",
        signing_secret: str = "signing-secret",
        *,
        team: str = "T1",
        port: int = 0,
        clock: Callable[[], float] = time.time,
        ack_within: float = 3600,
    ) -> None:
        super().__init__(port)
        self.bot_token = bot_token
        self.app_token = app_token
        self.signing_secret = signing_secret
        self.team = team
        self.bot_user = BOT_USER
        self.bot_id = BOT_ID
        self.hook: Hook | None = None
        self.sockets = Sockets(self.bell, clock)
        self.deliveries = Deliveries(self.bell, clock, lambda: self.origin, ack_within, self.sockets)
        self.sockets.opened = self.deliveries.opened
        self.sockets.answered = self.deliveries.acknowledge
        self.world = World(self.bell, clock, team, lambda: self.origin, self.deliveries)
        self.methods = Methods(self.world)
        self._api = Api(self, self.world, self.methods, self.sockets, Tokens(bot_token, app_token))

    @property
    def url(self) -> str:
        """The `base_url` for `AsyncWebClient`."""
        return f"{self.origin}/api/"

    def person(
        self,
        id: str,  # noqa: A002
        name: str,
        *,
        is_bot: bool = False,
        is_admin: bool = False,
        is_owner: bool = False,
    ) -> Person:
        return self.world.people.setdefault(id, Person(id, name, is_bot, is_admin, is_owner))

    def private(self, person: Person) -> Channel:
        """The direct messages of a person and the bot: D..."""
        return self.world.im(person)

    def channel(
        self,
        id: str,  # noqa: A002
        name: str,
        members: Iterable[Person] = (),
        *,
        bot_is_member: bool = True,
    ) -> Channel:
        """A public channel: C..."""
        return self.world.room(id, "channel", name, members, bot_is_member=bot_is_member)

    def group(
        self,
        id: str,  # noqa: A002
        name: str,
        members: Iterable[Person] = (),
        *,
        bot_is_member: bool = True,
    ) -> Channel:
        """A private channel: G..., or C... since 2021."""
        return self.world.room(id, "group", name, members, bot_is_member=bot_is_member)

    def mpim(self, id: str, members: Iterable[Person]) -> Channel:  # noqa: A002
        """Direct messages of several people and the bot."""
        return self.world.room(id, "mpim", "mpdm", members)

    def push_raw(self, event: Json) -> Delivery:
        """Deliver any event, also one that nobody can read."""
        return self.world.tell(event)

    def push_frame(self, text: str) -> None:
        """Send any text through every open socket."""
        for connection in self.sockets.open:
            connection.push("raw", text)

    def redeliver(self, what: Said | Delivery, retry: int = 0) -> None:
        """Deliver the n-th retry of these events, whatever came of them; 0 is the first envelope once more."""
        for delivery in what.deliveries if isinstance(what, Said) else [what]:
            self.deliveries.redeliver(delivery, retry)

    def expire_acks(self) -> list[Delivery]:
        """Let the time to acknowledge pass for all that is not: retries, and the end after the third."""
        return self.deliveries.expire()

    def deliver_to(self, url: str, signature: Signature = "good") -> Hook:
        """From now events and commands are posted there; its `signature` can be changed, `verify()` asks for the
        challenge, `posts` has the answers."""
        answered, patience = self.deliveries.acknowledge, lambda: self.deliveries.ack_within
        self.hook = Hook(url, self.signing_secret, self.bell, self.world.clock, answered, patience, signature)
        self.deliveries.carrier = self.hook
        return self.hook

    def inject(
        self, method: str, fault: Fault, times: int | None = 1, when: Callable[[Call], bool] | None = None
    ) -> Injection:
        """Let the next `times` calls of a method (that `when` picks) fail; None: until `cancel()`."""
        return self._api.faults.add(method, fault, times, when)

    def disconnect(self, reason: Reason = "refresh_requested", connection: Connection | None = None) -> None:
        """Send a disconnect frame to one open socket, or to all."""
        self.sockets.disconnect(reason, connection)

    def cut(self, at: Moment | None = None, *, connection: Connection | None = None) -> None:
        """Break the open sockets (or one) now; or the next one that comes to that moment."""
        if at is None:
            self.sockets.cut(connection)
        else:
            self.sockets.cuts.append(at)

    def mute(self, connection: Connection | None = None) -> None:
        """Nothing passes through the open sockets (or one) any more, and nobody is told: TCP stays open."""
        self.sockets.mute(connection)

    @property
    def calls(self) -> list[Call]:
        """Every request to the Web API; its `form` has lists and objects as JSON."""
        return self._api.calls

    @property
    def sent(self) -> list[Sent]:
        """Every message of the bot that the platform stored, in order, deleted ones too."""
        return self.world.sent

    @property
    def statuses(self) -> list[Status]:
        return self.world.statuses

    @property
    def pings(self) -> list[Ping]:
        """Everybody whom a message of the bot notified."""
        return self.world.pings

    @property
    def acks(self) -> list[Ack]:
        return self.deliveries.acks

    @property
    def unacked(self) -> list[Delivery]:
        """What is on its way to the bot: neither acknowledged nor given up."""
        return self.deliveries.unacked

    @property
    def envelopes(self) -> list[Envelope]:
        """Every try that found a way to the bot."""
        return self.deliveries.envelopes

    @property
    def connections(self) -> list[Connection]:
        """Every socket there ever was; `open` and `ready` tell its state."""
        return self.sockets.connections

    @property
    def posts(self) -> list[Post]:
        """What was posted to the bot's address, and its answers."""
        return self.hook.posts if self.hook else []

    @overload
    async def wait_sent(self, what: int, timeout: float = 30) -> list[Sent]: ...
    @overload
    async def wait_sent(self, what: Callable[[Sent], bool], timeout: float = 30) -> Sent: ...
    async def wait_sent(self, what: int | Callable[[Sent], bool], timeout: float = 30) -> list[Sent] | Sent:
        """All messages once there are that many, or the first one the predicate picks (edits count)."""
        if isinstance(what, int):
            await self.wait(lambda: len(self.sent) >= what, timeout)
            return list(self.sent)
        return (await self.wait(lambda: [sent for sent in self.sent if what(sent)], timeout))[0]

    async def wait_calls(self, method: str, count: int = 1, timeout: float = 30) -> list[Call]:
        """The calls of a method once there were that many."""
        return await self.wait(lambda: calls if len(calls := self.calls_of(method)) >= count else [], timeout)

    async def wait_acked(self, timeout: float = 30) -> list[Ack]:
        """The acks once nothing is on its way any more."""
        await self.wait(lambda: not self.unacked, timeout)
        return list(self.acks)

    async def wait_connected(self, count: int = 1, timeout: float = 30) -> list[Connection]:
        """The sockets that get events, once there are that many."""
        return await self.wait(lambda: ready if len(ready := self.sockets.ready) >= count else [], timeout)

    async def wait(self, seen: Callable[[], T], timeout: float = 30) -> T:
        """What `seen` answers once that is true; looked at after every change of the fake."""
        return await self.bell.until(seen, timeout)

    def calls_of(self, method: str) -> list[Call]:
        return [call for call in self.calls if call.method == method]

    def routes(self) -> list[web.RouteDef]:
        return [
            web.route("*", "/api/{method}", self._api.serve),
            web.get("/link", self.sockets.serve),
            web.post("/commands/{number:[0-9]+}", self._api.respond),
            web.get("/files/{file_id}/{name}", self._api.download),
        ]

    async def up(self) -> None:
        self.deliveries.loop = asyncio.get_running_loop()
        await super().up()

    async def down(self) -> None:
        """An outage: sockets break, nothing is tried again meanwhile."""
        self.deliveries.loop = None
        self.deliveries.stop_timers()
        self.cut()
        if self.hook is not None:
            await self.hook.stop()
        await super().down()
