"""What Discord tells of its guilds: whose they are, what their roles may, and who is an admin by that. No requests."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import Final

from channels.discord.fields import Payload, inner, rows, text, whole

_ADMINISTRATOR: Final = 1 << 3
_MANAGE_GUILD: Final = 1 << 5


@dataclass(frozen=True, slots=True)
class Guild:
    """`permissions` of each role; the one that everybody has bears the guild's own id. `own`: the bot's own roles."""

    id: str
    owner: str
    permissions: Mapping[str, int]
    own: frozenset[str] = frozenset()

    @classmethod
    def of(cls, raw: Payload, bot: str) -> "Guild":
        """Reads a guild as REST and the gateway tell it. Raises Unreadable."""
        roles = list(rows(raw, "roles"))
        own = frozenset(text(role, "id") for role in roles if inner(role, "tags").get("bot_id") == bot)
        return cls(text(raw, "id"), text(raw, "owner_id"), dict(map(_role, roles)), own)


@dataclass(frozen=True, slots=True)
class AdminRule:
    """Whom the platform holds for an admin. `permissions`: whoever may administer or manage the guild, or owns it.

    `roles`: whoever has one of these, by id.
    """

    permissions: bool
    roles: frozenset[str]

    @property
    def names_somebody(self) -> bool:
        """Whether there can be an admin at all."""
        return self.permissions or bool(self.roles)

    def holds(self, guild: Guild, person: str, roles: Set[str]) -> bool:
        """Whether a member with these roles is an admin of a guild."""
        granted = 0
        for role in (guild.id, *roles):
            granted |= guild.permissions.get(role, 0)
        return bool(roles & self.roles) or (self.permissions and (person == guild.owner or _manages(granted)))

    def holds_by(self, permissions: int, roles: Set[str]) -> bool:
        """The same for a member whose permissions Discord has added up, as it does with a command."""
        return bool(roles & self.roles) or (self.permissions and _manages(permissions))


class Guilds:
    """The guilds of one gateway session, kept up to date by its events. Each method raises Unreadable."""

    def __init__(self) -> None:
        self._known: dict[str, Guild] = {}

    @property
    def own_roles(self) -> frozenset[str]:
        """The bot's own role in each guild."""
        return frozenset(role for guild in self._known.values() for role in guild.own)

    def get(self, guild: str) -> Guild | None:
        """A guild, as far as it was told."""
        return self._known.get(guild)

    def learn(self, raw: Payload, bot: str) -> None:
        """GUILD_CREATE and GUILD_UPDATE."""
        guild = Guild.of(raw, bot)
        self._known[guild.id] = guild

    def learn_role(self, raw: Payload) -> None:
        """GUILD_ROLE_CREATE and GUILD_ROLE_UPDATE."""
        if (guild := self._known.get(text(raw, "guild_id"))) is not None:
            role, permissions = _role(inner(raw, "role"))
            self._known[guild.id] = replace(guild, permissions={**guild.permissions, role: permissions})

    def forget_role(self, raw: Payload) -> None:
        """GUILD_ROLE_DELETE."""
        if (guild := self._known.get(text(raw, "guild_id"))) is not None:
            left = {role: may for role, may in guild.permissions.items() if role != text(raw, "role_id")}
            self._known[guild.id] = replace(guild, permissions=left)

    def forget(self, raw: Payload) -> None:
        """GUILD_DELETE: an outage of Discord's, or the bot is out of it."""
        self._known.pop(text(raw, "id"), None)


def _role(raw: Payload) -> tuple[str, int]:
    return text(raw, "id"), whole(raw, "permissions")


def _manages(permissions: int) -> bool:
    return bool(permissions & (_ADMINISTRATOR | _MANAGE_GUILD))
