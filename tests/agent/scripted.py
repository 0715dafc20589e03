"""A model that says what a test scripts, and turns to run it in."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeAlias

from gateway.agent.answer import Answer
from gateway.agent.loop import Agent, Run
from gateway.agent.model import Delta, Model, ModelReply, ToolSpec
from gateway.agent.tool import Tool, ToolContext
from gateway.message import Author, IncomingMessage, MessageId, Route, SessionKey
from gateway.tape.attempt import Attempt
from gateway.tape.context import ChatMessage
from gateway.tape.entries import Anchor, Call, Draft, Entry, Event, Json, JsonMap, Message
from gateway.tape.fork import Fork, Op, bootstrap, words
from gateway.tape.window import Window
from tests.platforms import openai_rules
from tests.support.clock import InstantClock

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
SESSION = SessionKey("web", "gateway", "room")
AUTHOR = Author("u1", "Ada")

Scripted: TypeAlias = str | ModelReply | Exception
Script: TypeAlias = Callable[[Sequence[ChatMessage]], Scripted]


class PatientClock(InstantClock):
    """Waits for nothing and remembers how long it was asked to."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    async def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        await super().wait(seconds)


class ScriptedModel:
    """A `Model` that refuses what a strict provider refuses, and streams a text in pieces of three letters.

    `answers` is a list that is used up, or a function of the messages.
    """

    name = "scripted"

    def __init__(self, answers: Sequence[Scripted] | Script) -> None:
        self._answers = answers if callable(answers) else list(answers)
        self.seen: list[list[ChatMessage]] = []

    async def ask(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]
    ) -> AsyncIterator[Delta | ModelReply]:
        openai_rules.check({"model": self.name, "messages": [dict(m) for m in messages]}, strict=True)
        self.seen.append(list(messages))
        answer = self._answers(messages) if callable(self._answers) else self._answers.pop(0)
        match answer:
            case Exception():
                raise answer
            case str(text):
                answer = ModelReply(text, usage={"prompt_tokens": 10, "completion_tokens": 2})
            case ModelReply():
                pass
        for at in range(0, len(answer.text), 3):
            yield Delta(answer.text[at : at + 3])
        yield answer


def calls(*asked: tuple[str, str] | tuple[str, str, str], text: str = "") -> ModelReply:
    """A reply that asks for tools: (name, arguments) or (name, arguments, id)."""
    made = tuple(Call(a[2] if len(a) == 3 else f"c{n}", a[0], a[1]) for n, a in enumerate(asked))
    return ModelReply(text, made, {"prompt_tokens": 5}, "tool_calls")


@dataclass
class Notebook:
    """A journal in memory."""

    ops: list[Op] = field(default_factory=list)
    durable: list[Op] = field(default_factory=list)

    async def write(self, op: Op, *, durable: bool = False) -> None:
        self.ops.append(op)
        if durable:
            self.durable.append(op)


class NoHistory:
    """A tape view that has nothing but the running fork."""

    def __init__(self, fork: Fork) -> None:
        self.fork = fork

    async def entries(self) -> Sequence[Entry | Draft]:
        return (*self.fork.base.entries, *self.fork.drafts)


def incoming(text: str, number: int = 1) -> IncomingMessage:
    route = Route(SESSION.channel, SESSION.account, SESSION.conversation)
    return IncomingMessage(MessageId(f"web/gateway/{number}"), SESSION, route, AUTHOR, text, NOW, NOW)


def past(*texts: str) -> Window:
    """A window with an anchor and these words, the user's and the assistant's in turn."""
    roles = ("user", "assistant")
    told = tuple(Entry(3 + n, Message(roles[n % 2], text), NOW) for n, text in enumerate(texts))
    anchor = Entry(1, Anchor("session/start"), NOW)
    event = Entry(2, Event("handoff"), NOW)
    return Window("t", 2 + len(told), 1, anchor, (event, *told))


def turn(text: str = "hello", base: Window | None = None) -> Attempt:
    """A turn that nobody has worked on."""
    asked = [incoming(text)]
    fork = Fork(
        base or Window("t"),
        asked[0].turn,
        opening=bootstrap(str(SESSION), NOW, asked[0].turn, {"by": "gateway"}),
        words=words(asked),
    )
    return Attempt(fork, Notebook())


def journal(attempt: Attempt) -> Notebook:
    notebook = attempt._journal
    assert isinstance(notebook, Notebook)
    return notebook


async def go(
    model: Model, attempt: Attempt, *tools: Tool, heard: Callable[[str], None] | None = None, **settings: object
) -> Answer:
    """Runs the loop to its end."""
    clock = settings.pop("clock", None) or PatientClock()
    agent = Agent(model, tools, clock=clock, system_prompt="Be kind.", **settings)  # type: ignore[arg-type]
    run = Run(SESSION, AUTHOR, attempt.fork.turn, NoHistory(attempt.fork))
    return await agent.run(attempt, replace(run, heard=heard) if heard else run)


def tool(
    name: str, result: "Json | Exception" = "done", *, idempotent: bool = False, ran: list[str] | None = None
) -> Tool:
    """A tool that answers with one thing, and notes the ids of the calls that it ran for."""

    async def run(context: ToolContext, arguments: JsonMap) -> Json:
        if ran is not None:
            ran.append(context.call)
        if isinstance(result, Exception):
            raise result
        return result

    return Tool(ToolSpec(name, f"{name} something", {"type": "object", "properties": {}}), run, idempotent)


def events(attempt: Attempt, name: str) -> list[JsonMap]:
    """The data of the turn's events of this name."""
    return [d.fact.data for d in attempt.fork.drafts if isinstance(d.fact, Event) and d.fact.name == name]
