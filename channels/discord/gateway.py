"""The gateway connection, by discord.py, which carries it and has no say in what an event means (facts 2.5, 5.4).

The SDK's own parsers are not used: an event that one of them cannot read would end the client. Nor is its `connect`:
its first failure is an AttributeError, and it hides how the connection is. The SDK brings the socket, its compression,
IDENTIFY, RESUME and heartbeats. It takes no address; here each connection has its own, so that two bots do not mix.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import aiohttp
import structlog
from discord import Client, ConnectionClosed, Intents, MemberCacheFlags
from discord.gateway import DiscordClientWebSocketResponse, DiscordWebSocket, ReconnectWebSocket
from discord.http import HTTPClient
from discord.state import ConnectionState

from channels.discord.failures import of_closing
from channels.discord.fields import Payload
from channels.lanes import LanesFull
from gateway.channel import Health
from gateway.clock import Clock
from gateway.errors import Retryable

log = structlog.get_logger()

Take = Callable[[str, Payload], None]
"""Is given every event by its name, in order; it may raise LanesFull, and nothing else."""

EVENTS: Final = (
    *("READY", "RESUMED", "MESSAGE_CREATE", "INTERACTION_CREATE"),
    *("GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE"),
    *("GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE"),
)
"""All that is listened to; others are dropped by the SDK, edits and deletions among them."""

_HELLO: Final = 60.0  # seconds until a new connection must have said it
_HANGING_UP: Final = 2.0  # seconds for the other side to say goodbye
_PATIENCE: Final = 3  # so many connections in a row may fail before a session is given up
_OFTEN: Final = 10  # failures in a row; then IDENTIFY, of which there are 1000 a day, is spared
_SPARING: Final = 90.0
_ENDED: Final = 1000  # ends the session; every other code leaves it to be resumed
_DROPPED: Final = 4000


@dataclass(frozen=True, slots=True)
class Session:
    """What a RESUME needs."""

    id: str
    sequence: int
    url: str


class GatewayConnection:
    """One bot's connection. Its session outlives a round, so that the next one can go on where it stood."""

    def __init__(
        self, token: str, url: str, *, message_content: bool, take: Take, tell: Callable[[Health], None], clock: Clock
    ) -> None:
        self._token, self._url, self._take, self._tell, self._clock = token, url, take, tell, clock
        self._intents = Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=message_content)
        self._session: Session | None = None
        self._alive, self._failures = False, 0

    async def run(self) -> None:
        """One round: resumes or identifies, and goes on over reconnects that Discord asks for.

        Ends by raising Retryable, or Refused where a person must act first.
        """
        async with aiohttp.ClientSession(ws_response_class=DiscordClientWebSocketResponse) as http:
            while True:
                client = _Client(self._token, http, self._seen, self._intents)
                self._alive = False
                resuming = self._session is not None
                try:
                    is_over = await self._connection(client)
                finally:
                    self._failures = 0 if self._alive else self._failures + 1
                if not (self._alive or (is_over and resuming)):
                    spare = _SPARING if self._failures > _OFTEN else None
                    raise Retryable("Discord closed the connection before it was ready", after=spare)
                self._tell(Health("degraded", "connecting to Discord again"))
                if is_over:
                    await self._clock.wait(random.uniform(1, 5))  # noqa: S311  # no secret; Discord asks for it

    async def _connection(self, client: "_Client") -> bool:
        """From HELLO until the connection ends. True where the session ended with it: the next one identifies."""
        session = self._session if self._failures < _PATIENCE else None
        address = type(DiscordWebSocket.DEFAULT_GATEWAY)  # the SDK takes no other kind
        url = address(self._url if session is None else session.url)
        known = (None, None) if session is None else (session.id, session.sequence)
        code = _DROPPED
        try:
            async with asyncio.timeout(_HELLO):
                ws = await DiscordWebSocket.from_client(
                    client,
                    initial=True,
                    gateway=url,
                    session=known[0],
                    sequence=known[1],
                    resume=session is not None,
                )
            while True:
                await ws.poll_event()
        except ReconnectWebSocket as again:
            self._remember(client, session)
            return not again.resume
        except ConnectionClosed as closed:
            self._session = None
            raise of_closing(closed.code) from closed
        except (aiohttp.ClientError, OSError) as error:
            self._remember(client, session)
            raise Retryable(f"Discord's gateway cannot be reached ({type(error).__name__})") from error
        except LanesFull as full:  # the SDK's count is past what was not taken: only the history has it now
            self._session = None
            raise Retryable(str(full)) from full
        except (AttributeError, LookupError, TypeError, ValueError) as error:  # of the SDK, at a frame it cannot read
            self._session = None
            log.exception("discord.frame_unreadable")
            raise Retryable("Discord's gateway says what cannot be read; see the log") from error
        except asyncio.CancelledError:
            self._session, code = None, _ENDED
            raise
        finally:
            await _hang_up(client.made, code)

    def _seen(self, event: str, raw: Payload) -> None:
        self._alive = self._alive or event in ("READY", "RESUMED")
        self._take(event, raw)

    def _remember(self, client: "_Client", session: Session | None) -> None:
        """What to resume: as the connection left it, or as it was where there was none."""
        ws = client.made
        if ws is None:
            self._session = session
        elif ws.session_id is None or ws.sequence is None:
            self._session = None
        else:
            self._session = Session(ws.session_id, ws.sequence, str(ws.gateway))


class _Client(Client):
    """Carries one connection. `made`: its socket, from the moment it exists; only so can it always be closed."""

    def __init__(self, token: str, http: aiohttp.ClientSession, take: Take, intents: Intents) -> None:
        self._take = take
        self.made: DiscordWebSocket | None = None
        # At DEBUG the SDK writes whole frames: people's words, and the tokens of their commands. And it warns of voice.
        logging.getLogger("discord").setLevel(logging.WARNING)
        logging.getLogger("discord.client").setLevel(logging.ERROR)
        super().__init__(
            intents=intents,
            max_messages=None,
            member_cache_flags=MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
        )
        self.loop = asyncio.get_running_loop()
        self.http = _Http(self.loop, http)
        self.http.token = token

    def _get_state(self, **options: Any) -> ConnectionState[Any]:
        state = _State(dispatch=self.dispatch, handlers=self._handlers, hooks=self._hooks, http=self.http, **options)
        state.parsers = {event: partial(self._event, event) for event in EVENTS}
        state.client = self
        return state

    def _event(self, event: str, data: object) -> None:
        self._take(event, data if isinstance(data, dict) else {})

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """The SDK waits here; how often to identify is decided above."""


class _State(ConnectionState[Any]):
    client: _Client

    def _update_references(self, ws: DiscordWebSocket) -> None:
        self.client.made = ws


class _Http(HTTPClient):
    """The SDK opens its session while it logs in, at an address of its own."""

    def __init__(self, loop: asyncio.AbstractEventLoop, session: aiohttp.ClientSession) -> None:
        super().__init__(loop)
        self._opened = session

    async def ws_connect(self, url: str, *, compress: int = 0) -> aiohttp.ClientWebSocketResponse:
        return await self._opened.ws_connect(
            url,
            max_msg_size=0,
            timeout=aiohttp.ClientWSTimeout(ws_close=_HANGING_UP),
            autoclose=False,
            headers={"User-Agent": self.user_agent},
            compress=compress,
        )


async def _hang_up(ws: DiscordWebSocket | None, code: int) -> None:
    """Ends the heartbeats, which are a thread, and the socket."""
    if ws is not None:
        with suppress(aiohttp.ClientError, OSError, RuntimeError):
            async with asyncio.timeout(_HANGING_UP):
                await ws.close(code=code)
