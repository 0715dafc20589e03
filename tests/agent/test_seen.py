"""What a model saw can be shown again, to the byte."""

from collections.abc import Sequence

import pytest

from gateway.agent.model import ContextOverflow, ModelBusy, ToolSpec
from gateway.agent.model_demo import DemoModel
from gateway.agent.seen import NO_WORDS, digest, rebuilt, request
from gateway.tape.context import ChatMessage
from gateway.tape.entries import Draft, Entry, Event, Message, System
from tests.agent.room import Room
from tests.agent.scripted import NOW, Scripted, ScriptedModel, calls


def model_calls(tape: Sequence[Entry]) -> list[Entry]:
    return [e for e in tape if isinstance(e.fact, Event) and e.fact.name == "model.call"]


async def check(room: Room, name: str) -> int:
    """Rebuilds every call of the tape and compares; how many there were."""
    tape = await room.tape()
    for call in model_calls(tape):
        assert isinstance(call.fact, Event)
        assert digest(name, rebuilt(tape, call), room.agent.specs) == call.fact.data["sha256"]
    return len(model_calls(tape))


async def test_every_call_of_a_conversation_can_be_rebuilt_from_its_tape() -> None:
    """P11."""
    room = Room(DemoModel())
    for text in ("hello", "search hello", "handoff tea", "and now?", "info", "what time is it"):
        await room.say(text)
    assert await check(room, "demo") == 10


async def test_calls_around_an_overflow_a_retry_and_a_handoff_by_a_tool_can_be_rebuilt() -> None:
    """P11."""
    script: list[Scripted] = [
        "one",
        "two",
        calls(("tape_handoff", '{"name": "tea", "summary": "s"}')),
        ModelBusy("503"),
        "three",
        "four",
        ContextOverflow("1"),
        calls(("clock_now", "{}")),
        "five",
    ]
    model = ScriptedModel(script)
    room = Room(model)
    for text in ("a", "b", "c", "d", "e"):
        await room.say(text)
    assert await check(room, "scripted") == len(model.seen) == 9
    tape = await room.tape()
    assert [rebuilt(tape, call) for call in model_calls(tape)] == model.seen


async def test_a_changed_prompt_is_found_for_each_call() -> None:
    room = Room(ScriptedModel(["one", "two", "three"]))
    await room.say("a")
    room.agent.system_prompt = "Be brief."
    await room.say("b")
    room.agent.system_prompt = "Be kind."
    await room.say("c")
    assert await check(room, "scripted") == 3
    assert [e.fact.content for e in await room.tape() if isinstance(e.fact, System)] == [
        "Be kind.",
        "Be brief.",
        "Be kind.",
    ]


def test_the_digest_sees_every_part_and_no_order_of_keys() -> None:
    message: ChatMessage = {"role": "user", "content": "ä\ud800"}
    tool = ToolSpec("look", "looks", {"type": "object", "properties": {}})
    same = digest("m", [dict(reversed(list(message.items())))], [tool])
    assert same == digest("m", [message], [tool])
    others = [digest("n", [message], [tool]), digest("m", [], [tool]), digest("m", [message], [])]
    assert len({same, *others}) == 4


@pytest.mark.parametrize(
    ("texts", "last"), [((), NO_WORDS), (("hi",), "hi"), (("hi", "yes"), NO_WORDS), (("hi", "yes", " "), NO_WORDS)]
)
def test_a_request_ends_with_words_that_are_not_the_models(texts: tuple[str, ...], last: str) -> None:
    facts = [Draft(Message("assistant" if n % 2 else "user", text), NOW) for n, text in enumerate(texts)]
    assert request("Be kind.", facts)[-1] == {"role": "user", "content": last}
