"""What a provider's failure means. Pure: status, code, type and text in, one verdict out.

Typed codes are looked at first, then the wordings of facts 6.2. A rate limit is never an overflow, except where a
provider refuses one request as larger than a whole minute's allowance; and nothing is read out of quoted text, since
providers quote what people wrote.
"""

import re
from enum import Enum


class Failure(Enum):
    """What the loop must do about it."""

    OVERFLOW = "the request does not fit into the context window"
    AUTH = "the key is refused"
    QUOTA = "no credit left"
    FILTERED = "withheld by a content filter"
    NOT_FOUND = "no such model or address"
    INVALID = "the request is refused, now and later"
    BUSY = "the same request may work later"


_OVERFLOW_CODES = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded", "request_too_large"}
)
_AUTH_CODES = frozenset({"invalid_api_key", "authentication_error", "permission_error", "invalid_authentication"})
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance", "billing_error"})
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation"})
_MISSING_CODES = frozenset({"model_not_found", "not_found_error", "deploymentnotfound"})
_INVALID_CODES = frozenset({"invalid_request_error", "invalid_request", "badrequesterror"})
_PARAM_CODES = frozenset({"string_above_max_length", "array_above_max_length"})

_THROTTLED = re.compile(r"too many tokens, please wait|throttlingexception", re.IGNORECASE)
_NOT_OVERFLOW = re.compile(r"string too long|rate limit", re.IGNORECASE)

_PER_MINUTE = re.compile(r"request too large\b.*\btokens per min", re.IGNORECASE | re.DOTALL)
_QUOTA = re.compile(r"exceeded your current quota|insufficient balance|credit balance is too low", re.IGNORECASE)

WORDINGS: tuple[tuple[str, str], ...] = (
    ("OpenAI, DeepSeek, vLLM, OpenRouter", r"maximum context length is \d+"),
    ("OpenAI, newer", r"input tokens exceed the configured limit of \d+ tokens"),
    ("OpenAI Responses", r"your input exceeds the context window"),
    ("Groq", r"^please reduce the length of the messages or completion"),
    ("Anthropic", r"prompt is too long(: \d+ tokens > \d+ maximum|$)"),
    ("Anthropic", r"input length and `?max_tokens`? exceed context limit: \d+"),
    ("Gemini", r"input token count \(?\d*\)?\s*exceeds the maximum number of tokens"),
    ("Mistral", r"too large for model with \d+ maximum context length"),
    ("vLLM", r"prompt \(total length \d+\) is too long to fit into the model"),
    ("SGLang, lmdeploy", r"input \(\d+ tokens\) is longer than the model'?s context length"),
    ("llama.cpp", r"exceeds the available context size"),
    ("Ollama", r"prompt too long; exceeded (max )?context length"),
    ("LM Studio", r"tokens to keep from the initial prompt is greater than the context length"),
    ("LM Studio", r"model is loaded with context length of only \d+ tokens"),
    ("LM Studio, MLX", r"context size has been exceeded"),
    ("Together", r"`inputs` tokens \+ `max_new_tokens` must be <= \d+"),
    ("xAI", r"maximum prompt length is \d+ but the request contains \d+"),
    ("z.ai", r"current length is \d+ while limit is \d+"),
    ("Bedrock", r"input is too long for requested model"),
    ("MiniMax", r"context window exceeds limit"),
    ("Kimi", r"exceeded model token limit: \d+"),
    ("Copilot", r"prompt token count of \d+ exceeds the limit of \d+"),
    ("DashScope", r"range of input length should be"),
)
"""Who says it, and a pattern for lower-case text in which quotations are left out."""

_PATTERNS = tuple(re.compile(pattern) for _, pattern in WORDINGS)
_QUOTED = re.compile(r"(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|“[^”]*”", re.DOTALL)


def classify(status: int | None, code: str, kind: str, text: str) -> Failure:
    """`status` is None where there was none (an error inside a stream); `text` is the provider's message alone."""
    words = {code.lower(), kind.lower()}
    if status in (None, 200) and code.isdecimal():
        status = int(code)
    if status in (401, 403) or words & _AUTH_CODES:
        return Failure.AUTH
    if words & _OVERFLOW_CODES or _overflows(status, code, text):
        return Failure.OVERFLOW
    if status == 402 or words & _QUOTA_CODES or _QUOTA.search(text):
        return Failure.QUOTA
    if _THROTTLED.search(text):
        return Failure.BUSY
    if words & _FILTER_CODES:
        return Failure.FILTERED
    if status == 404 or words & _MISSING_CODES:
        return Failure.NOT_FOUND
    if status is not None and 400 <= status < 500:
        return Failure.BUSY if status in (408, 409, 425, 429) else Failure.INVALID
    return Failure.INVALID if status is None and words & _INVALID_CODES else Failure.BUSY


def _overflows(status: int | None, code: str, text: str) -> bool:
    said = _QUOTED.sub(" ", text).strip().lower()
    if _PER_MINUTE.search(said):
        return status in (413, 429, None)
    if status == 429 or code.lower() in _PARAM_CODES or _NOT_OVERFLOW.search(said) or _THROTTLED.search(said):
        return False
    if status == 413 or (status == 400 and not text.strip()):  # Cerebras sends both without a body
        return True
    return any(pattern.search(said) for pattern in _PATTERNS)
