"""A fake Discord, REST API v10 and gateway, that the real SDK talks to over sockets.

It keeps what Discord keeps and refuses what Discord refuses, with Discord's codes. What it does not do: rate limits of
its own (inject `RetryAfter`; the headers promise plenty), compression of the gateway (text frames are understood),
reactions, voice, threads that a bot opens, commands of one guild, and the limit of 120 frames a minute.
"""

import time
from collections.abc import Callable, Iterable
from typing import TypeVar, overload

from aiohttp import web

from tests.platforms.discord_calls import RestCall, picked, split
from tests.platforms.discord_chat import Channel, Person, Said
from tests.platforms.discord_gateway import ALIASES, Closed, Cut, Gateway, Identify, Resume
from tests.platforms.discord_guild import Guild, Role
from tests.platforms.discord_interactions import Interaction
from tests.platforms.discord_rest import PREFIX, Rest
from tests.platforms.discord_world import BotAccount, Ping, Sent, Typing, World
from tests.platforms.faults import (
    DropReply,
    Fault,
    Injection,
    Refuse,
    Rejects,
    RetryAfter,
    ServerError,
    Slow,
)
from tests.platforms.server import LocalServer

__all__ = [
    "BotAccount",
    "Channel",
    "Closed",
    "Cut",
    "DropReply",
    "FakeDiscord",
    "Guild",
    "Identify",
    "Interaction",
    "Person",
    "Ping",
    "Refuse",
    "Rejects",
    "RestCall",
    "Resume",
    "RetryAfter",
    "Role",
    "Said",
    "Sent",
    "ServerError",
    "Slow",
    "Typing",
]

T = TypeVar("T")


class FakeDiscord(LocalServer):
    """One Discord with one bot (or more: `add_bot`), its people, guilds and DMs. All ids are strings.

    `sent`, `pings`, `typing`, `calls`, `identifies`, `resumes` and `closes` are logs in order of arrival; `wait_sent`,
    `wait_calls`, `wait_session` and `wait` wait on them without polling. All of it belongs to the event loop the server
    runs in; the bot may be another process.
    """

    def __init__(
        self,
        token: str = "discord-token",
        *,
        username: str = "gateway_bot",
        port: int = 0,
        message_content: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(port)
        self.token = token
        self.world = World(self.bell, clock)
        self.gateway = Gateway(self.world)
        self._rest = Rest(self.world, self)
        self.owner = self.person(900, "Owner")
        self.bot = self.add_bot(token, username, id=1, message_content=message_content)

    @property
    def url(self) -> str:
        """The base of the REST API: what `Route.BASE` is to be."""
        return f"{self.origin}{PREFIX}"

    @property
    def gateway_url(self) -> str:
        """What `DiscordWebSocket.DEFAULT_GATEWAY` is to be."""
        return f"ws://127.0.0.1:{self.port}/gateway/"

    def add_bot(
        self,
        token: str,
        username: str,
        *,
        id: int | str | None = None,  # noqa: A002
        message_content: bool = True,
        owner: Person | None = None,
    ) -> BotAccount:
        """One more bot; it is in every guild made afterwards. `owner` owns its application."""
        world = self.world
        key = str(id or world.snowflake())
        bot = BotAccount(token, key, username, message_content, owner or self.owner, world.snowflake())
        world.bots[token] = bot
        return bot

    def person(self, id: int | str, name: str, *, is_bot: bool = False) -> Person:  # noqa: A002
        """A user; `is_bot` is a bot of somebody else."""
        return self.world.people.setdefault(str(id), Person(str(id), name, is_bot))

    def private(self, person: Person, bot: BotAccount | None = None) -> Channel:
        """The DM of a person with the bot."""
        return self.world.dm(person, bot or self.bot)

    def guild(
        self,
        id: int | str,  # noqa: A002
        name: str,
        members: Iterable[Person] = (),
        owner: Person | None = None,
    ) -> Guild:
        """A guild without channels; it belongs to `owner`, else to the owner of the bot."""
        return self.world.add_guild(str(id), name, owner or self.owner, members)

    def inject(
        self, route: str, fault: Fault, *, times: int | None = 1, when: Callable[[RestCall], bool] | None = None
    ) -> Injection:
        """Let the next `times` calls of a route (that `when` picks) fail; None: until `cancel()`.

        A route is `POST /channels/{id}/messages`, or a path as it is, with or without the verb. `RetryAfter`'s seconds
        may be a fraction; of `Rejects`' parameters `code` and `errors` go into the answer.
        """
        return self._rest.faults.add(split(route)[0], fault, times, picked(route, when))

    def disconnect(self, code: int | None = 4000) -> None:
        """Close every gateway connection, after all that was told so far; None cuts the TCP at once."""
        for socket in list(self.gateway.sockets):
            self.gateway.drop(socket, code)

    def disconnect_at(self, frame: str, nth: int = 1, *, code: int | None = None, after: bool = False) -> Cut:
        """Cut the connection at the n-th frame of this name from now: hello, identify, resume, ready, resumed,
        guild_create, message, interaction, heartbeat, heartbeat_ack, or any event in small letters.

        It neither arrives nor has an effect, or, `after`, it does. None cuts the TCP; with a code the socket is closed.
        """
        self.gateway.cuts.append(Cut(ALIASES.get(frame, frame), nth, code, after))
        return self.gateway.cuts[-1]

    def reconnect(self) -> None:
        """Ask every client to connect again: op 7."""
        for socket in self.gateway.sockets:
            socket.push({"op": 7, "d": None})

    def invalidate(self, resumable: bool = False) -> None:
        """Tell every client that its session is invalid: op 9."""
        for socket in self.gateway.sockets:
            if socket.session and not resumable:
                socket.session.ended = True
            socket.push({"op": 9, "d": resumable})

    def mute(self) -> None:
        """Make the connections there are zombies: they stay open, but nothing comes and nothing is heard."""
        for socket in self.gateway.sockets:
            socket.muted = True

    async def up(self) -> None:
        await super().up()
        self.world.origin = self.origin

    async def down(self) -> None:
        """An outage of all; sessions wait for a RESUME."""
        self.disconnect(None)
        await super().down()

    @property
    def calls(self) -> list[RestCall]:
        """Every request to the REST API, refused ones too."""
        return self._rest.calls

    @property
    def sent(self) -> list[Sent]:
        """Every message of a bot, in order, deleted ones too."""
        return self.world.sent

    @property
    def pings(self) -> list[Ping]:
        """Everybody whom a bot's messages called."""
        return self.world.pings

    @property
    def typing(self) -> list[Typing]:
        return self.world.typing

    @property
    def interactions(self) -> list[Interaction]:
        return list(self.world.interactions.values())

    @property
    def identifies(self) -> list[Identify]:
        return self.gateway.identifies

    @property
    def resumes(self) -> list[Resume]:
        return self.gateway.resumes

    @property
    def closes(self) -> list[Closed]:
        return self.gateway.closes

    @property
    def commands_put(self) -> int:
        """How often the application commands were replaced."""
        return len(self.calls_of("PUT /applications/{app}/commands"))

    def calls_of(self, route: str) -> list[RestCall]:
        return [call for call in self.calls if call.meets(route)]

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

    async def wait_calls(self, route: str, count: int = 1, timeout: float = 30) -> list[RestCall]:
        """The calls of a route once there were that many."""
        return await self.wait(lambda: calls if len(calls := self.calls_of(route)) >= count else [], timeout)

    async def wait_session(self, count: int = 1, timeout: float = 30) -> None:
        """Until the `count`-th session since the start has begun: what is said from now on reaches the bot."""
        await self.wait(lambda: len(self.world.sessions) >= count, timeout)

    async def wait(self, seen: Callable[[], T], timeout: float = 30) -> T:
        """What `seen` answers once that is true; looked at after every change of the fake."""
        return await self.bell.until(seen, timeout)

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/gateway/", self.gateway.serve),
            web.get("/attachments/{channel}/{key}/{name}", self._rest.download),
            web.route("*", PREFIX + "/{tail:.*}", self._rest.serve),
        ]
