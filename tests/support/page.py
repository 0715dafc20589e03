"""The chat page's part of the conversation with a gateway, without a browser."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Self

import aiohttp

from tests.support.gateway import PATIENCE, Gateway


class Page:
    """`async with Page(gateway) as page:` logged in by the link that the gateway printed."""

    def __init__(self, gateway: Gateway, chat: str = "main") -> None:
        self._gateway, self._chat, self._number = gateway, chat, 0
        self._client: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._client = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        async with self._client.get(self._gateway.link) as answer:
            assert answer.status == 200, await answer.text()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._client
        await self._client.close()

    async def posts(self, body: bytes) -> tuple[int, dict[str, Any]]:
        """Any body, and what the gateway answers to it: 202 and the message's id, or a sentence as `error`."""
        assert self._client
        async with self._client.post(f"{self._gateway.origin}/api/messages", data=io.BytesIO(body)) as answer:
            return answer.status, await answer.json()

    async def says(self, text: str) -> str:
        """The id of the message, which names its turn."""
        self._number += 1
        fields = {"chat": self._chat, "id": f"m{self._number}", "text": text}
        status, told = await self.posts(json.dumps(fields).encode())
        assert status == 202, told
        return str(told["id"])

    async def lines(self) -> list[dict[str, Any]]:
        """The chat as the page shows it."""
        assert self._client
        async with self._client.get(f"{self._gateway.origin}/api/history", params={"chat": self._chat}) as answer:
            lines: list[dict[str, Any]] = (await answer.json())["lines"]
            return lines

    async def answer(self, turn: str) -> str:
        """What the bot said in a turn, once it is shown."""
        async with asyncio.timeout(PATIENCE):
            while True:
                said = [line["text"] for line in await self.lines() if (line["kind"], line["turn"]) == ("bot", turn)]
                if said:
                    return str(said[0])
                await asyncio.sleep(0.05)

    async def follow(self) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """What the gateway tells a page that is open: the name of each event, and its data. The first is `hello`."""
        assert self._client
        name = ""
        async with self._client.get(f"{self._gateway.origin}/api/events", params={"chat": self._chat}) as stream:
            async for line in stream.content:
                match line.decode().rstrip("\n").partition(": "):
                    case ("event", _, text):
                        name = text
                    case ("data", _, text):
                        yield name, json.loads(text)

    async def asks(self, text: str) -> str:
        """Says something, and returns the answer."""
        return await self.answer(await self.says(text))

    async def health(self) -> dict[str, Any]:
        """What /healthz tells."""
        assert self._client
        async with self._client.get(f"{self._gateway.origin}/healthz") as answer:
            health: dict[str, Any] = await answer.json()
            return health
