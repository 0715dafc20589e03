"""A guild: its members, their roles and permissions, its channels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.platforms import discord_wire as wire
from tests.platforms.discord_chat import Channel, Person

if TYPE_CHECKING:
    from tests.platforms.discord_world import BotAccount, World

Json = dict[str, Any]


@dataclass(slots=True, eq=False)
class Role:
    """A role of a guild; a managed one (`bot_id`) belongs to a bot and is its membership."""

    id: str
    name: str
    permissions: int
    position: int
    bot_id: str | None = None
    mentionable: bool = False

    @property
    def wire(self) -> Json:
        return wire.role(
            self.id, self.name, self.permissions, self.position, bot_id=self.bot_id, mentionable=self.mentionable
        )


@dataclass(slots=True, eq=False)
class Guild:
    """One guild with every bot of the platform in it. Whoever speaks in it is a member from then on."""

    world: World
    id: str
    name: str
    owner: Person
    members: list[Person] = field(default_factory=list)
    roles: dict[str, Role] = field(default_factory=dict)
    given: dict[str, list[str]] = field(default_factory=dict)

    def text(self, name: str, id: int | str | None = None) -> Channel:  # noqa: A002
        """A text channel."""
        return self.add_channel(wire.TEXT, name, str(id or self.world.snowflake()))

    def forum(self, name: str, id: int | str | None = None) -> Channel:  # noqa: A002
        """A forum: only its posts, which are threads, hold messages."""
        return self.add_channel(wire.FORUM, name, str(id or self.world.snowflake()))

    def role(
        self,
        name: str,
        permissions: int = 0,
        id: int | str | None = None,  # noqa: A002
        *,
        mentionable: bool = False,
        bot_id: str | None = None,
    ) -> Role:
        """A role; permissions are Discord's bits (`1 << 3` administrator, `1 << 5` manage the guild)."""
        role = Role(str(id or self.world.snowflake()), name, permissions, len(self.roles), bot_id, mentionable)
        self.roles[role.id] = role
        if self.id in self.world.guilds:
            self.world.publish("GUILD_ROLE_CREATE", {"guild_id": self.id, "role": role.wire}, guild=self)
        return role

    def give(self, person: Person, role: Role) -> None:
        """A member gets a role."""
        self.join(person)
        self.given.setdefault(person.id, []).append(role.id)

    def join(self, person: Person) -> None:
        """Become a member; once is enough."""
        if person not in self.members:
            self.members.append(person)

    def bot_role(self, bot: BotAccount) -> Role:
        """The managed role of a bot in this guild."""
        return next(role for role in self.roles.values() if role.bot_id == bot.id)

    def role_ids(self, user_id: str) -> list[str]:
        """The roles of a member, bots too, without @everyone."""
        own = [role.id for role in self.roles.values() if role.bot_id == user_id]
        return own + self.given.get(user_id, [])

    def permissions(self, user_id: str) -> int:
        """What a member may in the whole guild: everything as owner or administrator."""
        total = 0
        for role_id in (self.id, *self.role_ids(user_id)):
            total |= self.roles[role_id].permissions
        return wire.EVERY_PERMISSION if user_id == self.owner.id or total & wire.ADMINISTRATOR else total

    def member(self, user: Json) -> Json:
        return wire.member(self.role_ids(user["id"])) | {"user": user}

    def add_channel(self, kind: int, name: str, id: str, **more: Any) -> Channel:  # noqa: A002
        """A new channel or thread, told to every session there is."""
        channel = self.world.channels[id] = Channel(self.world, id, kind, name, self, **more)
        if kind == wire.THREAD:
            self.world.publish("THREAD_CREATE", channel.wire | {"newly_created": True}, channel)
        else:
            self.world.publish("CHANNEL_CREATE", channel.wire, channel)
        return channel

    @property
    def wire(self) -> Json:
        return wire.guild(self.id, self.name, self.owner.id, [role.wire for role in self.roles.values()])

    @property
    def channels(self) -> list[Channel]:
        """Its channels without threads."""
        return [one for one in self.world.channels.values() if one.guild is self and one.kind != wire.THREAD]

    @property
    def threads(self) -> list[Channel]:
        """Its threads that are not archived."""
        found = (one for one in self.world.channels.values() if one.guild is self and one.kind == wire.THREAD)
        return [thread for thread in found if not thread.archived]

    def created(self, bot: BotAccount) -> Json:
        """GUILD_CREATE for a bot without the members intent: of the members only itself."""
        count = len(self.members) + len(self.world.bots)
        shape = self.wire | {"joined_at": wire.JOINED, "large": False, "unavailable": False, "member_count": count}
        shape |= {"channels": [channel.wire for channel in self.channels]}
        shape |= {"threads": [thread.wire for thread in self.threads], "members": [self.member(bot.user)]}
        empty = ("voice_states", "presences", "stage_instances", "guild_scheduled_events", "soundboard_sounds")
        return shape | {name: [] for name in empty}
