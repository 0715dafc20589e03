"""One request, as a check makes it: any answer is an answer, and none is None."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from gateway.errors import Refused


@dataclass(frozen=True, slots=True)
class Answer:
    """`body`: the JSON, None where it is none. `headers`: their names in lower case."""

    status: int
    body: object
    headers: Mapping[str, str]


async def fetch(method: str, url: str, headers: Mapping[str, str] | None = None) -> Answer | None:
    """The answer; None where the server cannot be reached. Follows no redirect: the headers are for this server.

    Raises Refused for what cannot be sent at all.
    """
    import aiohttp

    try:
        async with (
            aiohttp.ClientSession() as client,
            client.request(method, url, headers=headers, allow_redirects=False) as answer,
        ):
            named = {name.lower(): value for name, value in answer.headers.items()}
            return Answer(answer.status, _json(await answer.text(errors="replace")), named)
    except aiohttp.ClientError:
        return None
    except ValueError:  # its text may hold the token
        raise Refused("it cannot be asked: is there a line break in a token, or a password in an address?") from None


async def first_frame(url: str) -> object:
    """The first JSON that a WebSocket server says by itself; None where it cannot be reached or says none."""
    import aiohttp

    goodbye = aiohttp.ClientWSTimeout(ws_close=1.0)
    try:
        async with aiohttp.ClientSession() as client, client.ws_connect(url, timeout=goodbye) as socket:
            said = await socket.receive()
            return _json(said.data) if isinstance(said.data, str) else None
    except aiohttp.ClientError:
        return None


def _json(text: str) -> object:
    try:
        found: object = json.loads(text)
    except ValueError:
        return None
    return found
