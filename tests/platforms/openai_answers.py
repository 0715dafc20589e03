"""What a scripted model answers, and what may go wrong while it does (facts 6.1)."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One chat completion request as it arrived."""

    model: str
    messages: Sequence[Json]
    tools: Sequence[Json]
    stream: bool
    body: Json
    headers: Mapping[str, str]
    at: float

    @property
    def system(self) -> str:
        return "\n".join(text_of(m) for m in self.messages if m.get("role") in {"system", "developer"})

    @property
    def last_user(self) -> str:
        """The text of the last user message."""
        return next((text_of(m) for m in reversed(self.messages) if m.get("role") == "user"), "")

    @property
    def tool_names(self) -> tuple[str, ...]:
        return tuple(str(tool["function"]["name"]) for tool in self.tools)

    @property
    def results(self) -> tuple[str, ...]:
        """Tool results that stand after the last user message."""
        found: list[str] = []
        for message in reversed(self.messages):
            if message.get("role") == "user":
                break
            if message.get("role") == "tool":
                found.append(text_of(message))
        return tuple(reversed(found))

    @property
    def text(self) -> str:
        """All that the model sees, for `in` checks."""
        return json.dumps(self.messages, ensure_ascii=False)


def text_of(message: Json) -> str:
    """The text of a message whose content is a string, parts or nothing."""
    match message.get("content"):
        case str(text):
            return text
        case list(parts):
            return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
        case _:
            return ""


@dataclass(frozen=True, slots=True)
class Text:
    """A finished text, streamed in `chunks` pieces, `pause` seconds apart; `usage` overrides the estimate."""

    text: str
    chunks: int = 3
    finish: str = "stop"
    usage: Mapping[str, int] | None = None
    pause: float = 0


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """Calls of tools, after some text if given; raw strings as arguments go out as they are, broken ones too."""

    calls: Sequence[tuple[str, Json | str]]
    text: str = ""
    ids: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Error:
    """An error answer in OpenAI's shape, or with `raw` as its body (other providers' shapes, HTML, nothing)."""

    status: int
    code: str | None = None
    message: str = "The server had an error while processing your request. Sorry about that!"
    type: str = "invalid_request_error"
    headers: Mapping[str, str] = field(default_factory=dict)
    param: str | None = None
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class Overflow:
    """Refused for its size, whatever that is."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Silence until the event (or for some seconds) after so many chunks of the answer; 0: before the headers."""

    until: asyncio.Event | float
    then: "Text | ToolCalls" = Text("late")
    after_chunks: int = 0

    async def wait(self) -> None:
        match self.until:
            case asyncio.Event():
                await self.until.wait()
            case seconds:
                await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection is reset after so many chunks; 0: before any answer."""

    after_chunks: int = 1
    text: str = "this text is never finished"


@dataclass(frozen=True, slots=True)
class CleanEof:
    """The stream ends in good order after so many chunks, without finish_reason and without [DONE]."""

    after_chunks: int = 1
    text: str = "this text is never finished"


@dataclass(frozen=True, slots=True)
class ErrorInStream:
    """HTTP 200, some chunks, then an error object as data."""

    message: str = "Provider returned error"
    code: str | int | None = 502
    after_chunks: int = 1
    type: str = "server_error"


@dataclass(frozen=True, slots=True)
class JsonErrorWith200:
    """HTTP 200 and a JSON body with an error, also where a stream was asked for."""

    message: str = "Provider returned error"
    code: str | int | None = 400


@dataclass(frozen=True, slots=True)
class MalformedSSE:
    """A chunk that is no JSON after so many good ones."""

    after_chunks: int = 1


Answer = Text | ToolCalls | Error | Overflow | Stall | Cut | CleanEof | ErrorInStream | JsonErrorWith200 | MalformedSSE
Script = Callable[[Request], Answer | Awaitable[Answer]]

CALL: Final = re.compile(r"\bcall ([\w.-]+)(?:\s+(\{.*\}))?\s*$", re.DOTALL)


def echo(request: Request) -> Answer:
    """The script of a model nobody scripted.

    `call <tool> <json>` as (the end of) the last user text calls that tool; after its result, "echo: " and the results;
    everything else is answered by "echo: " and the user's text.
    """
    if request.results:
        return Text("echo: " + "\n".join(request.results))
    call = CALL.search(request.last_user)
    if call and (call.start() == 0 or call[1] in request.tool_names):
        return ToolCalls([(call[1], call[2] or "{}")])
    return Text(f"echo: {request.last_user}")
