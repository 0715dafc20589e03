"""The Events API over HTTP: one address for events, commands and interactivity, each request signed (facts 3.1).

Without Bolt: it reads a body before it looks at the signature, takes a command that contains the word "payload" for
an empty one, and what no listener of it matches stays unacknowledged.
"""

import json
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from aiohttp import web
from slack_sdk.signature import SignatureVerifier

from channels.slack.intake import Accept, NotTaken, answer

PATH: Final = "/slack/events"

_STAMP: Final = re.compile(r"\d{1,12}")


class Hook:
    """Only what carries a good signature, not older than five minutes, reaches the channel."""

    def __init__(self, secret: str, accept: Accept) -> None:
        self._verifier, self._accept = SignatureVerifier(secret), accept

    def routes(self) -> list[web.RouteDef]:
        """What to mount."""
        return [web.post(PATH, self._receive)]

    async def _receive(self, request: web.Request) -> web.StreamResponse:
        data = await request.read()
        try:
            if not self._is_signed(data, request.headers):
                return web.Response(status=401)
            body = _read(data, request.content_type)
        except ValueError:
            return web.Response(status=400)
        match body:
            case {"type": "url_verification", "challenge": str(challenge)}:
                return web.Response(text=challenge)
        try:
            told = await self._accept(body)
        except NotTaken:
            return web.Response(status=503)  # Slack delivers it again
        return web.json_response(answer(told)) if told else web.Response()

    def _is_signed(self, data: bytes, headers: Mapping[str, str]) -> bool:
        stamp, signature = headers.get("X-Slack-Request-Timestamp", ""), headers.get("X-Slack-Signature", "")
        # The verifier raises for a time that is no number, and for a signature that is not ASCII.
        return bool(_STAMP.fullmatch(stamp)) and signature.isascii() and self._verifier.is_valid(data, stamp, signature)


def _read(data: bytes, kind: str) -> Mapping[str, object]:
    """An event is JSON, a command a form, interactivity JSON in a form. ValueError for anything else."""
    text = data.decode()
    if kind != "application/json":
        form = dict(parse_qsl(text, keep_blank_values=True))
        if "payload" not in form:
            return form
        text = form["payload"]
    body = json.loads(text)
    if not isinstance(body, dict):
        raise ValueError("no object")  # noqa: TRY004  # a body, not an argument
    return body
