"""What an answer of something that is not quite Discord is taken for."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from channels.discord.failures import of_asking, of_login, of_sending
from channels.discord.rest import Declined, Rest
from gateway.channel import Ambiguous
from gateway.errors import Refused, Retryable
from tests.platforms.server import LocalServer


class OddServer(LocalServer):
    """Answers each path in its own way, and counts."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def routes(self) -> list[web.RouteDef]:
        return [web.route("*", "/{what}", self.answer)]

    async def answer(self, request: web.Request) -> web.Response:
        self.asked += 1
        match request.match_info["what"]:
            case "nothing":
                return web.Response(status=204)
            case "elsewhere":
                raise web.HTTPFound("/nothing")
            case "page":
                return web.Response(text="<html>", content_type="text/html")
            case "limit":
                return web.Response(status=429, text="slow", headers={"Retry-After": "7"})
            case "soon":
                return web.Response(status=429, text="slow", headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"})
        return web.json_response({"message": "no", "code": "odd", "retry_after": 1.5}, status=400)


@pytest.fixture
async def odd() -> AsyncIterator[OddServer]:
    async with OddServer() as server:
        yield server


@pytest.fixture
async def rest(odd: OddServer) -> AsyncIterator[Rest]:
    rest = Rest("a-token", odd.origin, 10)
    yield rest
    await rest.close()


async def declined(rest: Rest, path: str) -> Declined:
    with pytest.raises(Declined) as raised:
        await rest.ask("POST", path, {})
    return raised.value


async def test_an_empty_answer_is_a_success(rest: Rest) -> None:
    assert await rest.ask("POST", "/nothing", {}) is None


async def test_a_redirect_is_not_followed(rest: Rest, odd: OddServer) -> None:
    """One request a call: what would become of a message there, nobody knows."""
    assert (await declined(rest, "/elsewhere")).status == 302
    assert odd.asked == 1


async def test_a_page_of_somebody_else_is_no_success(rest: Rest) -> None:
    error = await declined(rest, "/page")
    assert isinstance(of_sending(error), Ambiguous)
    assert isinstance(of_asking(error), Retryable)


async def test_a_limit_of_a_proxy_counts_as_well(rest: Rest) -> None:
    verdicts = [of_sending(await declined(rest, path)) for path in ("/limit", "/soon")]
    assert [verdict.after for verdict in verdicts if isinstance(verdict, Retryable)] == [7.0, None]


async def test_a_code_that_is_no_number_is_none(rest: Rest) -> None:
    error = await declined(rest, "/odd")
    assert (error.code, error.after) == (0, 1.5)
    assert str(of_login(error)) == "Discord says: no (0)"
    assert isinstance(of_login(error), Refused)
