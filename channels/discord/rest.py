"""Discord's REST API: one request a call, with a deadline, and never repeated from here.

The SDK's own client repeats what failed up to five times, and waits for as long as a rate limit says: a reply's
state would be unknown for minutes. Here every answer that is no success is raised, for failures.py to judge.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Final

import aiohttp

from channels.discord.fields import Payload, words

_AGENT: Final = "DiscordBot (gateway, 1)"
_CONNECTING: Final = 10.0


class Declined(Exception):
    """An answer that is no success. `code` is Discord's own, 0 where it named none; `after`: seconds to wait.

    `readable`: it was JSON, as Discord's are; a proxy's page is not.
    """

    def __init__(self, status: int, code: int, said: str, after: float | None, *, readable: bool) -> None:
        super().__init__(f"{status} {code} {said}")
        self.status, self.code, self.said, self.after, self.readable = status, code, said, after, readable


class Rest:
    """One bot's requests. `base` is such as `https://discord.com/api/v10`. Two in one process do not mix."""

    def __init__(self, token: str, base: str, deadline: float) -> None:
        self._token, self._base, self._deadline = token, base.rstrip("/"), deadline
        self._session: aiohttp.ClientSession | None = None

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, str] | None = None,
        signed: bool = True,
    ) -> object:
        """The JSON of the answer, None where there is none.

        `signed`: with the bot's token; the routes of an interaction carry theirs in the path. Raises Declined, what
        aiohttp raises, and TimeoutError after the deadline.
        """
        if self._session is None or self._session.closed:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECTING)
            self._session = aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar())
        headers = {"User-Agent": _AGENT} | ({"Authorization": f"Bot {self._token}"} if signed else {})
        async with (
            asyncio.timeout(self._deadline),
            self._session.request(
                method,
                self._base + path,
                json=body,
                params=query,
                headers=headers,
                allow_redirects=False,
            ) as response,
        ):
            data = await response.read()
        return _read(response, data)

    async def close(self) -> None:
        """Closes the connections; the next request opens new ones."""
        if self._session is not None:
            await self._session.close()


def _read(response: aiohttp.ClientResponse, data: bytes) -> object:
    answer, readable = _json(data)
    if 200 <= response.status < 300 and readable:
        return answer
    told: Payload = answer if isinstance(answer, dict) else {}
    code, after = told.get("code"), told.get("retry_after", response.headers.get("Retry-After"))
    number = code if isinstance(code, int) else 0
    raise Declined(response.status, number, words(told, "message"), _seconds(after), readable=bool(told))


def _json(data: bytes) -> tuple[object, bool]:
    if not data:
        return None, True
    try:
        return json.loads(data), True
    except ValueError:
        return None, False


def _seconds(after: object) -> float | None:
    try:
        return float(after) if isinstance(after, int | float | str) else None
    except ValueError:
        return None
