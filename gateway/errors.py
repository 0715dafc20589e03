"""Errors, grouped by what the catcher must do. Never freeze an exception: context managers set attributes on it."""


class GatewayError(Exception):
    """Base of every error that this program raises on purpose. Its text is a sentence for a person."""


class Retryable(GatewayError):
    """The same call may work later.

    `after`: seconds to wait first, as the other side asked; None where it did not say.
    """

    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Refused(GatewayError):
    """Trying again will not help; tell the person what to do."""


class Lost(GatewayError):
    """Somebody else owns this now; drop the work in hand and write nothing more."""


class Broken(GatewayError):
    """A bug or corrupt data; stop and say so."""


class LeaseLost(Lost):
    """The lease of a session, a route or a channel ran out or was taken over."""


class AttemptClosed(Lost):
    """A later attempt has claimed the turn: this one may neither journal, nor merge, nor run a tool."""


class TapeMoved(Lost):
    """The tape is not what the fork started from, or a message of the fork is recorded: look again."""
