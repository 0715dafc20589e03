"""The chat page under the channel contract, spoken to by HTTP as its script does."""

import asyncio
import html
import json
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any, ClassVar, TypeVar

import aiohttp

from tests.contracts.stand import Heard, Place, Said, Stand
from tests.platforms.server import Bell
from tests.support.gateway import PATIENCE, Gateway

T = TypeVar("T")

OWN = "one person's own chats"
ON_TAPE = "a reply is on the tape, and a page knows it by its turn"

FOREVER = aiohttp.ClientTimeout(total=None)
CODE = re.compile(r"<pre[^>]*><code>(.*?)</code></pre>", re.DOTALL)


class WebStand(Stand):
    """A place is a chat, with one page on it that is always open. An edit is the same message sent with other words."""

    name = "web"
    exempt: ClassVar[Mapping[str, str]] = {
        "thread": OWN,
        "mention gating": OWN,
        "bots": OWN,
        "mention safety": OWN,
        "429": ON_TAPE,
        "5xx": ON_TAPE,
        "unanswered send": ON_TAPE,
    }
    splits = False
    advice = "the login link"

    def __init__(self) -> None:
        self._numbers, self._bell = count(1), Bell()
        self._client: aiohttp.ClientSession | None = None
        self._origin = ""
        self._pages: dict[str, asyncio.Task[None]] = {}
        self._unsent: list[dict[str, str]] = []
        self._heard: dict[str, dict[str, Heard]] = {}
        self._typing: Counter[str] = Counter()
        self._ended: dict[str, str] = {}

    async def attach(self, gateway: Gateway) -> None:
        """Logs in by the link, opens the pages again that were open, and sends what they could not send before."""
        await self.close()
        self._client, self._origin = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)), gateway.origin
        async with self._client.get(gateway.link) as answer:
            assert answer.status == 200, await answer.text()
        for chat in list(self._pages):
            self._open(chat)
        unsent, self._unsent = self._unsent, []
        for fields in unsent:
            await self._post(fields)

    async def close(self) -> None:
        """Ends what `attach` began."""
        await self._leave()
        if self._client is not None:
            await self._client.close()
            self._client = None

    def person(self) -> str:
        return f"person-{next(self._numbers)}"

    def private(self, person: str) -> Place:
        chat = f"{person}-chat-{next(self._numbers)}"
        self._heard[chat] = {}
        self._open(chat)
        return Place(chat, None)

    async def say(
        self, place: Place, person: str, text: str, *, mention: bool = False, reply_to: Heard | None = None
    ) -> Said:
        fields = {"chat": place.id, "id": f"m{next(self._numbers)}", "text": text}
        await self._post(fields)
        return Said(place, f"web/local/{place.id}", None, fields)

    async def edit(self, said: Said, person: str, text: str) -> None:
        await self._post(said.raw | {"text": text})

    async def redeliver(self, said: Said) -> None:
        await self._post(said.raw)

    def heard(self, place: Place) -> list[Heard]:
        return list(self._heard[place.id].values())

    def typing(self, place: Place) -> int:
        return self._typing[place.id]

    async def cut(self) -> None:
        async with self.outage():
            pass

    @asynccontextmanager
    async def outage(self) -> AsyncIterator[None]:
        """No page is open; whatever is asked meanwhile is answered before they are opened again."""
        await self._leave()
        yield
        for chat in list(self._pages):
            async with asyncio.timeout(PATIENCE):
                while (await self._history(chat))["waiting"]:
                    await asyncio.sleep(0.02)
            self._open(chat)

    def left_well(self) -> str:
        return "; ".join(f"{chat}: {how}" for chat, how in self._ended.items() if how != "to its end")

    async def until(self, seen: Callable[[], T]) -> T:
        return await self._bell.until(seen, PATIENCE)

    async def stopping(self) -> None:
        """Returns when the gateway takes nothing in any more."""
        async with asyncio.timeout(PATIENCE):
            while await self._try({"chat": "late", "id": f"m{next(self._numbers)}", "text": "too late?"}) != 503:
                await asyncio.sleep(0.02)

    async def refusal(self, gateway: Gateway) -> str:
        """What a person sees who opens the page with a wrong token."""
        async with aiohttp.ClientSession() as client, client.get(f"{gateway.origin}/?token=wrong") as answer:
            assert answer.status == 403
            shown = re.search(r"This is not the token[^<]*", await answer.text())
            assert shown
            return shown[0]

    async def _post(self, fields: dict[str, str]) -> None:
        """Where nobody listens, a page keeps the message and sends it when somebody does."""
        try:
            assert await self._try(fields) == 202
        except aiohttp.ClientConnectorError:
            self._unsent.append(fields)

    async def _try(self, fields: dict[str, str]) -> int:
        assert self._client
        async with self._client.post(f"{self._origin}/api/messages", json=fields) as answer:
            return answer.status

    async def _history(self, chat: str) -> dict[str, Any]:
        assert self._client
        async with self._client.get(f"{self._origin}/api/history", params={"chat": chat}) as answer:
            told: dict[str, Any] = await answer.json()
            return told

    def _open(self, chat: str) -> None:
        self._ended.pop(chat, None)
        self._pages[chat] = asyncio.create_task(self._follow(chat))

    async def _leave(self) -> None:
        for page in self._pages.values():
            page.cancel()
            with suppress(asyncio.CancelledError):
                await page

    async def _follow(self, chat: str) -> None:
        assert self._client
        waiting = b""
        try:
            address = f"{self._origin}/api/events"
            async with self._client.get(address, params={"chat": chat}, timeout=FOREVER) as answer:
                async for chunk in answer.content.iter_any():
                    *blocks, waiting = (waiting + chunk).split(b"\n\n")
                    for block in blocks:
                        event, data = block.decode().split("\n")
                        await self._take(chat, event.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
            self._ended[chat] = "to its end" if not waiting else f"in the middle of {waiting!r}"
        except aiohttp.ClientError as error:
            self._ended[chat] = repr(error)
        self._bell.ring()

    async def _take(self, chat: str, event: str, data: dict[str, Any]) -> None:
        match event:
            case "hello":
                for line in (await self._history(chat))["lines"]:
                    if line["kind"] == "bot":
                        self._keep(chat, line["turn"], line["text"], line["html"])
            case "reply":
                assert data["of"] == 1
                self._keep(chat, data["turn"], data["text"], data["html"])
            case "typing":
                self._typing[chat] += 1
        self._bell.ring()

    def _keep(self, chat: str, turn: str, text: str, shown: str) -> None:
        code = tuple(html.unescape(block) for block in CODE.findall(shown))
        self._heard[chat].setdefault(turn, Heard(turn, text, None, time.time(), code))
