"""What a failed request means, in one table: for a message, for a question, and for the connection (facts 2.1)."""

from typing import Final

from aiohttp import ClientConnectorError, ClientError, ConnectionTimeoutError, InvalidURL

from channels.discord.rest import Declined
from channels.supervise import RARELY
from gateway.channel import Ambiguous
from gateway.errors import Refused, Retryable

Failure = Declined | ClientError | OSError
FAILURES: Final = (Declined, ClientError, OSError)
"""Everything a request can raise: an answer that says no, one that cannot be read, or none (a TimeoutError)."""

UNKNOWN_BOT: Final = (
    "Discord does not know this token: wrong token? Copy it again from Bot in the developer portal, "
    "set GATEWAY_DISCORD__TOKEN and start again"
)
_NO_CONTENT: Final = (
    "Discord does not let this bot read messages: switch on MESSAGE CONTENT INTENT under Bot in the developer "
    "portal, or set discord.message_content to false"
)
_TOO_LARGE: Final = "this bot is in too many servers for one connection; Discord asks for shards, which are not built"
_NOT_DISCORD: Final = "what answers there is not Discord's API, or it is broken"

_CLOSES: Final = {
    4004: UNKNOWN_BOT,
    4010: _TOO_LARGE,
    4011: _TOO_LARGE,
    4012: "Discord does not know this version of its gateway; look at discord.gateway_url, or update the gateway",
    4013: _NO_CONTENT,
    4014: _NO_CONTENT,
}

_NOT_WRITTEN: Final = (ClientConnectorError, ConnectionTimeoutError, InvalidURL)
_SLOWLY: Final = frozenset({20016, 20028})  # slow mode, and the limit of a channel: both pass
_MISSING: Final = frozenset({401, 404})


def of_sending(error: Failure) -> Retryable | Refused | Ambiguous:
    """What became of a message. Only what surely left nothing behind is Retryable (cases C01, C02)."""
    match error:
        case Declined() if error.status == 429 or error.code in _SLOWLY:
            return Retryable("Discord asks to wait", after=error.after)
        case Declined(status=401):
            return Retryable(UNKNOWN_BOT, after=RARELY)
        case Declined(status=status) if status >= 500 or status < 300:
            return Ambiguous(f"Discord was asked and failed ({status})")
        case Declined(readable=False):
            return Retryable(_NOT_DISCORD)
        case Declined():
            return Refused(f"Discord says: {error.said} ({error.code})")
        case _ if isinstance(error, _NOT_WRITTEN):
            return Retryable(f"Discord cannot be reached ({type(error).__name__})")
    return Ambiguous(f"Discord was asked and did not answer ({type(error).__name__})")


def of_asking(error: Failure) -> Retryable | Refused:
    """Why a question has no answer. It changes nothing, so it may always be asked again."""
    match of_sending(error):
        case Ambiguous() as unknown:
            return Retryable(str(unknown))
        case known:
            return known


def of_login(error: Failure) -> Retryable | Refused:
    """Why the bot does not know who it is. A wrong token waits for a person."""
    if isinstance(error, Declined) and error.status == 401:
        return Refused(UNKNOWN_BOT)
    return of_asking(error)


def of_closing(code: int | None) -> Retryable | Refused:
    """Why the gateway closed the connection for good."""
    if code in _CLOSES:
        return Refused(_CLOSES[code])
    return Retryable(f"Discord closed the connection ({code})")


def is_no_interaction(error: Failure) -> bool:
    """Whether there is nothing to edit: the interaction is unknown, too old, or not answered yet."""
    return isinstance(error, Declined) and error.readable and error.status in _MISSING
