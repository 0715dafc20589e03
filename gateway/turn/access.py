"""Who may talk, and who may do what. One place decides, for chat and for commands alike."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from gateway.channel import KnowsAdmins
from gateway.errors import Retryable
from gateway.message import IncomingMessage, Route
from gateway.turn.approvals import Approvals
from gateway.turn.commands.command import Need


@dataclass(frozen=True, slots=True)
class Rules:
    """Of one channel. Ids are the platform's stable ones. `direct` and `group`: open, allowlist or pairing.

    `platform`: whom the platform holds for an admin of a place is one there.
    """

    admins: frozenset[str] = frozenset()
    allow: frozenset[str] = frozenset()
    direct: str = "pairing"
    group: str = "open"
    platform: bool = False


class Verdict(Enum):
    """PAIR: not yet, but a code will be approved by an admin."""

    TALK = "talk"
    PAIR = "pair"
    REFUSE = "refuse"


class Access:
    """Judges from local data at acceptance, and again when a command runs: then the platform is asked as well.

    `platform` finds what knows the platform's own admins, for a route.
    """

    def __init__(
        self,
        rules: Mapping[str, Rules],
        approvals: Approvals,
        platform: Callable[[Route], KnowsAdmins | None] = lambda route: None,
    ) -> None:
        self._rules, self.approvals, self._platform = dict(rules), approvals, platform

    def is_admin(self, message: IncomingMessage) -> bool | None:
        """Whether the author is an admin here. None: only the platform can tell, and it was not asked lately."""
        rules = self._of(message)
        if message.author.id in rules.admins:
            return True
        knows = self._knows(message)
        return False if knows is None else knows.admin(message.route, message.author.id)

    def may(self, message: IncomingMessage, need: Need) -> bool | None:
        """Whether the author, who may talk here, may also do what has this need here. None as in `is_admin`."""
        if need is Need.ANYONE or (need is Need.OWNER and message.private):
            return True
        return self.is_admin(message)

    async def settle(self, message: IncomingMessage, need: Need) -> bool:
        """As `may`, and asks the platform where only it can tell. Raises Retryable when that cannot be."""
        known = self.may(message, need)
        if known is not None:
            return known
        if (knows := self._knows(message)) is None:
            raise Retryable(f"the channel {message.session.channel} is not here")
        return await knows.ask_admin(message.route, message.author.id)

    def _knows(self, message: IncomingMessage) -> KnowsAdmins | None:
        return self._platform(message.route) if self._of(message).platform and not message.private else None

    async def admit(self, message: IncomingMessage) -> Verdict:
        """Whether the author may talk here at all. A person who was revoked may not, wherever others may."""
        rules = self._of(message)
        if message.author.id in rules.admins | rules.allow:
            return Verdict.TALK
        person = await self.approvals.state(message)
        match rules.direct if message.private else rules.group, person.state if person else "unknown":
            case _, "revoked":
                return Verdict.REFUSE
            case ("open", _) | ("pairing", "approved"):
                return Verdict.TALK
            case "pairing", _:
                return Verdict.PAIR
            case _:
                return Verdict.REFUSE

    def _of(self, message: IncomingMessage) -> Rules:
        return self._rules.get(message.session.channel, Rules())
