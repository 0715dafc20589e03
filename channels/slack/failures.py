"""What Slack and the way to it may answer, by what the caller must do (facts 3.1, 5.4).

No text here holds an address or a token.
"""

from dataclasses import dataclass
from typing import Final

from aiohttp import ClientConnectorError, ClientError, ConnectionTimeoutError, InvalidURL
from slack_sdk.errors import SlackApiError, SlackRequestError

from channels.supervise import RARELY
from gateway.channel import Ambiguous
from gateway.errors import Refused, Retryable

# The SDK takes for granted that an answer is a JSON object: any other ends in an AttributeError or a ValueError.
FAILURES: Final = (SlackApiError, SlackRequestError, ClientError, TimeoutError, OSError, AttributeError, ValueError)
"""Everything a request can raise: an answer that says no, one that cannot be read, or none."""

Failure = SlackApiError | SlackRequestError | ClientError | TimeoutError | OSError | AttributeError | ValueError


class BadBlocks(Refused):
    """Slack does not take the blocks of a message; its text alone it would."""


_BLOCKS: Final = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "invalid_attachments"})
_WAIT: Final = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
_UNSURE: Final = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable"})
_TOKEN: Final = frozenset({"invalid_auth", "not_authed", "token_expired", "token_revoked", "not_allowed_token_type"})
_NOT_WRITTEN: Final = (ClientConnectorError, ConnectionTimeoutError, InvalidURL)

WRONG_BOT: Final = (
    "Slack does not take this bot token: compare GATEWAY_SLACK__BOT_TOKEN (xoxb-...) with the page "
    '"OAuth & Permissions" of your app at api.slack.com/apps, and start again'
)
WRONG_APP: Final = (
    "Slack does not take this app token: GATEWAY_SLACK__APP_TOKEN (xapp-...) comes from the page "
    '"Basic Information", "App-Level Tokens", of your app at api.slack.com/apps, with the scope connections:write'
)


@dataclass(frozen=True, slots=True)
class Answer:
    """How Slack said no. `error` is its own word, empty where the answer has none."""

    status: int
    error: str
    needed: str = ""
    after: float | None = None

    @classmethod
    def of(cls, failure: SlackApiError) -> "Answer":
        """Reads the SDK's error; what did not come is empty."""
        response = failure.response
        data = getattr(response, "data", None)
        said = data if isinstance(data, dict) else {}
        status: int = getattr(response, "status_code", 0) or getattr(response, "status", 0)
        wait = getattr(response, "headers", {}).get("Retry-After", "")
        return cls(
            int(status),
            str(said.get("error", "")),
            str(said.get("needed", "")),
            float(wait) if wait.isdigit() else None,
        )


def of_sending(failure: Failure) -> Retryable | Refused | Ambiguous:
    """What became of a message. Only what surely left nothing behind is Retryable (cases C01, C02)."""
    match failure:
        case SlackApiError():
            return _of_answer(Answer.of(failure))
        case _ if isinstance(failure, _NOT_WRITTEN):
            return Retryable(f"Slack cannot be reached ({type(failure).__name__})")
    return Ambiguous(f"Slack was asked and did not answer ({type(failure).__name__})")


def of_asking(failure: Failure, token: str = WRONG_BOT) -> Retryable | Refused:
    """As `of_sending`, of a request that may be repeated. `token`: what to say of a token that is not taken."""
    if isinstance(failure, SlackApiError) and Answer.of(failure).error in _TOKEN:
        return Refused(token)
    match of_sending(failure):
        case Ambiguous() as unsure:
            return Retryable(str(unsure))
        case known:
            return known


def _of_answer(answer: Answer) -> Retryable | Refused | Ambiguous:
    if answer.status == 429 or answer.error in _WAIT:
        return Retryable("Slack asks to wait", after=answer.after)
    if 400 <= answer.status < 500 and not answer.error:
        return Retryable(f"what answers there is not Slack's Web API, or it is broken ({answer.status})")
    if answer.status >= 500 or answer.error in _UNSURE or not answer.error:
        return Ambiguous(f"Slack was asked and failed ({answer.error or answer.status})")
    if answer.error in _TOKEN:  # a person must act; until then the reply waits
        return Retryable(WRONG_BOT, after=RARELY)
    if answer.error == "missing_scope":
        return Refused(f'the app lacks the scope {answer.needed}: add it under "OAuth & Permissions", install it again')
    if answer.error in _BLOCKS:
        return BadBlocks(f"Slack says: {answer.error}")
    return Refused(f"Slack says: {answer.error}")
