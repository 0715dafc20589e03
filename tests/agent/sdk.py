"""The real SDK, and what it hears."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from gateway.agent.model import Delta, ModelReply, ToolSpec
from gateway.agent.model_openai import OpenAIModel
from gateway.tape.context import ChatMessage

HELLO: Sequence[ChatMessage] = [{"role": "user", "content": "hello"}]
LOOK = ToolSpec("look", "looks", {"type": "object", "properties": {}})


@asynccontextmanager
async def model_at(url: str, *, deadline: float = 30.0, silence: float = 30.0) -> AsyncIterator[OpenAIModel]:
    model = OpenAIModel("fake-model", api_key="k", base_url=url, deadline=deadline, silence=silence)
    try:
        yield model
    finally:
        await model.close()


async def listen(model: OpenAIModel, *tools: ToolSpec) -> tuple[list[str], ModelReply]:
    """The pieces and the one reply at the end."""
    pieces = [piece async for piece in model.ask(HELLO, tools)]
    *deltas, reply = pieces
    assert isinstance(reply, ModelReply)
    return [d.text for d in deltas if isinstance(d, Delta)], reply
