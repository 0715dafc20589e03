"""The Events API over HTTP: posts to the bot's address, signed with the app's secret (facts 3.1, 5.4)."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import urlencode

from aiohttp import ClientError, ClientSession, ClientTimeout

from tests.platforms.server import Bell
from tests.platforms.slack_delivery import Envelope

Json = dict[str, Any]
Signature = Literal["good", "bad", "stale", "not_integer", "missing"]

STALE_SECONDS: Final = 60 * 6
FORM: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Post:
    """One request to the bot's address and its answer; `status` 0: none came, and `body` is Slack's word for why."""

    event_id: str
    attempt: int
    status: int
    body: str
    at: float
    no_retry: bool = False


@dataclass(slots=True, eq=False)
class Hook:
    """Posts envelopes to one address. What is answered with 2xx is acknowledged; `x-slack-no-retry: 1` ends retries."""

    url: str
    secret: str
    bell: Bell
    clock: Callable[[], float]
    answered: Callable[[str, Json | None], None]
    patience: Callable[[], float]
    signature: Signature = "good"
    posts: list[Post] = field(default_factory=list)
    running: set[asyncio.Task[None]] = field(default_factory=set)

    def carry(self, envelope: Envelope) -> bool:
        envelope.delivery.failure = "http_timeout"  # until it is answered: a retry meanwhile has no other reason
        task = asyncio.get_running_loop().create_task(self._post(envelope))
        self.running.add(task)
        task.add_done_callback(self.running.discard)
        return True

    async def verify(self) -> Post:
        """Ask for the challenge, as Slack does when the address is set: the answer's body must be it."""
        body = json.dumps({"token": "verification-token", "challenge": "challenge-1", "type": "url_verification"})
        return await self._request(body, "application/json", {}, "", 0)

    async def stop(self) -> None:
        running = list(self.running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _post(self, envelope: Envelope) -> None:
        payload = envelope.delivery.payload
        is_event = envelope.delivery.kind == "events_api"
        body, kind = (json.dumps(payload), "application/json") if is_event else (urlencode(payload), FORM)
        retries = {"x-slack-retry-num": str(envelope.attempt), "x-slack-retry-reason": envelope.reason}
        post = await self._request(body, kind, retries if envelope.attempt else {}, envelope.event_id, envelope.attempt)
        if 200 <= post.status < 300:
            self.answered(envelope.envelope_id, _payload(post.body))
            return
        envelope.delivery.failure = "http_error" if post.status else post.body
        envelope.delivery.gone = envelope.delivery.gone or post.no_retry
        self.bell.ring()

    async def _request(self, body: str, kind: str, headers: dict[str, str], event_id: str, attempt: int) -> Post:
        headers = {"Content-Type": kind, "User-Agent": "Slackbot 1.0", **headers, **self._signed(body)}
        status, text, no_retry = 0, "", False
        try:
            async with (
                ClientSession(timeout=ClientTimeout(total=self.patience())) as web,
                web.post(self.url, data=body.encode(), headers=headers) as answer,
            ):
                status, text = answer.status, await answer.text()
                no_retry = answer.headers.get("x-slack-no-retry") == "1"
        except TimeoutError:
            status, text = 0, "http_timeout"
        except ClientError:
            status, text = 0, "connection_failed"
        post = Post(event_id, attempt, status, text, self.clock(), no_retry)
        self.posts.append(post)
        self.bell.ring()
        return post

    def _signed(self, body: str) -> dict[str, str]:
        if self.signature == "missing":
            return {}
        stamp = str(int(self.clock()) - (STALE_SECONDS if self.signature == "stale" else 0))
        stamp = "soon" if self.signature == "not_integer" else stamp
        secret = "another" if self.signature == "bad" else self.secret
        digest = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}


def _payload(body: str) -> Json | None:
    """What a 2xx carries: a JSON object, a plain text for a command, or nothing."""
    if not body:
        return None
    try:
        answer = json.loads(body)
    except ValueError:
        return {"text": body}
    return answer if isinstance(answer, dict) else {"text": body}
