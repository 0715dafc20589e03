"""A request to Discord's REST API as it arrived, and how tests name those they mean."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.platforms.discord_refusals import refusal
from tests.platforms.faults import ANY, Call, File

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RestCall(Call):
    """One request: `method` is the verb, `path` without `/api/v10`, `form` the query, `body` the JSON, `token` the
    bot's (empty where an interaction's token stands in the path)."""

    path: str = ""
    body: Any = field(default_factory=dict)

    def meets(self, route: str) -> bool:
        """Whether a route means this call: a path or a template, with or without the verb before it."""
        verb, path = split(route)
        return verb in (ANY, self.method) and template(path).fullmatch(self.path) is not None


def split(route: str) -> tuple[str, str]:
    """`POST /channels/{id}/messages` as verb and path; `ANY` where there is no verb."""
    verb, _, path = route.rpartition(" ")
    return verb.upper() or ANY, path


def template(path: str) -> re.Pattern[str]:
    """A path with `{name}` for each part that may be anything; the parts are its groups."""
    return re.compile("([^/]+)".join(re.escape(part) for part in re.split(r"\{\w+\}", path)))


def picked(route: str, when: Callable[[RestCall], bool] | None) -> Callable[[Call], bool]:
    """The predicate of an injection: calls of this route that `when` picks."""
    return lambda call: isinstance(call, RestCall) and call.meets(route) and (when is None or when(call))


async def read(request: web.Request, path: str, at: float) -> RestCall:
    """A request as JSON or as a form with `payload_json` and files."""
    token = request.headers.get("Authorization", "").removeprefix("Bot ")
    files: dict[str, File] = {}
    text = "{}"
    if request.content_type.startswith("multipart/"):
        for key, value in (await request.post()).items():
            if isinstance(value, web.FileField):
                files[key] = File(value.filename, value.file.read())
            elif key == "payload_json":
                text = value if isinstance(value, str) else value.decode()
    elif request.body_exists:
        text = await request.text()
    try:
        body = json.loads(text or "{}")
        json.dumps(body, ensure_ascii=False).encode()
    except ValueError as error:  # half a character, too
        raise refusal(50109) from error
    return RestCall(request.method, dict(request.query), files, at, token, path, body)
