"""What Telegram and the way to it may answer, by what the caller must do (facts 1.2).

No text here holds an address of a request, since the token is part of it.
"""

from dataclasses import dataclass
from typing import Final

from aiogram.exceptions import (
    ClientDecodeError,
    TelegramAPIError,
    TelegramBadRequest,
    TelegramConflictError,
    TelegramEntityTooLarge,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramServerError,
    TelegramUnauthorizedError,
)
from aiohttp import ClientConnectorError, ConnectionTimeoutError, InvalidURL

from gateway.channel import Ambiguous, Health
from gateway.errors import Refused, Retryable

Failure = TelegramAPIError | ClientDecodeError | UnicodeError
FAILURES: Final = (TelegramAPIError, ClientDecodeError, UnicodeError)
"""Everything a request can raise: an answer that says no, one that cannot be read, or none."""

RARELY: Final = 60.0
"""Seconds between tries with a token that Telegram does not know."""

_NOT_WRITTEN: Final = (ClientConnectorError, ConnectionTimeoutError, InvalidURL)
_UNKNOWN_BOT: Final = (
    "Telegram does not know this token: wrong token? Compare it with what @BotFather shows, "
    "set GATEWAY_TELEGRAM__TOKEN and start again"
)


def of_sending(error: Failure) -> Retryable | Refused | Ambiguous:
    """What became of a message. Only what surely left nothing behind is Retryable (cases C01, C02)."""
    match error:
        case TelegramRetryAfter():
            return Retryable("Telegram asks to wait", after=float(error.retry_after))
        case TelegramUnauthorizedError() | TelegramNotFound():
            return Retryable(_UNKNOWN_BOT, after=RARELY)
        case TelegramMigrateToChat():
            return Refused("the group became a supergroup, which is a new conversation; write to the bot there")
        case TelegramForbiddenError() | TelegramBadRequest() | TelegramEntityTooLarge():
            return Refused(f"Telegram says: {error.message}")
        case TelegramNetworkError() if isinstance(error.__cause__, _NOT_WRITTEN):
            return Retryable(f"Telegram cannot be reached ({type(error.__cause__).__name__})")
        case TelegramNetworkError():
            return Ambiguous(f"Telegram was asked and did not answer ({type(error.__cause__).__name__})")
        case TelegramServerError() | ClientDecodeError() | UnicodeError():
            return Ambiguous(f"Telegram was asked and failed ({type(error).__name__})")
        case _ if error.message.startswith("Too Many Requests"):
            return Retryable("Telegram asks to wait")
    return Refused(f"Telegram says: {error.message}")


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why nothing is received now. `after`: seconds until the next try, where they are known."""

    health: Health
    after: float | None = None
    conflict: bool = False


def of_polling(error: Failure) -> Trouble:
    """What is true of a channel whose poll failed, in words that say what to do."""
    match error:
        case TelegramRetryAfter():
            wait = float(error.retry_after)
            return Trouble(Health("degraded", f"Telegram asks to wait {wait:.0f} s"), wait)
        case TelegramUnauthorizedError() | TelegramNotFound():
            return Trouble(Health("off", _UNKNOWN_BOT), RARELY)
        case TelegramConflictError() if "webhook" in error.message:
            return Trouble(
                Health(
                    "degraded",
                    "not polling: a webhook is set for this bot. Remove it with the method deleteWebhook "
                    "(without drop_pending_updates) or in the program that set it; polling goes on by itself",
                ),
                conflict=True,
            )
        case TelegramConflictError():
            return Trouble(
                Health(
                    "degraded",
                    "not polling: another program polls with this token. Stop it, or give this one its own bot",
                ),
                conflict=True,
            )
        case TelegramNetworkError():
            return Trouble(Health("degraded", f"Telegram cannot be reached ({type(error.__cause__).__name__})"))
        case ClientDecodeError() | UnicodeError():
            return Trouble(Health("degraded", "what answers there is not Telegram's Bot API, or it is broken"))
    return Trouble(Health("degraded", f"Telegram says: {error.message}"))
