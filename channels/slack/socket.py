"""Socket Mode: one socket at a time, greeted and alive, replaced before Slack closes it (facts 3.1, 5.4)."""

import asyncio
import json
from collections.abc import Callable
from typing import Final

import structlog
from aiohttp import ClientError, ClientWSTimeout, WSMsgType
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.api import Api, quiet
from channels.slack.intake import Accept, NotTaken, answer
from gateway.channel import Health
from gateway.clock import Clock
from gateway.errors import Refused, Retryable

log = structlog.get_logger()

OPENING: Final = 10.0
"""Seconds until a new socket must have been greeted."""

_LEAVES: Final = frozenset({"warning", "refresh_requested"})
_CLOSING: Final = 2.0  # seconds that the other side has for its goodbye
_PAUSE: Final = 1.0  # seconds before a socket is replaced: Slack might ask for it again and again


class Socket:
    """The sockets of one app. `tell` hears what is true of the connection."""

    def __init__(
        self, api: Api, accept: Accept, app_token: str, *, ping: float, clock: Clock, tell: Callable[[Health], None]
    ) -> None:
        self._api, self._accept, self._token, self._ping = api, accept, app_token, ping
        self._clock, self._tell = clock, tell
        self._open = 0

    async def run(self, greeted: Callable[[], None]) -> None:
        """Receives until the socket ends, which is Retryable, or Slack refuses one. `greeted` is called for each
        socket before anything that comes through it is handled.
        """
        link = await self._connect(greeted)
        try:
            while (reason := await link.over) in _LEAVES:
                log.info("slack.socket_replaced", reason=reason)
                await self._clock.wait(_PAUSE)
                fresh = await self._connect(greeted)
                old, link = link, fresh
                await self._close(old)
        finally:
            await self._close(link)
        raise _end(reason)

    async def _connect(self, greeted: Callable[[], None]) -> "Link":
        address = await self._api.socket_address(self._token)
        link = Link(self._accept, self._token, address, self._api.client(), self._ping)
        self._open += 1
        try:
            async with asyncio.timeout(OPENING):
                await link.connect()
                count = await link.hello(greeted)
        except (TimeoutError, ClientError, OSError) as error:
            await self._close(link)
            raise Retryable(
                f"Slack gave an address for a socket that does not work ({type(error).__name__})"
            ) from error
        except BaseException:  # also what ends the round: the socket must not outlive it
            await self._close(link)
            raise
        self._tell(Health("connected", _strangers(count, self._open)))
        return link

    async def _close(self, link: "Link") -> None:
        self._open -= 1
        await link.close()


class Link(SocketModeClient):
    """One socket, opened once: the SDK's own client would try the same single-use address for ever, and reconnects by
    itself, where nobody hears of it. What it does with envelopes stays the SDK's.
    """

    def __init__(self, accept: Accept, app_token: str, address: str, web: AsyncWebClient, ping: float) -> None:
        """To be called in the running loop."""
        super().__init__(app_token, quiet(), web, auto_reconnect_enabled=False, ping_interval=ping)
        loop = asyncio.get_running_loop()
        self.wss_uri = address
        self.over: asyncio.Future[str] = loop.create_future()
        self._hello: asyncio.Future[int] = loop.create_future()
        self._greeted: Callable[[], None] = lambda: None
        self._accept = accept
        self.socket_mode_request_listeners.append(self._handle)

    async def connect(self) -> None:
        """Raises ClientError or OSError where there is no socket. `heartbeat` ends one that does not answer a ping: a
        deaf one is noticed after one and a half intervals (case C23).
        """
        self.current_session = await self.aiohttp_client_session.ws_connect(
            str(self.wss_uri),
            heartbeat=self.ping_interval,
            proxy=self.proxy,
            timeout=ClientWSTimeout(ws_close=_CLOSING),
        )

    async def hello(self, greeted: Callable[[], None]) -> int:
        """Waits for Slack's greeting and tells how many sockets Slack counts for this app."""
        self._greeted = greeted
        self.message_receiver = asyncio.create_task(self.receive_messages())
        await asyncio.wait((self._hello, self.over), return_when=asyncio.FIRST_COMPLETED)
        if not self._hello.done():
            raise _end(self.over.result())
        return self._hello.result()

    async def receive_messages(self) -> None:
        """Reads to the end of the socket. A frame that is not JSON is none of Slack's, and left out."""
        reason = ""
        try:
            while self.current_session is not None:
                frame = await self.current_session.receive()
                match frame.type:
                    case WSMsgType.TEXT:
                        await self._frame(frame.data)
                    case WSMsgType.ERROR:
                        reason = "silent" if isinstance(frame.data, TimeoutError) else ""
                    case WSMsgType.CLOSE | WSMsgType.CLOSING | WSMsgType.CLOSED:
                        break
        finally:
            self._end(reason)

    async def close(self) -> None:
        """Closes the socket and waits for the tasks of the SDK."""
        await super().close()  # type: ignore[no-untyped-call]
        tasks = [task for task in (self.message_processor, self.message_receiver) if task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _frame(self, text: str) -> None:
        try:
            said = json.loads(text)
        except ValueError:
            log.warning("slack.frame_not_read")
            return
        match said:
            case {"type": "hello"} if not self._hello.done():
                count = said.get("num_connections")
                self._greeted()
                self._hello.set_result(count if isinstance(count, int) else 1)
            case {"type": "disconnect"}:
                self._end(str(said.get("reason")))
            case {"envelope_id": str()}:
                await self.enqueue_message(text)

    def _end(self, reason: str) -> None:
        if not self.over.done():
            self.over.set_result(reason)

    async def _handle(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        try:
            told = await self._accept(request.payload)
        except NotTaken:  # without an ack Slack delivers it again
            return
        said = answer(told) if told else None
        await client.send_socket_mode_response(SocketModeResponse(request.envelope_id, said))


def _end(reason: str) -> Retryable | Refused:
    """Why a socket ended, in words that say what to do."""
    match reason:
        case "link_disabled":
            return Refused('Socket Mode was switched off: switch it on under "Socket Mode" at api.slack.com/apps')
        case "too_many_websockets":
            return Retryable("Slack has too many sockets of this app open: stop other programs that use its app token")
        case "silent":
            return Retryable("the socket is open and nothing comes through it; opening another")
    return Retryable("the socket was closed; opening another")


def _strangers(count: int, own: int) -> str:
    """Each event goes to any one socket: what another one gets is not received here (case C22)."""
    if count <= own:
        return ""
    return (
        f"Slack counts {count} sockets of this app and this process has {own}: part of the messages goes to the "
        "others. Stop other programs that use its app token; what died lately goes away by itself"
    )
