"""The http side of the fake Slack: the Web API with its faults, response urls, files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from tests.platforms.faults import (
    Call,
    DropReply,
    Fault,
    Faults,
    Refuse,
    Rejects,
    RetryAfter,
    ServerError,
    Slow,
    pause,
)
from tests.platforms.server import cut
from tests.platforms.slack_text import Refusal
from tests.platforms.telegram import read_call

if TYPE_CHECKING:
    from tests.platforms.server import LocalServer
    from tests.platforms.slack_methods import Methods
    from tests.platforms.slack_socket import Sockets
    from tests.platforms.slack_world import World

Json = dict[str, Any]

APP_LEVEL: Final = "apps.connections.open"
WORDS: Final = {503: "service_unavailable"}


@dataclass(frozen=True, slots=True)
class Tokens:
    """The two tokens of an app: each opens its own methods only."""

    bot: str
    app: str

    def check(self, token: str, method: str) -> None:
        if not token:
            raise Refusal("not_authed")
        if token not in {self.bot, self.app}:
            raise Refusal("invalid_auth")
        if (token == self.app) != (method == APP_LEVEL):
            raise Refusal("not_allowed_token_type")


@dataclass(slots=True, eq=False)
class Api:
    """Answers the Web API, and what else the bot asks for over http."""

    server: LocalServer
    world: World
    methods: Methods
    sockets: Sockets
    tokens: Tokens
    calls: list[Call] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One call: first its fault, then Slack's refusals (200 and `ok: false`), then its effect."""
        header = request.headers.get("Authorization", "").removeprefix("Bearer ")
        try:
            call = await read_call(request, request.match_info["method"], header)
        except ValueError:
            return self._say({"ok": False, "error": "invalid_json"})
        call = Call(call.method, call.form, call.files, self.world.clock(), header or call.form.get("token", ""))
        self.calls.append(call)
        fault = self.faults.take(call)
        self.server.bell.ring()
        if isinstance(fault, Slow) and not fault.after:
            await pause(fault, self.server)
        if isinstance(fault, Refuse) or self.server.closing:
            return cut(request)
        answer = _failed(fault) or self._say(self._answer(call))
        if isinstance(fault, Slow) and fault.after:
            await pause(fault, self.server)
        if isinstance(fault, DropReply) or self.server.closing:
            return cut(request)
        return answer

    async def respond(self, request: web.Request) -> web.StreamResponse:
        """A post to a `response_url`: no token, five uses, half an hour."""
        number = int(request.match_info["number"])
        if not 1 <= number <= len(self.world.deliveries.commands):
            return web.json_response({"ok": False, "error": "no_such_url"}, status=404)
        error = self.world.deliveries.respond(number, await request.json())
        if error:
            return web.json_response({"ok": False, "error": error}, status=404)
        return web.Response(text="ok")

    async def download(self, request: web.Request) -> web.StreamResponse:
        """A file; without the bot's token Slack answers 200 and the page to log in."""
        file = self.world.files.get(request.match_info["file_id"])
        if request.headers.get("Authorization") != f"Bearer {self.tokens.bot}":
            return web.Response(text="<html>Sign in</html>", content_type="text/html")
        if file is None:
            return web.Response(status=404)
        return web.Response(body=file.data, content_type="application/octet-stream")

    def _answer(self, call: Call) -> Json:
        try:
            self.tokens.check(call.token, call.method)
            if call.method == APP_LEVEL:
                address = self.server.origin.replace("http", "ws", 1)
                return {"ok": True, "url": f"{address}/link?ticket={self.sockets.issue()}"}
            return {"ok": True, **self.methods.answer(call)}
        except Refusal as refusal:
            told = {"response_metadata": {"messages": list(refusal.told)}} if refusal.told else {}
            return {"ok": False, "error": refusal.error, **(refusal.more or {}), **told}

    def _say(self, body: Json) -> web.Response:
        return web.json_response(body, headers={"x-oauth-scopes": ",".join(self.methods.scopes)})


def _failed(fault: Fault | None) -> web.Response | None:
    """The answer of a call that a fault keeps from its effect."""
    match fault:
        case RetryAfter(seconds):
            body = {"ok": False, "error": "ratelimited"}
            return web.json_response(body, status=429, headers={"Retry-After": str(seconds)})
        case ServerError(status, html=True):
            return web.Response(status=status, text="<html><h1>Server Error</h1></html>", content_type="text/html")
        case ServerError(status):
            return web.json_response({"ok": False, "error": WORDS.get(status, "internal_error")}, status=status)
        case Rejects(status, error, more):
            return web.json_response({"ok": False, "error": error, **more}, status=status)
    return None
