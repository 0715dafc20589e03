"""The agent loop: view -> model -> text, or tool calls -> results -> ... until there is something to say."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from gateway.agent import seen
from gateway.agent.answer import (
    NOT_REACHABLE,
    TOO_MANY_STEPS,
    Answer,
    judge,
    may_be_shown,
    readable,
    short,
    too_large,
)
from gateway.agent.model import ContextOverflow, Delta, Model, ModelBusy, ModelRefused, ModelReply
from gateway.agent.step import Step, unique
from gateway.agent.tool import TapeView, Tool
from gateway.clock import Clock
from gateway.message import Author, SessionKey, TurnId
from gateway.tape.attempt import Attempt
from gateway.tape.entries import Error, Event, Json, JsonMap, Message, System, ToolCall, ToolResult
from gateway.tape.fork import Appended, Fork, HandedOff, Said, note

OVERFLOW = "auto_handoff/context_overflow"
"""The anchor that the loop itself puts before a turn that does not fit, once a turn."""


def _nobody(_text: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Run:
    """For whom a turn runs. `heard` is told the text so far while the model speaks; it must return at once."""

    session: SessionKey
    author: Author
    turn: TurnId
    tape: TapeView
    heard: Callable[[str], None] = _nobody


class Agent:
    """A model and its tools. Holds nothing of a turn, so that any number may run side by side.

    `context_window` in tokens, where it is known. `waits` are the seconds before each repeated call of a busy model;
    a delay that the provider names replaces one of them, and all waits of a turn stay within `patience`.
    """

    def __init__(
        self,
        model: Model,
        tools: Sequence[Tool],
        *,
        clock: Clock,
        system_prompt: str,
        max_steps: int = 32,
        context_window: int | None = None,
        waits: Sequence[float] = (1.0, 2.0, 4.0),
        patience: float = 60.0,
    ) -> None:
        self.model, self.clock, self.system_prompt = model, clock, system_prompt
        self.tools = {tool.spec.name: tool for tool in tools}
        self.specs = tuple(tool.spec for tool in tools)
        self.max_steps, self.context_window = max_steps, context_window
        self.waits, self.patience = tuple(waits), patience

    async def run(self, attempt: Attempt, run: Run) -> Answer:
        """Goes on from what the attempt has done already, until its fork has said something. Safe to repeat.

        A model that cannot answer ends as a plain sentence with the outcome `failed`. Raises Lost, and Broken.
        """
        if attempt.fork.said is None:
            return await _Turn(self, attempt, run).answer()
        return Answer(attempt.fork.said, _outcome(attempt.fork))


class _Turn:
    """One run of the loop."""

    def __init__(self, agent: Agent, attempt: Attempt, run: Run) -> None:
        self._agent, self._attempt, self._run = agent, attempt, run
        self._fork = attempt.fork
        self._step = Step(attempt, agent.tools, run.session, run.author, run.turn, run.tape, agent.clock.now)
        self._began = agent.clock.boot()
        self._waited = 0.0

    async def answer(self) -> Answer:
        if not _notes(self._fork, "loop.start"):
            await self._note("loop.start", {"model": self._agent.model.name})
        await self._step.close()
        try:
            answer = await self._work()
        except ModelBusy as busy:
            answer = await self._failed("temporary", str(busy), NOT_REACHABLE.format(reason=short(str(busy), 120)))
        except ModelRefused as refused:
            answer = await self._failed(refused.kind, refused.detail or str(refused), str(refused))
        except ContextOverflow as overflow:
            answer = await self._failed("invalid_input", str(overflow), self._what_is_too_large())
        usage = _usage(self._fork)
        await self._note("run", {"model": self._agent.model.name, "status": answer.outcome, "usage": usage})
        await self._attempt.do(Said(answer.text, self._agent.clock.now()))
        return answer

    async def _work(self) -> Answer:
        second_chance = True
        while self._fork.steps < self._agent.max_steps:
            self._began = self._agent.clock.boot()
            reply = await self._ask()
            if reply.calls:
                await self._use(reply)
                await self._stepped("continue", reply.usage)
                continue
            judged = judge(reply, self._agent.tools)
            if isinstance(judged, Answer):
                await self._stepped("ok" if judged.outcome == "finished" else "error", reply.usage)
                return judged
            await self._stepped("unusable", reply.usage)
            if not second_chance:
                return await self._failed("provider", judged.sentence, judged.sentence)
            second_chance = False
        sentence = TOO_MANY_STEPS.format(steps=self._agent.max_steps)
        return await self._failed("unknown", sentence, sentence)

    async def _use(self, reply: ModelReply) -> None:
        calls = unique(reply.calls, self._fork.view)
        step = ToolCall(calls, reply.text)
        await self._attempt.do(Appended(step, self._agent.clock.now()), durable=self._step.durable(calls))
        await self._step.run(calls)

    async def _ask(self) -> ModelReply:
        """One reply. An overflow spends the turn's one handoff, if there is anything that it would take out of view."""
        window = self._agent.context_window
        if window is not None and self._estimate() > window and self._may_hand_off():
            await self._hand_off(f"the request is about {self._estimate()} tokens, the window {window}")
        try:
            return await self._patiently()
        except ContextOverflow as overflow:
            if not self._may_hand_off():
                raise
            await self._hand_off(str(overflow))
        return await self._patiently()

    def _may_hand_off(self) -> bool:
        # Once a turn, over all its attempts: a handoff leaves nothing of the past in view, so there is no second.
        return seen.shows_past(self._fork)

    async def _hand_off(self, error: str) -> None:
        state: JsonMap = {"reason": "context_length_exceeded", "error": short(error, 200)}
        cause: JsonMap = {"by": "gateway", "via": "overflow"}
        await self._attempt.do(HandedOff(OVERFLOW, state, self._agent.clock.now(), cause))
        await self._stepped("auto_handoff", None)

    async def _patiently(self) -> ModelReply:
        """One reply from a model that may be busy for a while."""
        waits = iter(self._agent.waits)
        while True:
            try:
                return await self._once()
            except ModelBusy as busy:
                wait = next(waits, None)
                if wait is None:
                    raise
                wait = wait if busy.after is None else busy.after
                if self._waited + wait > self._agent.patience:
                    raise
                self._waited += wait
                await self._agent.clock.wait(wait)

    async def _once(self) -> ModelReply:
        agent, prompt = self._agent, self._agent.system_prompt
        if prompt and seen.system_shown(self._fork) != prompt:
            await self._attempt.do(Appended(System(prompt), agent.clock.now(), context=False))
        messages = seen.request(prompt, self._fork.view)
        event = seen.model_call(self._fork, agent.model.name, prompt, messages, agent.specs)
        await self._attempt.do(Appended(event, agent.clock.now(), context=False))
        stream = agent.model.ask(messages, agent.specs)
        text = ""
        try:
            async for piece in stream:
                match piece:
                    case Delta(more):
                        text += more
                        if may_be_shown(text):
                            self._run.heard(text)
                    case ModelReply():
                        return piece
        finally:
            # Left open, a stream that nobody listens to any more keeps its connection until it is collected.
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
        raise ModelBusy("its answer broke off")

    async def _failed(self, kind: str, error: str, sentence: str) -> Answer:
        await self._attempt.do(Appended(Error(kind, short(error, 500)), self._agent.clock.now()))
        await self._stepped("error", None)
        return Answer(sentence, "failed")

    async def _stepped(self, status: str, usage: JsonMap | None) -> None:
        elapsed = round(self._agent.clock.boot() - self._began, 3)
        counted: dict[str, Json] = {} if usage is None else {"usage": dict(usage)}
        await self._note("loop.step", {"step": self._fork.steps, "status": status, "elapsed": elapsed, **counted})

    async def _note(self, name: str, data: JsonMap) -> None:
        await self._attempt.do(note(name, data, self._agent.clock.now()))

    def _estimate(self) -> int:
        messages = seen.request(self._agent.system_prompt, self._fork.view)
        return sum(len(readable(part)) for part in (*messages, *(spec.parameters for spec in self._agent.specs))) // 4

    def _what_is_too_large(self) -> str:
        sizes = {"the bot's own instructions and tools": len(self._agent.system_prompt)}
        sizes["the bot's own instructions and tools"] += sum(len(readable(s.parameters)) for s in self._agent.specs)
        for draft in self._fork.drafts:
            match draft.fact:
                case Message("user", content):
                    sizes["your message"] = sizes.get("your message", 0) + len(readable(content))
                case ToolResult(results):
                    sizes["what the tools answered"] = sizes.get("what the tools answered", 0) + len(readable(results))
                case _:
                    pass
        return too_large(sizes, alone=OVERFLOW not in self._fork.handed_off)


def _notes(fork: Fork, name: str) -> list[JsonMap]:
    return [d.fact.data for d in fork.drafts if isinstance(d.fact, Event) and d.fact.name == name]


def _outcome(fork: Fork) -> Literal["finished", "failed"]:
    runs = _notes(fork, "run")
    return "failed" if runs and runs[-1].get("status") == "failed" else "finished"


def _usage(fork: Fork) -> dict[str, Json]:
    """The counts of all calls of the turn that were answered, those of earlier attempts included."""
    total: dict[str, int] = {}
    for step in _notes(fork, "loop.step"):
        usage = step.get("usage")
        for key, count in usage.items() if isinstance(usage, dict) else ():
            if isinstance(count, int):
                total[key] = total.get(key, 0) + count
    return dict(total)
