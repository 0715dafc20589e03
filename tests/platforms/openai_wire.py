"""Answers of a model in the shapes of the chat completions API: one JSON object, or server-sent events."""

import json
from collections.abc import Iterator, Mapping, Sequence

from tests.platforms.openai_answers import Json, Request, Text, ToolCalls
from tests.platforms.openai_rules import estimate


def completion(request: Request, answer: Text | ToolCalls, number: int, *, finished: bool = True) -> Json:
    """A whole answer."""
    message: Json = {"role": "assistant", "content": answer.text}
    if isinstance(answer, ToolCalls):
        calls = tool_calls(answer, number)
        message |= {"content": answer.text or None, "tool_calls": [_without_index(call) for call in calls]}
    choice = {"index": 0, "message": message, "finish_reason": finish(answer) if finished else None, "logprobs": None}
    head = _head(request, number, "chat.completion")
    return head | {"choices": [choice], "usage": usage(request, answer)}


def chunks(request: Request, answer: Text | ToolCalls, number: int) -> Iterator[Json]:
    """The pieces of an answer's content; `ending` closes them."""
    deltas: list[Json] = [{"content": piece} for piece in pieces(answer.text, getattr(answer, "chunks", 2))]
    if isinstance(answer, ToolCalls):
        for call in tool_calls(answer, number):
            function = call["function"]
            opening = call | {"function": {"name": function["name"], "arguments": ""}}
            deltas.append({"tool_calls": [opening]})
            for piece in pieces(function["arguments"], 2):
                deltas.append({"tool_calls": [{"index": call["index"], "function": {"arguments": piece}}]})
    for at, delta in enumerate(deltas or [{"content": ""}]):
        yield chunk(request, number, {"role": "assistant", **delta} if at == 0 else delta)


def ending(request: Request, answer: Text | ToolCalls, number: int) -> Iterator[Json]:
    """The chunk with the finish reason and, where it was asked for, one with the usage and no choices."""
    yield chunk(request, number, {}, finish(answer))
    if (request.body.get("stream_options") or {}).get("include_usage"):
        yield _head(request, number, "chat.completion.chunk") | {"choices": [], "usage": usage(request, answer)}


def chunk(request: Request, number: int, delta: Json, reason: str | None = None) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
    return _head(request, number, "chat.completion.chunk") | {"choices": [choice]}


def event(data: Json | str) -> bytes:
    """One server-sent event."""
    return f"data: {data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)}\n\n".encode()


def finish(answer: Text | ToolCalls) -> str:
    return "tool_calls" if isinstance(answer, ToolCalls) else answer.finish


def usage(request: Request, answer: Text | ToolCalls) -> Mapping[str, int]:
    if isinstance(answer, Text) and answer.usage is not None:
        return answer.usage
    prompt = estimate(request.messages, request.tools)
    written = answer.text + "".join(map(str, answer.calls if isinstance(answer, ToolCalls) else ()))
    made = -(-len(written) // 4)
    return {"prompt_tokens": prompt, "completion_tokens": made, "total_tokens": prompt + made}


def tool_calls(answer: ToolCalls, number: int) -> Sequence[Json]:
    """Calls with ids that no other answer of this server uses, unless the script gives its own."""
    ids = answer.ids or [f"call_{number}_{at}" for at in range(len(answer.calls))]
    return [
        {
            "index": at,
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)},
        }
        for at, (call_id, (name, arguments)) in enumerate(zip(ids, answer.calls, strict=True))
    ]


def pieces(text: str, count: int) -> Iterator[str]:
    """A text in at most `count` pieces of about the same length."""
    size = max(1, -(-len(text) // max(1, count)))
    for at in range(0, len(text), size):
        yield text[at : at + size]


def _without_index(call: Json) -> Json:
    return {key: value for key, value in call.items() if key != "index"}


def _head(request: Request, number: int, kind: str) -> Json:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": int(request.at), "model": request.model}
