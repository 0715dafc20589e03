"""The port of the models: messages and tools in, a stream of text and one reply out."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.errors import Refused, Retryable
from gateway.tape.context import ChatMessage
from gateway.tape.entries import Call, JsonMap


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool. `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: JsonMap


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of the text."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The whole answer of one call. `finish` is the provider's word: stop, tool_calls, length, content_filter..."""

    text: str
    calls: tuple[Call, ...] = ()
    usage: JsonMap | None = None
    finish: str = "stop"


class Model(Protocol):
    """Asked by the loop alone. Keeps nothing between two calls."""

    @property
    def name(self) -> str:
        """As it stands on the tape."""
        ...

    def ask(self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> AsyncIterator[Delta | ModelReply]:
        """Deltas as they come, then exactly one ModelReply that repeats them whole.

        Raises ModelBusy, ModelRefused or ContextOverflow, also in the middle of the stream. A caller that stops
        listening closes the iterator; that ends the call at the provider too.
        """
        ...


class ModelBusy(Retryable):
    """The provider cannot answer now, or answered with something that is no answer. Its text fits in brackets."""


class ModelRefused(Refused):
    """The provider will not answer this. The text is a sentence for the person.

    `kind` is that of the error fact: config, provider, invalid_input, not_found. `detail` is the provider's own text.
    """

    def __init__(self, message: str, *, kind: str = "provider", detail: str = "") -> None:
        super().__init__(message)
        self.kind, self.detail = kind, detail


class ContextOverflow(Refused):
    """The request does not fit into the model's context window. The text is the provider's."""
