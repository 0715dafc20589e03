"""The port of one platform. Small required part; talents are protocols of their own, found by isinstance."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from gateway.message import IncomingMessage, Reply, Route, TurnId

Receive = Callable[[IncomingMessage], Awaitable[None]]
"""Returns when the message is durable (or known, or refused in public): only then may the platform be told.

Raises Retryable when it cannot be made durable now: the platform must not be told, and must deliver it again.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a reply as the platform will take it: within its limit, measured in its own unit, after rendering.

    `body` is the rendered form, opaque to all but the channel that made it (JSON text).
    """

    text: str
    body: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    """What is true of a channel now. `state` is one of: starting, connected, standby, degraded, off."""

    state: str
    detail: str = ""


class Ambiguous(Exception):
    """The request was written and no answer came: the part may have arrived, or not. Never send it blindly again."""


class Channel(Protocol):
    """One bot account on one platform.

    Errors of `send`: Retryable (nothing was sent; `after` seconds as the platform asked), Refused (this will never
    work: blocked, gone, invalid), Ambiguous (see there).
    """

    @property
    def name(self) -> str:
        """`telegram`, `discord`, `slack`, `web`, `terminal`: the first word of its session keys."""
        ...

    @property
    def account(self) -> str:
        """The bot's own id on the platform, known after `run` began; empty before. Second word of session keys."""
        ...

    @property
    def can_send(self) -> bool:
        """Whether this process can deliver for it now (a web page can only where its port is)."""
        ...

    @property
    def health(self) -> Health: ...

    async def run(self, receive: Receive | None) -> None:
        """Connects, receives until cancelled, reconnects by itself with backoff. Ends by cancellation alone.

        None: this process sends alone. It learns the account and keeps what sending needs, and opens no connection
        that receives.
        """
        ...

    def render(self, text: str) -> Sequence[Part]:
        """Cuts and renders a reply. Pure; never empty; the parts joined hold the whole text."""
        ...

    async def send(self, reply: Reply, part: Part, *, index: int, of: int, repeated: bool) -> str:
        """Sends one part and returns the platform's id of it.

        `repeated`: an earlier try was Ambiguous, so a copy may be there already; the copy must say so visibly,
        unless the platform offers a way to find out.
        """
        ...


@runtime_checkable
class ShowsTyping(Protocol):
    """A channel that can show that the bot is at work. Failures are of no consequence and are not raised."""

    @property
    def typing_every(self) -> float:
        """Seconds between two calls while a turn runs: a little less than the platform shows it."""
        ...

    async def typing(self, route: Route) -> None: ...


@runtime_checkable
class ShowsProgress(Protocol):
    """A channel that can show a reply while it is written. A preview is never the reply: that follows the merge."""

    async def preview(self, route: Route, turn: TurnId, text: str) -> None: ...


@runtime_checkable
class KnowsAdmins(Protocol):
    """A channel that can say whom the platform itself holds for an admin of a place. In private nobody is one."""

    def admin(self, route: Route, person: str) -> bool | None:
        """From what is known in this process, which is some minutes old at most. None: not known now."""
        ...

    async def ask_admin(self, route: Route, person: str) -> bool:
        """As `admin`, and asks the platform where it is not known. Raises Retryable when that cannot be."""
        ...
