"""The REST side of the fake Discord: from a request to the method it means, by way of the faults that wait for it."""

import hashlib
import json
import math
import time
from typing import Any, Final

from aiohttp import web

from tests.platforms import discord_messages, discord_methods
from tests.platforms.discord_calls import RestCall, read, split, template
from tests.platforms.discord_refusals import Refusal, refusal
from tests.platforms.discord_world import BotAccount, World
from tests.platforms.faults import DropReply, Fault, Faults, Refuse, Rejects, RetryAfter, ServerError, Slow, pause
from tests.platforms.server import LocalServer, cut

PREFIX: Final = "/api/v10"
PLENTY: Final = {"X-RateLimit-Limit": "50", "X-RateLimit-Remaining": "49", "X-RateLimit-Reset-After": "1.000"}
BEHIND_DISCORD: Final = {"Via": "1.1 google"}
"""Without it the SDK takes a 429 for one of Cloudflare's (facts 4)."""


class Rest:
    """All routes under `/api/v10`, and the files that messages carry. `calls` is the log of requests."""

    def __init__(self, world: World, server: LocalServer) -> None:
        self.world = world
        self.server = server
        self.calls: list[RestCall] = []
        self.faults = Faults()
        self._messages, self._methods = discord_messages.Messages(world), discord_methods.Methods(world)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        try:
            call = await read(request, request.path.removeprefix(PREFIX), self.world.clock())
            self.calls.append(call)
            fault = self.faults.take(call)
            self.world.bell.ring()
            return await self._answer(request, call, fault)
        except Refusal as refused:
            return answer(refused.body, refused.status)

    async def _answer(self, request: web.Request, call: RestCall, fault: Fault | None) -> web.StreamResponse:
        match fault:
            case RetryAfter(seconds):
                return too_many(seconds)
            case ServerError(status, html=True):
                return web.Response(status=status, text="<html><h1>Bad Gateway</h1></html>", content_type="text/html")
            case ServerError(status):
                raise Refusal(status, 0, f"{status}: Internal Server Error")
            case Rejects(status, description, parameters):
                raise Refusal(status, int(parameters.get("code", 0)), description, parameters.get("errors"))
            case Refuse():
                return cut(request)
            case Slow(after=False):
                await pause(fault, self.server)
                if self.server.closing:
                    return cut(request)
        result = self._do(call)
        if isinstance(fault, Slow) and fault.after:
            await pause(fault, self.server)
        if isinstance(fault, DropReply) or self.server.closing:
            return cut(request)
        return answer(result, bucket=f"{call.method} {call.path}")

    def _do(self, call: RestCall) -> Any:
        for methods, table in (
            (self._methods, discord_methods.OPEN_METHODS),
            (self._methods, discord_methods.METHODS),
            (self._messages, discord_messages.METHODS),
        ):
            for route, name in table.items():
                verb, path = split(route)
                if verb == call.method and (found := template(path).fullmatch(call.path)):
                    if table is discord_methods.OPEN_METHODS:
                        return getattr(methods, name)(call, *found.groups())
                    return getattr(methods, name)(self._bot(call), call, *found.groups())
        self._bot(call)
        raise refusal(0)

    def _bot(self, call: RestCall) -> BotAccount:
        if call.token not in self.world.bots:
            raise Refusal(401, 0, "401: Unauthorized")
        return self.world.bots[call.token]

    async def download(self, request: web.Request) -> web.StreamResponse:
        file = self.world.files.get(request.match_info["key"])
        if file is None:
            return web.Response(status=404, text="This content is no longer available.")
        return web.Response(body=file.data, content_type="application/octet-stream")


def answer(body: Any, status: int = 200, bucket: str = "", headers: dict[str, str] | None = None) -> web.Response:
    """JSON with exactly the content type that the SDK asks for (facts 4), or 204 for nothing."""
    headers = headers or BEHIND_DISCORD
    if bucket:
        reset = {"X-RateLimit-Reset": f"{time.time() + 1:.3f}"}
        headers = headers | PLENTY | reset | {"X-RateLimit-Bucket": hashlib.md5(bucket.encode()).hexdigest()}
    if body is None:
        return web.Response(status=204, headers=headers)
    return web.Response(
        body=json.dumps(body).encode(), status=status, headers=headers | {"Content-Type": "application/json"}
    )


def too_many(seconds: float) -> web.Response:
    """429 as Discord itself says it."""
    body = {"message": "You are being rate limited.", "retry_after": seconds, "global": False}
    scope = {"Retry-After": str(math.ceil(seconds)), "X-RateLimit-Scope": "user", "X-RateLimit-Remaining": "0"}
    return answer(body, 429, headers=BEHIND_DISCORD | scope)
