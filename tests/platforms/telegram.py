"""A fake Telegram Bot API server that the real SDK talks to over a socket.

It keeps what Telegram keeps and refuses what Telegram refuses, with Telegram's words. What it does not do: parse modes
(501, send entities), flood limits of its own (inject `RetryAfter`), webhook delivery, and the server's slow-down of
pollers that repeat an offset within 3 s.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar, overload
from urllib.parse import parse_qsl

from aiohttp import web

from tests.platforms.faults import (
    Call,
    Conflict409,
    DropReply,
    Fault,
    Faults,
    File,
    Injection,
    Refuse,
    Rejects,
    RetryAfter,
    ServerError,
    Slow,
    pause,
)
from tests.platforms.server import LocalServer, cut
from tests.platforms.telegram_chat import Chat, Json, Person
from tests.platforms.telegram_methods import POLL_CONFLICT, WEBHOOK_ACTIVE, Methods
from tests.platforms.telegram_text import Entity, Refusal
from tests.platforms.telegram_world import BotAccount, Draft, Sent, World

__all__ = [
    "BotAccount",
    "Call",
    "Chat",
    "Conflict409",
    "Draft",
    "DropReply",
    "Entity",
    "FakeTelegram",
    "File",
    "Person",
    "Refuse",
    "Rejects",
    "RetryAfter",
    "Sent",
    "ServerError",
    "Slow",
]

T = TypeVar("T")

LONGEST_POLL: Final = 50.0
MOST_UPDATES: Final = 100


class FakeTelegram(LocalServer):
    """One Telegram with one bot (or more: `add_bot`), its people and its chats.

    `sent`, `calls`, `drafts` are logs in order of arrival; `wait_sent`, `wait_calls` and `wait` wait on them without
    polling. All of it belongs to the event loop the server runs in; the bot may be another process.
    """

    def __init__(
        self,
        token: str = "42:TEST",
        *,
        username: str = "gateway_bot",
        name: str = "Gateway",
        port: int = 0,
        privacy: bool = False,
        strict_entities: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(port)
        self.token = token
        self.world = World(self.bell, clock)
        self.calls: list[Call] = []
        self._methods = Methods(self.world, strict_entities=strict_entities)
        self._faults = Faults()
        self.bot = self.add_bot(token, username, name=name, privacy=privacy)

    @property
    def url(self) -> str:
        """The base for `TelegramAPIServer.from_base`."""
        return self.origin

    def add_bot(self, token: str, username: str, *, name: str = "Gateway", privacy: bool = False) -> BotAccount:
        """One more bot on the same platform; it is in every group."""
        bot = self.world.bots[token] = BotAccount(token, username, name, privacy)
        return bot

    def person(self, id: int, name: str, username: str | None = None, *, is_bot: bool = False) -> Person:  # noqa: A002
        return self.world.people.setdefault(id, Person(id, name, username, is_bot))

    def private(self, person: Person, bot: BotAccount | None = None) -> Chat:
        """The private chat of a person who has started the bot."""
        return self.world.add_private(person, bot or self.bot)

    def group(
        self,
        id: int,  # noqa: A002
        title: str,
        members: Iterable[Person] = (),
        admins: Iterable[Person] = (),
        *,
        bot_is_admin: bool = False,
    ) -> Chat:
        """A group; a supergroup where the id begins with -100. The first admin is its owner."""
        chat = self.world.add_group(id, title, members, admins)
        chat.bot_is_admin = bot_is_admin
        return chat

    def forum(
        self,
        id: int,  # noqa: A002
        title: str,
        topics: Iterable[str | int] = (),
        members: Iterable[Person] = (),
        admins: Iterable[Person] = (),
    ) -> Chat:
        """A supergroup with topics, named by strings (see `Chat.topic`) or made with the thread ids given."""
        chat = self.group(id, title, members, admins)
        chat.kind, chat.is_forum = "supergroup", True
        for topic in topics:
            chat.add_topic(
                topic if isinstance(topic, str) else f"topic {topic}", None if isinstance(topic, str) else topic
            )
        return chat

    def push_raw(self, update: Mapping[str, Any], bot: BotAccount | None = None) -> Json:
        """Any update, also one no SDK can read; it gets an `update_id` if it brings none."""
        pushed = (bot or self.bot).enqueue(update)
        self.bell.ring()
        return pushed

    def redeliver(self, *update_ids: int, bot: BotAccount | None = None) -> None:
        """Deliver known updates once more, confirmed or not, whatever the next poll's offset."""
        to = bot or self.bot
        to.replays.extend(to.history[update_id] for update_id in update_ids)
        self.bell.ring()

    def inject(
        self, method: str, fault: Fault, *, times: int | None = 1, when: Callable[[Call], bool] | None = None
    ) -> Injection:
        """Let the next `times` calls of a method (that `when` picks) fail; None: until `cancel()`."""
        return self._faults.add(method, fault, times, when)

    @property
    def sent(self) -> list[Sent]:
        """Every message the platform stored, in order, deleted ones too."""
        return self.world.sent

    @property
    def drafts(self) -> list[Draft]:
        return self.world.drafts

    @property
    def pending(self) -> int:
        """Updates that no `getUpdates` has confirmed yet, over all bots."""
        return sum(len(bot.queue) for bot in self.world.bots.values())

    @overload
    async def wait_sent(self, what: int, timeout: float = 30) -> list[Sent]: ...
    @overload
    async def wait_sent(self, what: Callable[[Sent], bool], timeout: float = 30) -> Sent: ...
    async def wait_sent(self, what: int | Callable[[Sent], bool], timeout: float = 30) -> list[Sent] | Sent:
        """All messages once there are that many, or the first one the predicate picks (edits count)."""
        if isinstance(what, int):
            await self.wait(lambda: len(self.sent) >= what, timeout)
            return list(self.sent)
        return (await self.wait(lambda: [sent for sent in self.sent if what(sent)], timeout))[0]

    async def wait_calls(self, method: str, count: int = 1, timeout: float = 30) -> list[Call]:
        """The calls of a method once there were that many."""
        return await self.wait(lambda: calls if len(calls := self.calls_of(method)) >= count else [], timeout)

    async def wait(self, seen: Callable[[], T], timeout: float = 30) -> T:
        """What `seen` answers once that is true; looked at after every change of the fake."""
        return await self.bell.until(seen, timeout)

    def calls_of(self, method: str) -> list[Call]:
        return [call for call in self.calls if call.method.lower() == method.lower()]

    def routes(self) -> list[web.RouteDef]:
        return [
            web.route("*", "/bot{token}/{method}", self._serve),
            web.get("/file/bot{token}/{folder}/{file_id}", self._download),
        ]

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        token, method = request.match_info["token"], request.match_info["method"]
        bot = self.world.bots.get(token)
        if bot is None:
            known_shape = token.partition(":")[0].isdigit() and ":" in token
            return refuse(Refusal(401, "Unauthorized") if known_shape else Refusal(404, "Not Found"))
        try:
            call = await read_call(request, method, token)
        except UnicodeDecodeError:
            return refuse(Refusal(400, "Bad Request: strings must be encoded in UTF-8"))
        self.calls.append(call)
        fault = self._faults.take(call)
        self.bell.ring()
        try:
            return await self._answer(request, bot, call, fault)
        except Refusal as refusal:
            return refuse(refusal)

    async def _answer(
        self, request: web.Request, bot: BotAccount, call: Call, fault: Fault | None
    ) -> web.StreamResponse:
        match fault:
            case RetryAfter(seconds):
                raise Refusal(429, f"Too Many Requests: retry after {seconds}", {"retry_after": seconds})
            case ServerError(status, html=True):
                return web.Response(status=status, text="<html><h1>Bad Gateway</h1></html>", content_type="text/html")
            case ServerError(status):
                raise Refusal(status, "Bad Gateway" if status == 502 else "Internal Server Error")
            case Rejects(status, description, parameters):
                raise Refusal(status, description, parameters)
            case Conflict409():
                raise Refusal(409, POLL_CONFLICT)
            case Refuse():
                return cut(request)
            case Slow(after=False):
                await pause(fault, self)
                if self.closing:
                    return cut(request)
        polls = call.method.lower() == "getupdates"
        result = await self._poll(bot, call) if polls else self._methods.answer(bot, call)
        if isinstance(fault, Slow) and fault.after:
            await pause(fault, self)
        if isinstance(fault, DropReply) or self.closing:
            return cut(request)
        return web.json_response({"ok": True, "result": result})

    async def _poll(self, bot: BotAccount, call: Call) -> list[Json]:
        """`getUpdates` (facts 1.1): confirm by offset, end the poll before it, wait for updates."""
        if bot.webhook:
            raise Refusal(409, WEBHOOK_ACTIVE)
        if "allowed_updates" in call.form:
            names = frozenset(json.loads(call.form["allowed_updates"] or "[]"))
            bot.allowed = names or None
        bot.confirm(int(call.form.get("offset") or 0))
        limit = int(call.form.get("limit") or MOST_UPDATES)
        limit = limit if 1 <= limit <= MOST_UPDATES else MOST_UPDATES
        turn = bot.end_poll(POLL_CONFLICT)
        self.bell.ring()
        timeout = min(float(call.form.get("timeout") or 0), LONGEST_POLL)
        if timeout > 0:
            try:
                await self.bell.until(lambda: self.closing or bot.poll != turn or bot.batch(limit), timeout)
            except TimeoutError:
                return []
        if bot.poll != turn:
            raise Refusal(409, bot.ended_by)
        batch = bot.batch(limit)
        bot.replays = bot.replays[limit:]
        return batch

    async def _download(self, request: web.Request) -> web.StreamResponse:
        file = self.world.files.get(request.match_info["file_id"])
        if request.match_info["token"] not in self.world.bots or file is None:
            return refuse(Refusal(404, "Not Found"))
        return web.Response(body=file.data, content_type="application/octet-stream")


def refuse(refusal: Refusal) -> web.Response:
    body: Json = {"ok": False, "error_code": refusal.status, "description": refusal.description}
    if refusal.parameters:
        body["parameters"] = refusal.parameters
    return web.json_response(body, status=refusal.status)


async def read_call(request: web.Request, method: str, token: str) -> Call:
    """A request in any of the forms the Bot API reads: query, urlencoded, multipart, JSON."""
    form: dict[str, str] = dict(request.query)
    files: dict[str, File] = {}
    if request.content_type == "application/json":
        for key, value in (await request.json()).items():
            form[key] = value if isinstance(value, str) else json.dumps(value)
    elif request.content_type == "application/x-www-form-urlencoded":
        form |= parse_qsl((await request.read()).decode(), keep_blank_values=True, errors="strict")
    else:
        for key, value in (await request.post()).items():
            if isinstance(value, web.FileField):
                files[key] = File(value.filename, value.file.read())
            else:
                form[key] = value if isinstance(value, str) else value.decode()
    return Call(method, form, files, time.time(), token)
