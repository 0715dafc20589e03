"""A web channel on a real port with a tape in memory and a gateway that does as the test says."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Self

from channels.web import WebChannel, build
from channels.web.parse import parse
from gateway.message import IncomingMessage, MessageId, Reply, Route, SessionKey, TurnId
from gateway.tape.entries import Draft, Entry, Event, Fact, Message, Meta, handoff
from gateway.tape.index import MessageIndex, closing
from gateway.tape.window import Recorded
from gateway.web.app import WebApp
from tests.support.clock import ManualClock

TOKEN = "token-of-the-test"
MAIN = SessionKey("web", "local", "main")
ROUTE = Route("web", "local", "main")
COMMANDS = (
    ("/help", "what the bot can do"),
    ("/status", "what runs and what waits"),
    ("/stop", "stop the answer that is being written"),
    ("handoff [name] [note...]", "begin a new phase, with a name and a note"),
    ("/reset", "start over; the tape so far is archived"),
    ("/search", "look through everything that was said"),
)
_PLAIN = Meta()


class Tape:
    """The entries of one session, in memory."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.entries: list[Entry] = []
        self.archive: list[Entry] = []

    def add(self, fact: Fact, meta: Meta = _PLAIN) -> None:
        self.entries.append(Entry(len(self.archive) + len(self.entries) + 1, fact, self._clock.now(), meta))

    def put_away(self) -> None:
        """As a reset does."""
        self.archive += self.entries
        self.entries = []

    def anchor(self, name: str) -> None:
        for draft in handoff(name, {}, self._clock.now(), Meta()):
            self.draft(draft)

    def draft(self, draft: Draft) -> None:
        self.entries.append(Entry(len(self.archive) + len(self.entries) + 1, draft.fact, draft.date, draft.meta))

    def turn(self, messages: Sequence[IncomingMessage], text: str) -> Reply:
        """A finished turn, as a merge writes it."""
        turn = messages[0].turn
        for message in messages:
            self.add(Message("user", message.text), Meta(turn, message.author.id, message.id))
        self.add(Message("assistant", text), Meta(turn))
        reply = Reply(turn, messages[0].session, messages[0].route, text)
        self.add(closing(Recorded(turn, tuple(m.id for m in messages), "finished", reply)), Meta(turn))
        return reply

    def command(self, message: IncomingMessage, answer: str) -> Reply:
        """A control command, answered from the side."""
        name = message.text.split()[0].lstrip("/")
        data = Event("command", {"name": name, "raw": message.text, "by": message.author.id, "answer": answer})
        self.add(data, Meta(message=message.id, context=False))
        return Reply(message.turn, message.session, message.route, answer)


class Rig:
    """`async with Rig() as rig`: the channel runs. What was received stands in `received`."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, tape: Tape | None = None) -> None:
        self.clock = ManualClock()
        self.tape = tape or Tape(self.clock)
        self.received: list[IncomingMessage] = []
        self.links: list[str] = []
        self.refuse: Callable[[IncomingMessage], Exception | None] = lambda message: None
        self.answer: Callable[[IncomingMessage], str | None] = lambda message: None
        self.app = WebApp(host, port, healths=lambda: {"web": self.channel.health})
        self.channel: WebChannel = build(
            app=self.app,
            token=TOKEN,
            history=self.history,
            records=self.records,
            clock=self.clock,
            announce=self._announce,
            commands=COMMANDS,
        )
        self._bound = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return self.channel.base_url

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.received]

    async def up(self) -> Self:
        """Returns when the port is bound."""
        self.start()
        await self.bound()
        return self

    async def bound(self) -> None:
        async with asyncio.timeout(10):
            await self._bound.wait()

    def start(self) -> None:
        self._bound.clear()
        self._running = asyncio.create_task(self.channel.run(self._receive))

    async def down(self) -> None:
        """As the gateway stops; the port is free when this returns."""
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running
            self._running = None

    async def say(self, reply: Reply) -> None:
        """Delivers a reply as `Delivery` does."""
        parts = self.channel.render(reply.text)
        for index, part in enumerate(parts):
            await self.channel.send(reply, part, index=index, of=len(parts), repeated=False)

    def talk(self, number: int, question: str, answer: str) -> None:
        """One earlier exchange on the tape."""
        self.tape.turn([message(f"old-{number}", question)], answer)

    async def __aenter__(self) -> Self:
        return await self.up()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.down()

    async def history(self, key: SessionKey) -> Sequence[Entry]:
        return tuple(self.tape.entries) if key == MAIN else ()

    async def records(self, key: SessionKey) -> MessageIndex:
        return MessageIndex.of([*self.tape.archive, *self.tape.entries])

    def _announce(self, link: str) -> None:
        self.links.append(link)
        self._bound.set()

    async def _receive(self, said: IncomingMessage) -> None:
        if (problem := self.refuse(said)) is not None:
            raise problem
        if said.id in {known.id for known in self.received}:
            return
        self.received.append(said)
        if (text := self.answer(said)) is not None:
            reply = self.tape.command(said, text) if said.text.startswith("/") else self.tape.turn([said], text)
            await self.say(reply)


def message(client: str, text: str) -> IncomingMessage:
    """As `parse` makes it."""
    now = ManualClock().now()
    made = parse(b'{"chat": "main", "id": "%s", "text": "x"}' % client.encode(), now)
    return replace(made, text=text)


def turn(client: str) -> TurnId:
    return TurnId(MessageId(f"web/local/main:{client}"))


def post(text: str = "hello", client: str = "c1", chat: str = "main") -> dict[str, str]:
    """The body of a message, as the page posts it."""
    return {"chat": chat, "id": client, "text": text}
