"""P14 at the borders of a turn: planted keys reach neither a journal, nor a tape, nor the outbox, nor a chat."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.agent.loop import Agent
from gateway.agent.model import ModelReply, ToolSpec
from gateway.agent.tool import Tool
from gateway.errors import Refused
from gateway.message import Author
from gateway.redact import Redactor
from gateway.tape.entries import Call, Draft, Event, Message, Meta, ToolCall
from gateway.tape.fork import Appended, Returned
from gateway.tape.journal import cleaned
from gateway.turn.delivery import Delivery
from gateway.turn.work import Work
from tests.faults.stage import Actor, Stage
from tests.support.world import ADMIN, TAPE

KEY = "hunter2-hunter2"
REDACTOR = Redactor([KEY])


class Leaky:
    """A model that says its key, beside a call and in its arguments, and at the end."""

    name = "leaky"

    async def ask(self, messages: Any, tools: Any) -> Any:
        if messages[-1]["role"] != "tool":
            yield ModelReply(f"with {KEY}", (Call("c1", "leak", f'{{"key": "{KEY}"}}'),), None, "tool_calls")
        else:
            yield ModelReply(f"the key is {KEY}")


async def leak(_context: Any, arguments: Any) -> Any:
    return {"nested": [{KEY: arguments["key"]}]}


async def fail(_context: Any, _arguments: Any) -> Any:
    raise Refused(f"https://user:{KEY}@host said no")


class Room:
    """A stage whose processes redact, and everything that they wrote down."""

    def __init__(self, tool: Callable[[Any, Any], Any] = leak) -> None:
        self.stage, self.tool = Stage(), Tool(ToolSpec("leak", "", {"type": "object"}), tool)
        self.written: list[Any] = []
        world = self.stage.world
        world.intake._redact = REDACTOR.redact
        written, write = self.written, world.store.write

        def journaled(claim: Any, op: Any) -> None:
            written.append(op)
            write(claim, op)

        world.store.write = journaled

    def actor(self) -> Actor:
        actor = self.stage.actor()
        process: Any = actor._process
        work: Work = process.pipeline._work
        work._redact = REDACTOR.redact_values
        work._agent = Agent(Leaky(), [self.tool], clock=process.clock, system_prompt="")
        process.delivery._redact = REDACTOR.redact
        return actor

    def everything(self) -> str:
        server, tape = self.stage.server.state, self.stage.world.store._tape(TAPE)
        return repr([server, tape, self.written, self.stage.world.chat.sent])


def _events(room: Room) -> list[Event]:
    return [entry.fact for entry in room.stage.world.store._tape(TAPE).entries if isinstance(entry.fact, Event)]


@pytest.mark.parametrize("tool", [leak, fail], ids=["result", "error"])
async def test_what_the_model_and_its_tools_say_is_redacted_before_it_is_journaled(tool: Any) -> None:
    room = Room(tool)
    await room.stage.world.say("go on")
    await room.actor().all()

    assert room.stage.world.chat.sent
    assert "[redacted]" in repr(room.written)
    assert KEY not in room.everything()


async def test_what_people_write_and_call_themselves_is_redacted_when_it_is_accepted() -> None:
    room = Room()
    world = room.stage.world
    for number, text in enumerate(
        [f"my key is {KEY}", f"/handoff {KEY} and {KEY}", f"/search {KEY}", f"/nonsense {KEY}"]
    ):
        message = replace(world.message(text, number=number), author=Author(ADMIN, f"Ann {KEY}"))
        await world.intake.receive(message)
    await world.intake.receive(world.message(f"/status {KEY}", number=9))
    assert KEY not in room.everything(), "it waits in the queue"
    await room.actor().all()

    assert KEY not in room.everything()
    names = [e.fact.name for e in world.store._tape(TAPE).entries if isinstance(e.fact, Event)]
    assert names.count("command") == 4


async def test_an_answer_that_quotes_an_old_tape_is_redacted() -> None:
    """A tape that another program wrote may hold what this one would not have written."""
    room = Room()
    old = Event("note", {"text": f"teapot {KEY}"})
    await room.stage.world.store.append(TAPE, [Draft(old, room.stage.clock.now(), Meta(context=False))])
    await room.stage.world.say("/search teapot")
    await room.actor().all()

    assert "teapot [redacted]" in "".join(part.text for part in room.stage.world.chat.sent)
    assert KEY not in repr(room.stage.world.store._tape(TAPE).entries[1:])


async def test_the_reason_of_a_refused_send_is_redacted_on_the_tape() -> None:
    room = Room()
    await room.stage.world.say("go on")
    actor = room.actor()
    await actor.all_turns()
    delivery: Delivery = actor._process.delivery

    async def send(*_args: Any, **_named: Any) -> str:
        raise Refused(f"POST https://api.telegram.org/bot123456:{KEY}/sendMessage failed")

    actor._process.chat.send = send
    await actor.all()

    assert delivery is actor._process.delivery
    [failed] = [fact for fact in _events(room) if fact.name == "delivery.failed"]
    assert "[redacted]" in str(failed.data["reason"])
    assert KEY not in room.everything()


def test_redacting_keeps_the_names_by_which_calls_and_results_find_each_other() -> None:
    redact, now = REDACTOR.redact_values, Stage().clock.now()
    step = cleaned(Appended(ToolCall((Call(KEY, "leak", f'{{"a": "{KEY}"}}'),), KEY), now), redact)
    result = cleaned(Returned(KEY, KEY, now), redact)

    assert step == Appended(ToolCall((Call(KEY, "leak", '{"a": "[redacted]"}'),), "[redacted]"), now)
    assert result == Returned(KEY, "[redacted]", now)
    words = Appended(Message("assistant", "nothing secret", {"n": 1}), now, context=False)
    assert cleaned(words, redact) == words


async def test_an_answer_of_the_control_lane_is_redacted() -> None:
    room = Room()
    message = replace(room.stage.world.message("/whoami"), author=Author(KEY, "Ann"))
    await room.stage.world.intake.receive(message)
    await room.actor().all()

    [fact] = [fact for fact in _events(room) if fact.name == "command"]
    noted = fact.data["answer"]
    assert KEY not in str(noted)
    assert KEY not in repr(room.stage.world.chat.sent)
    assert "Your id is `[redacted]`" in str(noted)
