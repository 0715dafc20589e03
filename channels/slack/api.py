"""Slack's Web API: one request a call, within a deadline, and errors by what the caller must do."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, cast

from aiohttp import ClientSession
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from channels.slack.failures import FAILURES, WRONG_APP, of_asking, of_sending
from gateway.errors import Retryable

Answer = Mapping[str, object]

_PAGE: Final = 200
_CLOSED: Final = "the channel is closed"


def quiet() -> logging.Logger:
    """A logger for the SDKs that says nothing: what they raise is told by us, and what they print holds people's words
    and addresses with tickets. Its level is set, since they write out every request for one that has none (facts 5.4).
    """
    return logging.Logger("slack", logging.CRITICAL + 1)


class Api:
    """The bot's requests, over one pool of connections, which is open between `open` and `close`."""

    def __init__(self, token: str, base: str, deadline: float) -> None:
        self._token, self._base, self._deadline = token, base, deadline
        self._session: ClientSession | None = None

    @property
    def is_open(self) -> bool:
        """Whether requests can be made now."""
        return self._session is not None

    def open(self) -> None:
        """To be called in the running loop."""
        if self._session is None:
            self._session = ClientSession()

    async def close(self) -> None:
        """Closes the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def client(self, session: ClientSession | None = None) -> AsyncWebClient:
        """A client without a token, which repeats nothing by itself (facts 5.4)."""
        return AsyncWebClient(base_url=self._base, session=session, retry_handlers=[], logger=quiet())

    async def ask(self, method: str, **arguments: str | int | bool) -> Answer:
        """Reads. Raises Retryable, or Refused where asking again will not help."""
        form = {
            name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in arguments.items()
        }
        try:
            return await self._call(lambda client: client.api_call(method, data=form))
        except FAILURES as failure:
            raise of_asking(failure) from failure

    async def send(self, method: str, body: Mapping[str, object]) -> Answer:
        """Writes. Raises Retryable, Refused or Ambiguous, as a Channel's `send`."""
        try:
            return await self._call(lambda client: client.api_call(method, json=dict(body)))
        except FAILURES as failure:
            raise of_sending(failure) from failure

    async def socket_address(self, app_token: str) -> str:
        """The address of one socket, good for once. Raises as `ask`."""
        try:
            answer = await self._call(lambda client: client.apps_connections_open(app_token=app_token))
        except FAILURES as failure:
            raise of_asking(failure, WRONG_APP) from failure
        match answer.get("url"):
            case str(url) if url:
                return url
        raise Retryable("Slack gave no address for the socket")

    async def pages(self, method: str, key: str, most: int, **arguments: str | int | bool) -> tuple[list[Answer], bool]:
        """At most `most` objects of all pages, in Slack's order, and whether these are all. Raises as `ask`."""
        found: list[Answer] = []
        cursor = ""
        while True:
            more = {"cursor": cursor} if cursor else {}
            answer = await self.ask(method, limit=min(_PAGE, most), **arguments, **more)
            items = answer.get(key)
            found += [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
            match answer.get("response_metadata"):
                case {"next_cursor": str(following)} if following and following != cursor:
                    cursor = following
                case _:
                    return found[:most], len(found) <= most
            if len(found) >= most:
                return found[:most], False

    async def _call(self, request: Callable[[AsyncWebClient], Awaitable[AsyncSlackResponse]]) -> Answer:
        if self._session is None:
            raise Retryable(_CLOSED)
        client = self.client(self._session)
        client.token = self._token
        async with asyncio.timeout(self._deadline):
            answer = await request(client)
        return cast(Answer, answer.data)
