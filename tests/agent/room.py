"""A conversation on a tape in memory: each message is a whole turn, merged as the pipeline would."""

from collections.abc import Sequence

from gateway.agent.answer import Answer
from gateway.agent.loop import Agent, Run
from gateway.agent.model import Model
from gateway.agent.tape_view import ForkedTape
from gateway.agent.tool import Tool
from gateway.message import Reply
from gateway.tape.attempt import Attempt
from gateway.tape.entries import Entry
from gateway.tape.fork import Fork, bootstrap, words
from gateway.tape.query import Query
from gateway.tape.store_memory import MemoryTapeStore
from gateway.tape.window import Recorded
from gateway.tools import TOOLS
from tests.agent.scripted import AUTHOR, NOW, SESSION, PatientClock, incoming


class Room:
    """One session with one agent."""

    def __init__(self, model: Model, tools: Sequence[Tool] = TOOLS, **settings: int) -> None:
        self.clock = PatientClock()
        self.agent = Agent(
            model, tools, clock=self.clock, system_prompt="Be kind.", context_window=settings.get("context_window")
        )
        self.store = MemoryTapeStore()
        self._count = 0

    async def say(self, text: str) -> Answer:
        """A turn: claimed, run and merged."""
        self._count += 1
        message = incoming(text, self._count)
        claim = await self.store.claim("t", [message])
        window = await self.store.window("t")
        opening = bootstrap(str(SESSION), NOW, message.turn, {"by": "gateway"})
        fork = Fork(window, message.turn, opening=opening, words=words(claim.messages))
        attempt = Attempt(fork, claim)
        attempt.replay(claim.ops)
        run = Run(SESSION, AUTHOR, message.turn, ForkedTape(self.store, fork))
        answer = await self.agent.run(attempt, run)
        reply = Reply(message.turn, SESSION, message.route, answer.text)
        await self.store.merge(claim, fork, Recorded(message.turn, (message.id,), answer.outcome, reply))
        return answer

    async def tape(self) -> Sequence[Entry]:
        """All entries."""
        return await self.store.fetch_all(Query("t"))
