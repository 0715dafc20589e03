"""A small world for the adversary: a store, a server, a chat, a model and a tool that any number of processes share."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from gateway.agent.loop import Agent
from gateway.agent.model import Delta, ModelReply, ToolSpec
from gateway.agent.tool import Tool, ToolContext
from gateway.channel import Health, Part
from gateway.clock import Clock
from gateway.errors import Lost, Retryable
from gateway.message import Author, IncomingMessage, MessageId, Reply, Route, SessionKey
from gateway.session.inbox import Inbox
from gateway.session.outbox import Outbox
from gateway.tape.entries import Call, Entry, Json, JsonMap
from gateway.tape.name import tape_name
from gateway.tape.store_memory import MemoryTapeStore
from gateway.turn.access import Access, Rules
from gateway.turn.approvals import Approvals
from gateway.turn.delivery import Delivery
from gateway.turn.desk import GatewayDesk
from gateway.turn.intake import Intake
from gateway.turn.pipeline import Pipeline, session_of
from gateway.turn.progress import Progress
from gateway.turn.work import Work
from tests.support.gate import Gate, ProcessClock

KEY = SessionKey("chat", "bot", "room")
ROUTE = Route("chat", "bot", "room")
HALL = SessionKey("chat", "bot", "hall")
ROOMS = (KEY, HALL)
WORKSPACE = "w"
TAPE = tape_name(WORKSPACE, str(KEY))
ADMIN = "ann"
TTL = 30.0

STORE = ("window", "fetch_all", "append", "claim", "merge", "reset", "recorded")
INBOX = ("put", "stop", "status", "take", "renew", "settle", "release")
OUTBOX = ("put", "take", "note", "renew", "done", "defer")


@dataclass(frozen=True)
class Sent:
    """One copy of one part as the chat shows it."""

    turn: str
    index: int
    text: str
    repeated: bool


class Chat:
    """A platform: keeps what was sent. Parts are short, so that replies have several."""

    name, account, can_send, health = "chat", "bot", True, Health("connected")

    def __init__(self) -> None:
        self.sent: list[Sent] = []

    async def run(self, receive: Any) -> None:
        await asyncio.Event().wait()

    def render(self, text: str) -> Sequence[Part]:
        return [Part(text[i : i + 24]) for i in range(0, len(text), 24)]

    async def send(self, reply: Reply, part: Part, *, index: int, of: int, repeated: bool) -> str:
        self.sent.append(Sent(reply.turn, index, part.text, repeated))
        return str(len(self.sent))


class Oracle:
    """A model whose answer names its number and every user text since the last answer: no two answers are alike."""

    name = "oracle"

    def __init__(self) -> None:
        self.calls = 0

    async def ask(self, messages: Sequence[JsonMap], tools: Sequence[ToolSpec]) -> AsyncIterator[Delta | ModelReply]:
        self.calls += 1
        number, last = self.calls, [m for m in messages if m["role"] != "system"]
        since = max((i for i, m in enumerate(last) if m["role"] == "assistant" and not m.get("tool_calls")), default=-1)
        texts = [str(m["content"]) for m in last[since + 1 :] if m["role"] == "user"]
        if texts and texts[-1].startswith("tool") and last[-1]["role"] != "tool":
            yield ModelReply("", (Call(f"c{number}", "press", "{}"),), None, "tool_calls")
            return
        yield ModelReply(f"#{number} " + " ".join(texts))


@dataclass
class World:
    """Everything that outlives a process."""

    clock: Clock
    inbox: Inbox
    outbox: Outbox
    store: Any
    chat: Chat = field(default_factory=Chat)
    model: Oracle = field(default_factory=Oracle)
    pressed: Counter[str] = field(default_factory=Counter)
    accepted: list[IncomingMessage] = field(default_factory=list)

    def __post_init__(self) -> None:
        rules = {"chat": Rules(admins=frozenset({ADMIN}), direct="open", group="open")}
        self.access = Access(rules, Approvals(self.store, WORKSPACE, self.clock))
        self.intake = self.intake_over(self.inbox, self.outbox, self.store)

    def intake_over(self, inbox: Any, outbox: Any, store: Any) -> Intake:
        """The door of one process, over its ports."""
        desk = GatewayDesk(store, WORKSPACE, inbox, outbox, self.access)
        return Intake(inbox, outbox, store, WORKSPACE, self.access, desk, self.clock, redact=str)

    def message(
        self, text: str, author: str = ADMIN, number: int | None = None, room: SessionKey = KEY
    ) -> IncomingMessage:
        """The next message of the room. Ids rise with the order of arrival."""
        number = len(self.accepted) if number is None else number
        now, route = self.clock.now(), Route(room.channel, room.account, room.conversation)
        return IncomingMessage(
            MessageId(f"chat/bot/{number:03}"),
            room,
            route,
            Author(author, author),
            text,
            now,
            now,
            reply_to=str(number),
        )

    async def say(self, text: str, author: str = ADMIN, room: SessionKey = KEY) -> IncomingMessage:
        """A person writes; returns when the platform may be told."""
        message = self.message(text, author, room=room)
        self.accepted.append(message)
        await self.intake.receive(message)
        return message

    async def entries(self, room: SessionKey = KEY) -> list[list[Entry]]:
        """The archives, oldest first, and then the tape."""
        tape = self.store._tape(tape_name(WORKSPACE, str(room)))
        return [*tape.archives, tape.entries]


class Process:
    """One gateway process: the real pipeline and the real delivery over gated ports."""

    def __init__(self, world: World, gate: Gate) -> None:
        self.world, self.gate, self.clock = world, gate, ProcessClock(world.clock)
        self.inbox = gate.wrap("inbox", world.inbox, INBOX)
        outbox = gate.wrap("outbox", world.outbox, OUTBOX)
        store = gate.wrap("store", world.store, STORE)
        self.chat = _GatedChat(world.chat, gate)
        tool = Tool(ToolSpec("press", "press the button", {"type": "object", "properties": {}}), self._press)
        agent = Agent(_GatedModel(world.model, gate), [tool], clock=self.clock, system_prompt="")
        desk = GatewayDesk(store, WORKSPACE, self.inbox, outbox, world.access)
        progress = Progress(lambda _route: None, self.clock, str)
        work = Work(
            store=store,
            agent=agent,
            desk=desk,
            access=world.access,
            progress=progress,
            clock=self.clock,
            redact=lambda value: value,
        )
        self.pipeline = Pipeline(store=store, workspace=WORKSPACE, inbox=self.inbox, work=work, clock=self.clock)
        self.outbox = outbox
        self.delivery = Delivery(
            outbox, store, WORKSPACE, lambda: [self.chat], self.clock, due=asyncio.Event(), redact=str, ttl=TTL
        )
        self.sessions: list[Any] = []

    async def turns(self) -> bool:
        """Takes one ready session and answers it. False if none was ready."""
        asked = self.clock.boot()
        try:
            held = await self.inbox.take()
        except Retryable:
            return True
        if held is None:
            return False
        held = replace(held, asked=asked)  # as this process' own clock says
        session = session_of(held, WORKSPACE, self.inbox, self.clock, ttl=TTL)
        self.sessions.append(session)
        try:
            async with session.lease.held():
                await self.pipeline.drain(session)
        except (Lost, Retryable):
            with suppress(Retryable):
                await self.inbox.release(held, after=0)
        return True

    async def deliveries(self) -> bool:
        """Takes one due reply and brings it out. False if none was due."""
        asked = self.clock.boot()
        try:
            parcel = await self.outbox.take([("chat", "bot")])
        except Retryable:
            return True
        if parcel is None:
            return False
        parcel = replace(parcel, asked=asked)
        with suppress(Lost, Retryable):
            await self.delivery.deliver(parcel)
        return True

    async def _press(self, context: ToolContext, _arguments: JsonMap) -> Json:
        await self.gate.at("tool.press:before")
        self.world.pressed[f"{context.turn}"] += 1
        await self.gate.at("tool.press:after")
        return "pressed"


class _GatedChat(Chat):
    def __init__(self, chat: Chat, gate: Gate) -> None:
        super().__init__()
        self.sent, self._gate = chat.sent, gate

    async def send(self, reply: Reply, part: Part, *, index: int, of: int, repeated: bool) -> str:
        await self._gate.at("chat.send:before")
        found = await super().send(reply, part, index=index, of=of, repeated=repeated)
        await self._gate.at("chat.send:after")
        return found


class _GatedModel:
    name = "oracle"

    def __init__(self, model: Oracle, gate: Gate) -> None:
        self._model, self._gate = model, gate

    async def ask(self, messages: Sequence[JsonMap], tools: Sequence[ToolSpec]) -> AsyncIterator[Delta | ModelReply]:
        await self._gate.at("model.ask:before")
        async for piece in self._model.ask(messages, tools):
            await self._gate.at("model.ask:after")
            yield piece


def memory_world(clock: Clock, server: Any, inbox: Inbox, outbox: Outbox, store: Any = None) -> World:
    """A world whose store is in memory."""
    return World(clock, inbox, outbox, store or MemoryTapeStore(clock=clock, workspace=WORKSPACE))
