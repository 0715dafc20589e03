"""Models behind the chat completions API: OpenAI's own and those of every compatible server."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from typing import Any

import openai
from openai import AsyncOpenAI, AsyncStream
from openai.types.chat import ChatCompletionChunk

from gateway.agent.failures_openai import BROKE_OFF, UNREADABLE, failure, failure_in_body
from gateway.agent.model import ContextOverflow, Delta, ModelBusy, ModelReply, ToolSpec
from gateway.tape.context import ChatMessage
from gateway.tape.entries import Call, JsonMap
from gateway.tape.plain import plain, whole

_NO_ROOM = "model_context_window_exceeded"


class OpenAIModel:
    """A `Model`. One client, kept for its connections: call `close` when it is no longer needed.

    `deadline` bounds a whole call and `silence` the time between two signs of life, in seconds. The SDK never repeats
    a call: the loop does.
    """

    def __init__(
        self, name: str, *, api_key: str, base_url: str | None = None, deadline: float = 600.0, silence: float = 120.0
    ) -> None:
        self.name = name
        self._deadline, self._counted = deadline, True
        timeout = openai.Timeout(silence, connect=10.0)
        self._client = AsyncOpenAI(api_key=api_key, base_url=base_url, max_retries=0, timeout=timeout)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def ask(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]
    ) -> AsyncIterator[Delta | ModelReply]:
        """See the port."""
        end = asyncio.get_running_loop().time() + self._deadline
        reply = _Reply()
        try:
            # A timeout must not be open over a `yield`: it would cancel whoever listens, not this call.
            async with asyncio.timeout_at(end):
                stream = await self._open(messages, tools)
            try:
                await _refuse_json(stream, end, self.name)
                chunks = aiter(stream)
                while True:
                    async with asyncio.timeout_at(end):
                        chunk = await anext(chunks, None)
                    if chunk is None:
                        break
                    try:
                        text = reply.add(chunk)
                    except (AttributeError, TypeError) as error:
                        raise ModelBusy(UNREADABLE) from error
                    if text:
                        yield Delta(text)
            finally:
                # Leaving the loop does not end the call at the provider; this does.
                await stream.close()
        except TimeoutError:
            raise ModelBusy("it took too long to answer") from None
        except openai.APIError as error:
            raise failure(error, self.name) from error
        except ValueError as error:  # a chunk that is no JSON: the SDK lets the decoder's error through
            raise ModelBusy(UNREADABLE) from error
        yield reply.finished()

    async def _open(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]
    ) -> AsyncStream[ChatCompletionChunk]:
        body: dict[str, Any] = {"model": self.name, "messages": [dict(message) for message in messages]}
        if tools:  # some servers refuse an empty list
            body["tools"] = [{"type": "function", "function": asdict(tool)} for tool in tools]
        if self._counted:
            body["stream_options"] = {"include_usage": True}
        try:
            stream: AsyncStream[ChatCompletionChunk] = await self._client.chat.completions.create(stream=True, **body)
        except openai.APIStatusError as error:
            if not (self._counted and error.status_code in (400, 422) and "stream_options" in error.response.text):
                raise
            self._counted = False  # a server that does not know the option answers without it
            return await self._open(messages, tools)
        return stream


async def _refuse_json(stream: AsyncStream[ChatCompletionChunk], end: float, model: str) -> None:
    """Raises for a body that is no stream: some servers send their errors with status 200."""
    if "json" in stream.response.headers.get("content-type", ""):
        async with asyncio.timeout_at(end):
            body = await stream.response.aread()
        raise failure_in_body(body.decode("utf-8", "replace"), model)


class _Reply:
    """A reply as it grows."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._half = ""
        self._slots: list[_Slot] = []
        self._by_index: dict[int, _Slot] = {}
        self._usage: JsonMap | None = None
        self._finish: str | None = None

    def add(self, chunk: ChatCompletionChunk) -> str:
        """Takes a chunk in; the new text. The SDK checks no field that a server sends, and leaves out the missing."""
        if chunk.usage is not None:
            usage = plain(chunk.usage.to_dict())
            self._usage = usage if isinstance(usage, dict) else None
        text = ""
        for choice in getattr(chunk, "choices", None) or ():
            self._finish = choice.finish_reason or self._finish
            if (delta := getattr(choice, "delta", None)) is None:
                continue
            if isinstance(delta.content, str):
                text += delta.content
            for piece in delta.tool_calls or ():
                slot = self._slot(getattr(piece, "index", None), piece.id or "")
                slot.id = slot.id or piece.id or ""
                if function := piece.function:
                    slot.name = slot.name or function.name or ""
                    slot.arguments += _arguments(function.arguments)
        text = self._joined(text)
        self._text.append(text)
        return text

    def _joined(self, text: str) -> str:
        """The text with characters put together that a server cut into two escapes."""
        text, self._half = self._half + text, ""
        if text[-1:] >= "\ud800" and text[-1:] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return whole(text)

    def _slot(self, index: int | None, call_id: str) -> "_Slot":
        """The call that a piece belongs to. Some servers send no index, or 0 for each of several calls."""
        known = self._by_index.get(index) if index is not None else self._slots[-1] if self._slots else None
        if known is None or (call_id and known.id and call_id != known.id):
            known = _Slot()
            self._slots.append(known)
        if index is not None:
            self._by_index[index] = known
        return known

    def finished(self) -> ModelReply:
        """The whole. Raises for a stream that ended too early, however orderly."""
        text = "".join(self._text)
        calls = tuple(Call(whole(s.id), whole(s.name), whole(s.arguments)) for s in self._slots)
        match self._finish:
            case None | "error":
                raise ModelBusy(BROKE_OFF)
            case "length" if not text and not calls and not (self._usage or {}).get("completion_tokens", 1):
                raise ContextOverflow("the prompt left no room for an answer")
            case str(reason) if reason == _NO_ROOM and not text and not calls:
                raise ContextOverflow(f"finish_reason {_NO_ROOM}")
            case str(reason):
                return ModelReply(text, calls, self._usage, "length" if reason == _NO_ROOM else reason)


class _Slot:
    """One call as it grows."""

    def __init__(self) -> None:
        self.id, self.name, self.arguments = "", "", ""


def _arguments(piece: object) -> str:
    if piece is None:
        return ""
    return piece if isinstance(piece, str) else json.dumps(piece, ensure_ascii=False)
