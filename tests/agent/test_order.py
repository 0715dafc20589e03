"""Tools of one step write side by side, and the fork is still what its journal says."""

import asyncio

from gateway.tape.attempt import Attempt
from gateway.tape.entries import Event
from gateway.tape.fork import Op, note
from tests.agent.scripted import NOW, Notebook, turn


class Uneven(Notebook):
    """A journal whose first write takes the longest."""

    async def write(self, op: Op, *, durable: bool = False) -> None:
        self.ops.append(op)
        for _ in range(3 - len(self.ops)):
            await asyncio.sleep(0)


async def test_the_fork_takes_operations_in_the_order_of_the_journal() -> None:
    journal = Uneven()
    attempt = Attempt(turn().fork, journal)
    ops = [note(name, {}, NOW) for name in ("first", "second", "third")]
    await asyncio.gather(*(attempt.do(op) for op in ops))
    assert journal.ops == ops
    facts = [draft.fact for draft in attempt.fork.drafts[-3:]]
    assert [fact.name for fact in facts if isinstance(fact, Event)] == ["first", "second", "third"]
