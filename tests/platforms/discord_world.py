"""The world behind the fake Discord: its bots, people, guilds and channels, and all that was sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from tests.platforms import discord_wire as wire
from tests.platforms.discord_chat import Channel, Person
from tests.platforms.discord_guild import Guild
from tests.platforms.discord_interactions import Interaction, called
from tests.platforms.discord_sessions import CONTENT, Session
from tests.platforms.faults import File
from tests.platforms.server import Bell

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of a bot as the platform keeps it; `content` is the current one after edits.

    `interaction` is the id of the one it answers; a deferred answer appears when it gets its text. `reply_to` is the
    message of `reference`, whether it existed or not.
    """

    channel_id: str
    content: str
    message_id: str
    at: float
    bot_id: str
    nonce: str | None = None
    enforce_nonce: bool = False
    allowed_mentions: Json | None = None
    reference: Json | None = None
    files: tuple[File, ...] = ()
    interaction: str | None = None
    ephemeral: bool = False
    edits: int = 0
    deleted: bool = False

    @property
    def reply_to(self) -> str | None:
        return str(self.reference["message_id"]) if self.reference else None


@dataclass(frozen=True, slots=True)
class Ping:
    """Somebody was called by a bot's message: `kind` is user, role or everyone."""

    channel_id: str
    message_id: str
    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class Typing:
    """One request to show that the bot types."""

    channel_id: str
    at: float
    bot_id: str


@dataclass(slots=True, eq=False)
class BotAccount:
    """A bot: its user has its application's id. `role_id` is its managed role in the first guild."""

    token: str
    id: str
    username: str
    message_content: bool
    owner: Person
    role_id: str
    commands: list[Json] = field(default_factory=list)
    nonces: dict[str, tuple[float, Json]] = field(default_factory=dict)

    @property
    def user(self) -> Json:
        return wire.user(self.id, self.username, None, is_bot=True)


class World:
    """Everything one fake Discord knows; ids grow with its clock, as Discord's do."""

    def __init__(self, bell: Bell, clock: Callable[[], float] = time.time) -> None:
        self.bell = bell
        self.clock = clock
        self.origin = ""
        self.bots: dict[str, BotAccount] = {}
        self.people: dict[str, Person] = {}
        self.guilds: dict[str, Guild] = {}
        self.channels: dict[str, Channel] = {}
        self.sessions: list[Session] = []
        self.interactions: dict[str, Interaction] = {}
        self.sent: list[Sent] = []
        self.pings: list[Ping] = []
        self.typing: list[Typing] = []
        self.files: dict[str, File] = {}
        self._last_id = 10**17

    @property
    def main_bot(self) -> BotAccount:
        return next(iter(self.bots.values()))

    def snowflake(self) -> str:
        """A new id: later ones are greater, also within a millisecond or under a clock that stands before 2015."""
        self._last_id = max(self._last_id + 1, (int(self.clock() * 1000) - wire.EPOCH) << 22)
        return str(self._last_id)

    def user(self, user_id: str) -> Json | None:
        """A bot or a person by id."""
        bot = next((bot for bot in self.bots.values() if bot.id == user_id), None)
        found = bot or self.people.get(user_id)
        return found.user if found else None

    def dm(self, person: Person, bot: BotAccount) -> Channel:
        """The DM of a person and a bot; always the same."""
        for channel in self.channels.values():
            if channel.person is person and channel.bot is bot:
                return channel
        channel = Channel(self, self.snowflake(), wire.DM, "", person=person, bot=bot)
        return self.channels.setdefault(channel.id, channel)

    def add_guild(self, guild_id: str, name: str, owner: Person, members: Iterable[Person]) -> Guild:
        """A guild that all bots are in, each with its managed role; told to every session there is."""
        first = not self.guilds
        guild = Guild(self, guild_id, name, owner)
        for person in (owner, *members):
            guild.join(person)
        guild.role("@everyone", wire.EVERYONE_MAY, guild_id)
        for bot in self.bots.values():
            guild.role(bot.username, 0, bot.role_id if first else None, bot_id=bot.id)
        self.guilds[guild_id] = guild
        for session in self.sessions:
            if not session.ended:
                self.introduce(guild, session)
        self.bell.ring()
        return guild

    def introduce(self, guild: Guild, session: Session) -> None:
        """GUILD_CREATE, to whom it concerns."""
        if session.serves(guild.id) and session.hears("GUILD_CREATE", private=False):
            session.tell("GUILD_CREATE", guild.created(session.bot))

    def keep_file(self, channel: Channel, file: File) -> Json:
        """An attachment that can be fetched from its url."""
        key = self.snowflake()
        self.files[key] = file
        url = f"{self.origin}/attachments/{channel.id}/{key}/{file.name}"
        shape: Json = {"id": key, "filename": file.name, "size": len(file.data), "url": url, "proxy_url": url}
        return shape | {"content_type": "application/octet-stream", "flags": 0}

    def interact(self, channel: Channel, person: Person, bot: BotAccount, name: str, options: Json) -> Interaction:
        """Begin an interaction and tell it to the bot."""
        interaction = called(self, channel, person, bot, name, options)
        self.interactions[interaction.token] = interaction
        self.publish("INTERACTION_CREATE", interaction.event(), channel, bot=bot)
        return interaction

    def publish(
        self,
        event: str,
        data: Json,
        channel: Channel | None = None,
        *,
        guild: Guild | None = None,
        bot: BotAccount | None = None,
    ) -> None:
        """Tell an event to every session that may hear it: of the DM's bot, of the guild's shard, by its intents."""
        guild = guild or (channel.guild if channel else None)
        only = bot or (channel.bot if channel else None)
        for session in self.sessions:
            if session.ended or only not in (None, session.bot) or not session.serves(guild.id if guild else None):
                continue
            if session.hears(event, private=guild is None):
                blind = guild is not None and not session.intents & CONTENT and data.get("author")
                session.tell(event, wire.readable(data, session.bot.id) if blind else data)
        self.bell.ring()

    def ping(self, channel: Channel, message: Json) -> None:
        """Note whom a bot's new message calls."""
        where = (channel.id, message["id"])
        self.pings += [Ping(*where, "user", user["id"]) for user in message["mentions"]]
        self.pings += [Ping(*where, "role", role_id) for role_id in message["mention_roles"]]
        if message["mention_everyone"]:
            self.pings.append(Ping(*where, "everyone", channel.guild.id if channel.guild else ""))

    def change(self, message_id: str, **changes: Any) -> None:
        """Change what the log says of a sent message."""
        for at, sent in enumerate(self.sent):
            if sent.message_id == message_id:
                self.sent[at] = replace(sent, **changes)
        self.bell.ring()
