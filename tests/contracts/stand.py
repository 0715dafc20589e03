"""What the channel contract needs of a platform: its people and places, what the bot said there, trouble on request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from tests.support.gateway import Gateway

T = TypeVar("T")

REPEATED = "(possibly repeated)"
"""How a second copy says that it may be one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where people talk to the bot: alone with it, in a room, in a thread. `raw` is the platform's own."""

    id: str
    raw: Any
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody wrote. `session`: the key of the conversation it belongs to; `thread`: where its answer belongs."""

    place: Place
    session: str
    thread: str | None
    raw: Any


@dataclass(frozen=True, slots=True)
class Heard:
    """A message of the bot. `text` as a reader sees it, `code` the blocks of code in it, `at` by the platform's clock.

    `pings`: the names of all whom it calls.
    """

    id: str
    text: str
    thread: str | None
    at: float
    code: tuple[str, ...] = ()
    pings: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Busy:
    """429: nothing is sent; the platform says how many seconds to wait."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Broken:
    """5xx: nothing is sent."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The message is there, and the connection breaks before the answer."""


Fault = Busy | Broken | Unanswered


@dataclass(slots=True)
class Failing:
    """A fault that waits for the next send into a place. `at`: when that was tried, by the platform's clock."""

    at: list[float] = field(default_factory=list)


class Stand(ABC):
    """One platform under the contract. `exempt`: lines that do not hold for it, and why (see channels/README.md).

    Each person and each place is new, so that tests share a gateway and nothing else. `marks_copies`: the platform has
    no way to find out whether an unanswered send arrived. `splits`: it has a limit for a message.
    """

    name: ClassVar[str]
    exempt: ClassVar[Mapping[str, str]] = {}
    marks_copies: ClassVar[bool] = False
    splits: ClassVar[bool] = True
    command_mark: ClassVar[str] = "/"
    """Stands before a command that people write as a message."""
    wrong_token: ClassVar[Mapping[str, str]] = {}
    """Settings with tokens that the platform does not know."""
    advice: ClassVar[str]
    """What to do about one, as the sentence that tells of it names it."""

    @abstractmethod
    def person(self) -> Any:
        """Somebody whom no test has met."""

    @abstractmethod
    def private(self, person: Any) -> Place:
        """The person alone with the bot."""

    def room(self, *people: Any) -> Place:
        """A new place with these people and the bot, where it answers whoever addresses it."""
        raise NotImplementedError(self.exempt)

    def threads(self, *people: Any) -> tuple[Place, Place]:
        """Two threads of one new room."""
        raise NotImplementedError(self.exempt)

    def shows_typing(self, person: Any) -> Place:
        """A place in which the platform can show that the bot is at work."""
        return self.private(person)

    @abstractmethod
    async def say(
        self, place: Place, person: Any, text: str, *, mention: bool = False, reply_to: Heard | None = None
    ) -> Said:
        """A person writes; the text is what they type."""

    async def bot_says(self, place: Place, text: str, *, own: bool) -> None:
        """A bot addresses ours: another one, or itself."""
        raise NotImplementedError(self.exempt)

    @abstractmethod
    async def edit(self, said: Said, person: Any, text: str) -> None:
        """A person changes what they wrote."""

    @abstractmethod
    async def redeliver(self, said: Said) -> None:
        """The platform tells the bot of the same message again."""

    @abstractmethod
    def heard(self, place: Place) -> list[Heard]:
        """All messages of the bot in a place and its threads, in their order."""

    @abstractmethod
    def typing(self, place: Place) -> int:
        """How often the bot showed there that it is at work."""

    def shout(self, bystander: Any) -> str:
        """Markdown that would call everybody here, and this person."""
        raise NotImplementedError(self.exempt)

    def fail_next_send(self, place: Place, fault: Fault) -> Failing:
        """Lets the next send into a place meet a fault."""
        raise NotImplementedError(self.exempt)

    @abstractmethod
    async def cut(self) -> None:
        """Breaks the connection by which messages come in; it can be had again at once."""

    @abstractmethod
    def outage(self) -> AbstractAsyncContextManager[None]:
        """While the body runs, bot and platform do not reach each other; people write on."""

    @abstractmethod
    def left_well(self) -> str:
        """How the last connection ended, as the platform saw it: empty when in good order and with nothing unsaid."""

    @abstractmethod
    async def until(self, seen: Callable[[], T]) -> T:
        """What `seen` answers once that is true, looked at after each change of the platform."""

    async def refusal(self, gateway: Gateway) -> str:
        """What people who run the gateway are told of a wrong token, once it is seen as such."""
        return str((await gateway.logged(f"{self.name}.health", state="off"))["detail"])

    async def hears(self, place: Place, count: int = 1, *, after: int = 0) -> list[Heard]:
        """What the bot said in a place, once there are so many messages beyond the first `after`."""

        def found() -> list[Heard]:
            heard = self.heard(place)[after:]
            return heard if len(heard) >= count else []

        return await self.until(found)

    async def asks(
        self, place: Place, person: Any, text: str, *, mention: bool = False, reply_to: Heard | None = None
    ) -> Heard:
        """Somebody writes, and the next message of the bot there is the answer."""
        before = len(self.heard(place))
        await self.say(place, person, text, mention=mention, reply_to=reply_to)
        return (await self.hears(place, after=before))[0]
