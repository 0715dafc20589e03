"""Who may talk, and who may do what. One place decides, for chat and for commands alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from gateway.message import IncomingMessage
from gateway.turn.approvals import Approvals
from gateway.turn.commands.command import Need


@dataclass(frozen=True, slots=True)
class Rules:
    """Of one channel. Ids are the platform's stable ones. `direct` and `group`: open, allowlist or pairing."""

    admins: frozenset[str] = frozenset()
    allow: frozenset[str] = frozenset()
    direct: str = "pairing"
    group: str = "open"


class Verdict(Enum):
    """PAIR: not yet, but a code will be approved by an admin."""

    TALK = "talk"
    PAIR = "pair"
    REFUSE = "refuse"


class Access:
    """Judges from local data alone, at acceptance and again when a command runs."""

    def __init__(self, rules: Mapping[str, Rules], approvals: Approvals) -> None:
        self._rules, self.approvals = dict(rules), approvals

    def is_admin(self, message: IncomingMessage) -> bool:
        """Whether the author is an admin of this channel."""
        return message.author.id in self._of(message).admins

    def may(self, message: IncomingMessage, need: Need) -> bool:
        """Whether the author, who may talk here, may also do what has this need here."""
        match need:
            case Need.ANYONE:
                return True
            case Need.OWNER:
                return message.private or self.is_admin(message)
            case Need.ADMIN:
                return self.is_admin(message)

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
