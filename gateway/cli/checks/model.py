"""The model: does its server answer, take the key, and know the name?"""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from gateway.cli.checks.finding import Finding, unreachable
from gateway.cli.checks.http import Answer, fetch

if TYPE_CHECKING:
    from gateway.settings import Settings

SHOWN = 5
"""Models that an advice names."""


async def check(settings: "Settings") -> Sequence[Finding]:
    """One finding."""
    found, models = await reach(settings)
    name = settings.model.name
    if found.state != "ok" or not models or name in models:
        return [found]
    near = get_close_matches(name, models, SHOWN, 0.3) or models[:SHOWN]
    more = ", ..." if len(models) > len(near) else ""
    advice = f"set model.name to one that it has: {', '.join(near)}{more}"
    return [Finding("model", "warn", f'{found.detail}, and lists no model "{name}"', advice)]


async def reach(settings: "Settings") -> tuple[Finding, list[str]]:
    """Whether the server answers and takes the key, and the models that it lists: none where it keeps no list."""
    model = settings.model
    if model.api_key is None and model.base_url is None:
        advice = "set OPENAI_API_KEY, or OPENAI_BASE_URL"
        return Finding("model", "warn", "the built-in demo answers", advice), []
    base = (model.base_url or "https://api.openai.com/v1").rstrip("/")
    headers = {} if model.api_key is None else {"Authorization": f"Bearer {model.api_key.get_secret_value()}"}
    match await fetch("GET", f"{base}/models", headers):
        case None:
            return unreachable("model", base, "model.base_url; or start that server"), []
        case Answer(200, body):
            return Finding("model", "ok", f"{base} answers"), _names(body)
        case Answer(404 | 405):
            return Finding("model", "ok", f"{base} answers"), []
        case Answer(401 | 403):
            advice = "set model.api_key (or OPENAI_API_KEY) anew"
            return Finding("model", "fail", f"{base} refuses the key", advice), []
        case Answer(status):
            return Finding("model", "warn", f"{base} answers with status {status}"), []


def _names(body: object) -> list[str]:
    match body:
        case {"data": [*models]}:
            return [model["id"] for model in models if isinstance(model, dict) and isinstance(model.get("id"), str)]
        case _:
            return []
