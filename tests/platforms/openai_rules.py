"""What a provider refuses before it runs a model, in the words of the providers that do.

Unless a line says otherwise the wording is OpenAI's. `strict` adds what only some providers refuse (facts 6): the
portable client obeys all of them.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from tests.platforms.openai_answers import Json, text_of

ROLES: Final = ("system", "assistant", "user", "function", "tool", "developer")
TOOL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]+")
NOT_JSON: Final = (
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library "
    "correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble "
    "figuring out how to fix this, please contact us through our help center at help.openai.com.)"
)


class Refused(Exception):
    """An error answer: its status, and the four fields of OpenAI's error object."""

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        code: str | int | None = None,
        kind: str = "invalid_request_error",
        status: int = 400,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error: Json = {"message": message, "type": kind, "param": param, "code": code}


def estimate(messages: Sequence[Json], tools: Sequence[Json] = ()) -> int:
    """Tokens at four characters each, over texts, calls and tool schemas."""
    characters = sum(len(text_of(message)) for message in messages)
    characters += sum(len(json.dumps(message["tool_calls"])) for message in messages if message.get("tool_calls"))
    characters += sum(len(json.dumps(tool, ensure_ascii=False)) for tool in tools)
    return -(-characters // 4)


def check_window(body: Json, window: int) -> None:
    """Refuse what does not fit, the room asked for the answer included."""
    size = estimate(body["messages"], body.get("tools") or ())
    room = int(body.get("max_completion_tokens") or body.get("max_tokens") or 0)
    if size + room <= window:
        return
    found, advice = f"your messages resulted in {size} tokens", "messages"
    if room:
        found = f"you requested {size + room} tokens ({size} in the messages, {room} in the completion)"
        advice = "messages or completion"
    raise overflow(window, found, advice)


def overflow(window: int, found: str, advice: str = "messages") -> Refused:
    return Refused(
        f"This model's maximum context length is {window} tokens. However, {found}. "
        f"Please reduce the length of the {advice}.",
        param="messages",
        code="context_length_exceeded",
    )


def check(body: Json, *, strict: bool) -> None:
    """Raise `Refused` for the first thing wrong with a request."""
    if has_lone_surrogate(body):
        raise Refused(NOT_JSON)
    if not body.get("model"):
        raise Refused("you must provide a model parameter")
    messages = body.get("messages")
    if messages is None:
        raise Refused("Missing required parameter: 'messages'.", param="messages", code="missing_required_parameter")
    if not isinstance(messages, list):
        raise wrong_type("messages", "an array of objects", messages)
    if not messages:
        raise empty_array("messages")
    _check_options(body)
    for at, message in enumerate(messages):
        _check_message(at, message)
    _check_calls(messages)
    if strict:
        _check_strictly(messages)


def has_lone_surrogate(value: object) -> bool:
    """JSON escapes can carry half a character; no provider reads it."""
    match value:
        case str():
            return any("\ud800" <= character <= "\udfff" for character in value)
        case dict():
            return any(has_lone_surrogate(item) for pair in value.items() for item in pair)
        case list():
            return any(has_lone_surrogate(item) for item in value)
        case _:
            return False


def wrong_type(param: str, wanted: str, value: object) -> Refused:
    names = {
        dict: "an object",
        list: "an array",
        str: "a string",
        bool: "a boolean",
        int: "an integer",
        float: "a decimal",
    }
    got = "null" if value is None else names[type(value)]
    message = f"Invalid type for '{param}': expected {wanted}, but got {got} instead."
    return Refused(message, param=param, code="invalid_type")


def empty_array(param: str) -> Refused:
    message = (
        f"Invalid '{param}': empty array. Expected an array with minimum length 1, but got an empty array instead."
    )
    return Refused(message, param=param, code="empty_array")


def _check_options(body: Json) -> None:
    tools = body.get("tools")
    if tools == []:
        raise empty_array("tools")
    for name in ("tool_choice", "parallel_tool_calls"):
        if body.get(name) is not None and not tools:
            raise Refused(f"'{name}' is only allowed when 'tools' are specified.", param=name)
    if body.get("stream_options") and not body.get("stream"):
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise Refused(message, param="stream_options")
    for at, tool in enumerate(tools or []):
        _check_name(f"tools[{at}].function.name", tool["function"]["name"])


def _check_name(param: str, name: str) -> None:
    if not TOOL_NAME.fullmatch(name):
        message = (
            f"Invalid '{param}': string does not match pattern. "
            "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        )
        raise Refused(message, param=param, code="invalid_value")
    if len(name) > 64:
        message = (
            f"Invalid '{param}': string too long. "
            f"Expected a string with maximum length 64, but got a string with length {len(name)} instead."
        )
        raise Refused(message, param=param, code="string_above_max_length")


def _check_message(at: int, message: Json) -> None:
    role, content = message.get("role"), message.get("content")
    if role not in ROLES:
        supported = ", ".join(f"'{name}'" for name in ROLES[:-1])
        text = f"Invalid value: '{role}'. Supported values are: {supported}, and '{ROLES[-1]}'."
        raise Refused(text, param=f"messages[{at}].role", code="invalid_value")
    if content is None and not (role == "assistant" and message.get("tool_calls")):
        raise Refused("Invalid value for 'content': expected a string, got null.", param=f"messages.[{at}].content")
    if content is not None and not isinstance(content, str | list):
        raise wrong_type(f"messages[{at}].content", "one of a string or array of objects", content)
    if "tool_calls" not in message:
        return
    if message["tool_calls"] == []:
        raise empty_array(f"messages[{at}].tool_calls")
    for number, call in enumerate(message["tool_calls"] or []):
        where = f"messages[{at}].tool_calls[{number}].function"
        if not isinstance(call["function"].get("arguments"), str):
            raise wrong_type(f"{where}.arguments", "a string", call["function"].get("arguments"))
        _check_name(f"{where}.name", call["function"]["name"])


def _check_calls(messages: Sequence[Json]) -> None:
    """Every call is answered by the tool messages right after it, once, and nothing else is."""
    calling, open_ids, answered = -1, list[str](), set[str]()
    for at, message in enumerate([*messages, {"role": "end"}]):
        if message["role"] == "tool":
            _check_result(at, message, open_ids, answered)
            open_ids.remove(message["tool_call_id"])
            answered.add(message["tool_call_id"])
            continue
        if open_ids:
            raise Refused(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                "'tool_call_id'. The following tool_call_ids did not have response messages: " + ", ".join(open_ids),
                param=f"messages.[{calling + 1}].role",
            )
        calling, open_ids, answered = at, [str(call["id"]) for call in message.get("tool_calls") or []], set()
        if len(set(open_ids)) < len(open_ids):  # Anthropic's wording
            raise Refused(f"messages.{at}: `tool_use` ids must be unique", param=f"messages.[{at}].tool_calls")


def _check_result(at: int, message: Json, open_ids: Sequence[str], answered: set[str]) -> None:
    call_id: Any = message.get("tool_call_id")
    if not call_id:
        text = "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'."
        raise Refused(text, param=f"messages.[{at}].tool_call_id")
    if call_id in answered:
        raise Refused(f"Duplicate value for 'tool_call_id' of '{call_id}' in message[{at}]", param=f"messages.[{at}]")
    if not open_ids and not answered:
        raise Refused(
            "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
            param=f"messages.[{at}].role",
        )
    if call_id not in open_ids:
        text = f"Invalid parameter: 'tool_call_id' of '{call_id}' not found in 'tool_calls' of previous message."
        raise Refused(text, param=f"messages.[{at}].tool_call_id")


def _check_strictly(messages: Sequence[Json]) -> None:
    talk = [(at, message) for at, message in enumerate(messages) if message["role"] not in {"system", "developer"}]
    if not talk:
        raise Refused("messages: at least one message is required")  # Anthropic
    if talk[0][1]["role"] != "user":
        raise Refused('messages: first message must use the "user" role')  # Anthropic
    if len(messages) - talk[0][0] != len(talk):
        raise Refused("System message must be at the beginning.")  # chat templates of Qwen, served by vLLM
    for at, message in talk:
        if message["role"] != "tool" and not message.get("tool_calls") and is_blank(message):  # Moonshot
            role = message["role"]
            raise Refused(f"Invalid request: the message at position {at} with role '{role}' must not be empty")
    if talk[-1][1]["role"] == "assistant":  # Mistral
        raise Refused("Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant")


def is_blank(message: Json) -> bool:
    """No visible text, and no part that is something else than text."""
    parts = message["content"] if isinstance(message["content"], list) else []
    return not text_of(message).strip() and all(part.get("type") == "text" for part in parts)
