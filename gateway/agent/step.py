"""The tools of one step, side by side."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from gateway.agent.answer import short
from gateway.agent.tool import TapeView, Tool, ToolContext
from gateway.errors import GatewayError, Lost
from gateway.message import Author, SessionKey, TurnId
from gateway.tape.attempt import Attempt
from gateway.tape.entries import Call, Draft, Entry, Json, ToolCall
from gateway.tape.fork import INTERRUPTED, Returned
from gateway.tape.plain import plain, read_map, whole


@dataclass(frozen=True, slots=True)
class Step:
    """Runs calls for one turn. Every call ends as one `Returned` in the journal, whatever its tool does."""

    attempt: Attempt
    tools: Mapping[str, Tool]
    session: SessionKey
    author: Author
    turn: TurnId
    tape: TapeView
    now: Callable[[], datetime]

    def durable(self, calls: Iterable[Call]) -> bool:
        """Whether the calls must be on disk before they start."""
        return any(call.name in self.tools and not self.tools[call.name].idempotent for call in calls)

    async def run(self, calls: Collection[Call]) -> None:
        """Each result is journaled as its tool ends. Lost and Broken end the others too."""
        try:
            async with asyncio.TaskGroup() as group:
                for call in calls:
                    group.create_task(self._one(call), name=f"tool {call.name}")
        except BaseExceptionGroup as errors:
            # The worker matches single errors; only what must pass through (Lost, Broken, a bug) gets here.
            raise min(errors.exceptions, key=lambda error: not isinstance(error, Lost)) from None
        # A tool that ended by a cancellation of its own left no result, and no step may begin while one is open.
        await self._interrupt(self.attempt.fork.unanswered)

    async def close(self) -> None:
        """Ends the step that an earlier attempt left open: a call that is not idempotent is not run a second time."""
        calls = self.attempt.fork.unanswered
        await self._interrupt(call for call in calls if call.name not in self.tools or self.durable([call]))
        await self.run(self.attempt.fork.unanswered)

    async def _interrupt(self, calls: Iterable[Call]) -> None:
        for call in calls:
            await self.attempt.do(Returned(call.id, {"error": INTERRUPTED}, self.now()))

    async def _one(self, call: Call) -> None:
        result = await self._result(call)
        await self.attempt.do(Returned(call.id, result, self.now()))

    async def _result(self, call: Call) -> Json:
        tool = self.tools.get(call.name)
        if tool is None:
            return {"error": f"there is no tool {call.name!r}; there are: {', '.join(self.tools) or 'none'}"}
        arguments = read_map(call.arguments or "{}")
        if arguments is None:
            return {"error": f"the arguments are not a JSON object: {short(call.arguments, 200)}"}
        context = ToolContext(self.session, self.author, self.turn, call.id, self.tape, self.attempt, self.now)
        try:
            return plain(await tool.run(context, arguments))
        except Lost:
            raise
        except Exception as error:  # a tool may fail in any way; whatever it is, the model can go on from its text
            # Our own errors are sentences already; another's text alone ("'x'") may say nothing.
            text = str(error) if isinstance(error, GatewayError) else f"{type(error).__name__}: {error}"
            return {"error": whole(short(text, 500))}


def unique(calls: Iterable[Call], facts: Iterable[Entry | Draft]) -> tuple[Call, ...]:
    """The calls with ids that none of the facts and no other of the calls has: some models count from 0 each time."""
    taken = {call.id for fact in facts if isinstance(fact.fact, ToolCall) for call in fact.fact.calls}
    renamed: list[Call] = []
    for call in calls:
        wanted, found, count = call.id or "call", call.id or "call", 1
        while found in taken:
            count += 1
            found = f"{wanted}_{count}"
        taken.add(found)
        renamed.append(Call(found, call.name, call.arguments))
    return tuple(renamed)
