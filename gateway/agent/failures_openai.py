"""The SDK's errors as the port's."""

import json
from typing import Any, NamedTuple

import openai

from gateway.agent.answer import WITHHELD, short
from gateway.agent.model import ContextOverflow, ModelBusy, ModelRefused
from gateway.agent.overflow import Failure, classify
from gateway.tape.plain import whole

BROKE_OFF = "its answer broke off"
UNREADABLE = "it sent something unreadable"

_SENTENCES = {
    Failure.AUTH: (
        "config",
        "The model's provider does not accept the key. Whoever runs this bot has to set a valid one.",
    ),
    Failure.QUOTA: (
        "config",
        "The account at the model's provider has no credit left. Whoever runs this bot has to top it up.",
    ),
    Failure.NOT_FOUND: (
        "config",
        "The model's provider knows no model {model!r} at this address. Whoever runs this bot has to correct it.",
    ),
    Failure.FILTERED: ("provider", WITHHELD),
}
_INVALID = "The model's provider refused this request: {text}"


class _Body(NamedTuple):
    code: str = ""
    kind: str = ""
    text: str = ""


def failure(error: openai.APIError, model: str) -> Exception:
    """What to raise for an error of the SDK."""
    match error:
        case openai.APITimeoutError():
            return ModelBusy("it took too long to answer")
        case openai.APIConnectionError():
            return ModelBusy("the connection failed")
        case openai.APIStatusError(status_code=status, response=response):
            return _verdict(status, read_body(response.text), model, after=_after(response.headers))
        case _:  # an error inside a stream: its text is the message, its body the error object
            body = _of_object(error.body) if isinstance(error.body, dict) else _Body(text=error.message)
            return _verdict(None, body, model)


def failure_in_body(text: str, model: str) -> Exception:
    """What to raise for a body of status 200 that is no answer."""
    return _verdict(200, read_body(text), model)


def _verdict(status: int | None, body: _Body, model: str, *, after: float | None = None) -> Exception:
    verdict = classify(status, body.code, body.kind, body.text)
    detail = whole(short(f"{status or 'in stream'} {body.code} {body.text}", 500))
    match verdict:
        case Failure.OVERFLOW:
            return ContextOverflow(whole(body.text) or f"status {status}")
        case Failure.BUSY:
            return ModelBusy(_reason(status, body), after=after)
        case Failure.INVALID:
            text = _INVALID.format(text=short(whole(body.text), 200) or f"status {status}")
            return ModelRefused(text, kind="invalid_input", detail=detail)
        case _:
            kind, sentence = _SENTENCES[verdict]
            return ModelRefused(sentence.format(model=model), kind=kind, detail=detail)


def _reason(status: int | None, body: _Body) -> str:
    match status:
        case 429:
            return "too many requests"
        case int(number) if number != 200:
            return f"its server answers {number}"
        case _:
            return f"it reports: {short(whole(body.text), 80)}" if body.text else BROKE_OFF


def read_body(text: str) -> _Body:
    """Code, type and message of an error body, in any of the shapes that compatible servers use."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return _Body(text=text)
    if isinstance(body, list) and body:
        body = body[0]
    match body:
        case {"error": dict(inner)}:
            return _of_object(inner)
        case {"error": str(message)}:
            return _Body(text=message)
        case {"message": str()}:
            return _of_object(body)
        case {"detail": detail}:
            return _Body(text=detail if isinstance(detail, str) else json.dumps(detail))
        case _ if not body:
            return _Body()
        case _:
            return _Body(text=text)


def _of_object(error: dict[str, Any]) -> _Body:
    code, kind, text = (error.get(key) for key in ("code", "type", "message"))
    said = text if isinstance(text, str) else ""
    match error.get("metadata"):
        case {"raw": str(raw)}:  # OpenRouter: the cause, as the provider behind it sent it
            inner = read_body(raw)
            said, kind = f"{said}\n{inner.text}", kind or inner.kind
            code = inner.code if inner.code and not inner.code.isdecimal() else code
    return _Body("" if code is None else str(code), kind if isinstance(kind, str) else "", said)


def _after(headers: Any) -> float | None:
    """The seconds that the provider asks to wait."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    return None
