"""A bot made of the real Bolt, connected to the fake Slack by a socket, that remembers what it heard."""

import re
from types import TracebackType
from typing import Any, Self

from aiohttp import ClientSession, ClientWebSocketResponse
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from tests.platforms.slack import FakeSlack

Json = dict[str, Any]


def web_client(slack: FakeSlack, token: str | None = None) -> AsyncWebClient:
    """The real client, without the retries of its own that would hide a fault."""
    return AsyncWebClient(token=token or slack.bot_token, base_url=slack.url, retry_handlers=[])


async def refused(call: Any) -> str:
    """The error that Slack answers a call with."""
    try:
        await call
    except SlackApiError as error:
        return str(error.response["error"])
    return "not refused"


def bolt(slack: FakeSlack, events: list[Json], commands: list[Json], *, fails: bool = False) -> AsyncApp:
    """An app that keeps events and commands, and acknowledges when it has; `fails`: it raises after keeping."""
    app = AsyncApp(
        client=web_client(slack), signing_secret=slack.signing_secret, process_before_response=True, logger=None
    )

    async def keep(event: Json) -> None:
        events.append(event)
        slack.bell.ring()
        if fails:
            raise RuntimeError("a bot that fails")

    async def answer(ack: Any, command: Json) -> None:
        commands.append(command)
        await ack(f"got {command['text']}")

    app.event(re.compile(".*"))(keep)
    app.command(re.compile(".*"))(answer)
    return app


class Bot:
    """`events` and `commands` are what its listeners got, `requests` every envelope that reached it."""

    def __init__(self, slack: FakeSlack, *, ping_interval: float = 10, fails: bool = False) -> None:
        self.slack = slack
        self.events: list[Json] = []
        self.commands: list[Json] = []
        self.requests: list[SocketModeRequest] = []
        self.hellos: list[Json] = []
        self.app = bolt(slack, self.events, self.commands, fails=fails)
        self.client = self.app.client
        self._ping_interval = ping_interval

    async def __aenter__(self) -> Self:
        self._handler = AsyncSocketModeHandler(self.app, self.slack.app_token, ping_interval=self._ping_interval)
        self._handler.client.message_listeners.append(self._hear)
        await self._handler.connect_async()
        await self.slack.wait_connected()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._handler.close_async()

    async def _hear(self, client: Any, message: Json, raw: str | None) -> None:
        if message.get("type") == "hello":
            self.hellos.append(message)
        elif request := SocketModeRequest.from_dict(message):
            self.requests.append(request)
            self.slack.bell.ring()


async def open_socket(slack: FakeSlack, web: ClientSession) -> ClientWebSocketResponse:
    """A socket without an SDK: every frame is in the test's hands."""
    answer = await web_client(slack).apps_connections_open(app_token=slack.app_token)
    return await web.ws_connect(answer["url"])
