"""People and the channels they talk in, as Discord tells a bot about them (facts 2.2, 2.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.platforms import discord_wire as wire
from tests.platforms.discord_text import mentioned
from tests.platforms.faults import File

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.platforms.discord_guild import Guild
    from tests.platforms.discord_interactions import Interaction
    from tests.platforms.discord_world import BotAccount, Sent, World

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Person:
    """A user of Discord; `name` is shown, the username is its small letters."""

    id: str
    name: str
    is_bot: bool = False

    @property
    def user(self) -> Json:
        return wire.user(self.id, self.name.lower().replace(" ", "_"), self.name, is_bot=self.is_bot)


@dataclass(frozen=True, slots=True)
class Said:
    """A message that somebody other than the bot wrote, as it was when it was written."""

    id: str
    channel_id: str
    content: str
    message: Json


@dataclass(slots=True, eq=False)
class Channel:
    """A text channel, forum, thread or DM. `messages` is its history by id, oldest first, as REST answers it.

    Switches: `archived` and `locked` of a thread; `refuses`, a code that every write gets (50001, 50007, 50013, ...:
    see `REFUSALS`), and with 50001 every read too.
    """

    world: World
    id: str
    kind: int
    name: str
    guild: Guild | None = None
    parent: Channel | None = None
    person: Person | None = None
    bot: BotAccount | None = None
    owner: Person | None = None
    archived: bool = False
    locked: bool = False
    refuses: int = 0
    messages: dict[str, Json] = field(default_factory=dict)

    @property
    def wire(self) -> Json:
        last = next(reversed(self.messages), None)
        shape: Json = {"id": self.id, "type": self.kind, "last_message_id": last, "flags": 0}
        if self.person:
            return shape | {"recipients": [self.person.user]}
        assert self.guild is not None
        shape |= {"guild_id": self.guild.id, "name": self.name, "rate_limit_per_user": 0, "nsfw": False}
        shape |= {"parent_id": self.parent.id if self.parent else None}
        if self.kind != wire.THREAD:
            shape |= {"position": 0, "permission_overwrites": [], "topic": None, "default_auto_archive_duration": 1440}
            return shape | ({"available_tags": [], "default_forum_layout": 0} if self.kind == wire.FORUM else {})
        metadata: Json = {"archived": self.archived, "locked": self.locked, "auto_archive_duration": 1440}
        metadata |= {"archive_timestamp": wire.JOINED, "create_timestamp": wire.JOINED}
        shape |= {"owner_id": (self.owner or self.guild.owner).id, "thread_metadata": metadata, "member_count": 1}
        return shape | {"message_count": len(self.messages), "total_message_sent": len(self.messages)}

    def says(
        self,
        person: Person,
        text: str = "",
        *,
        mention: bool = False,
        role_mention: bool = False,
        reply_to: Said | Sent | str | None = None,
        ping: bool = True,
        attachments: Iterable[tuple[str, bytes]] = (),
        raw: Json | None = None,
        bot: BotAccount | None = None,
    ) -> Said:
        """A person's message, stored and told to every session there is.

        `mention` and `role_mention` put the bot's user or its managed role before the text; a reply mentions whom it
        answers unless `ping` is off; `raw` goes in as it is, also what no SDK can read.
        """
        addressed = bot or self.world.main_bot
        if role_mention and self.guild:
            text = f"<@&{self.guild.bot_role(addressed).id}> {text}"
        if mention:
            text = f"<@{addressed.id}> {text}"
        if self.guild:
            self.guild.join(person)
        message = self._draft(person.user, text)
        message["attachments"] = [self.world.keep_file(self, File(name, data)) for name, data in attachments]
        if reply_to is not None:
            self._refer(message, _id(reply_to), ping=ping)
        return self._enter(message | (raw or {}))

    def edits(self, said: Said | str, text: str) -> None:
        """A person changes an own message: MESSAGE_UPDATE."""
        self.change(_id(said), content=text, edited_timestamp=wire.iso(self.world.clock()))

    def deletes(self, message: Said | Sent | str) -> None:
        """A message disappears: MESSAGE_DELETE."""
        self.remove(_id(message))

    def redeliver(self, said: Said) -> None:
        """The same MESSAGE_CREATE once more, as Discord may (facts 2.2)."""
        self.announce("MESSAGE_CREATE", said.message)

    def joins(self, person: Person) -> Said:
        """The system says that somebody joined."""
        return self._enter(self._draft(person.user, "") | {"type": wire.JOIN})

    def pins(self, person: Person, said: Said | Sent) -> Said:
        """A message is pinned, and the system says so."""
        self.change(_id(said), pinned=True)
        note = self._draft(person.user, "") | {"type": wire.PIN}
        self._refer(note, _id(said), ping=False)
        return self._enter(note | {"type": wire.PIN})

    def webhook(self, name: str, text: str) -> Said:
        """A message of a webhook: an author that is no member and no user."""
        author = wire.user(self.world.snowflake(), name, None, is_bot=True) | {"discriminator": "0000"}
        return self._enter(self._draft(author, text) | {"webhook_id": author["id"]})

    def thread(self, name: str, from_message: Said | Sent | None = None, by: Person | None = None) -> Channel:
        """Open a thread; with a message it has the message's id. The system's own messages about it come too."""
        assert self.guild is not None
        by = by or self.guild.owner
        thread_id = _id(from_message) if from_message else self.world.snowflake()
        thread = self.guild.add_channel(wire.THREAD, name, thread_id, parent=self, owner=by)
        if from_message is None:
            note = self._draft(by.user, name) | {"type": wire.THREAD_CREATED}
            self._enter(note | {"message_reference": {"channel_id": thread.id, "guild_id": self.guild.id}})
            return thread
        self.change(thread_id, flags=wire.HAS_THREAD, thread=thread.wire)
        starter = thread._draft(by.user, "") | {"type": wire.THREAD_STARTER}
        starter["message_reference"] = {"message_id": thread_id, "channel_id": self.id, "guild_id": self.guild.id}
        thread._enter(starter | {"referenced_message": self.messages[thread_id]})
        return thread

    def post(self, name: str, person: Person, text: str, **how: Any) -> Channel:
        """A post in a forum: a thread whose first message has the thread's id."""
        assert self.guild is not None
        assert self.kind == wire.FORUM
        thread = self.guild.add_channel(wire.THREAD, name, self.world.snowflake(), parent=self, owner=person)
        thread.says(person, text, raw={"id": thread.id}, **how)
        return thread

    def commands(self, person: Person, name: str, *, bot: BotAccount | None = None, **options: Any) -> Interaction:
        """A person uses an application command; ValueError where the bot registered none that takes these options."""
        if self.guild:
            self.guild.join(person)
        return self.world.interact(self, person, bot or self.bot or self.world.main_bot, name, options)

    def closes(self, *, archived: bool = True, locked: bool = False) -> None:
        """A thread is archived, locked or both; or opened again."""
        self.archived, self.locked = archived, locked
        self.world.publish("THREAD_UPDATE", self.wire, self)

    def disappears(self) -> None:
        """The channel is deleted."""
        del self.world.channels[self.id]
        if self.guild:
            event = "THREAD_DELETE" if self.kind == wire.THREAD else "CHANNEL_DELETE"
            self.world.publish(event, self.wire, self)

    def store(self, message: Json) -> None:
        """Keep a message in the history and tell it to every session; a thread that slept wakes up."""
        self.messages[message["id"]] = message
        if self.archived:
            self.closes(archived=False)
        self.announce("MESSAGE_CREATE", message)

    def change(self, message_id: str, **changes: Any) -> Json:
        """Change a stored message and tell it: MESSAGE_UPDATE."""
        message = self.messages[message_id] = self.messages[message_id] | changes
        self.announce("MESSAGE_UPDATE", message)
        return message

    def remove(self, message_id: str) -> None:
        """Forget a message and tell it: MESSAGE_DELETE."""
        del self.messages[message_id]
        where: Json = {"id": message_id, "channel_id": self.id}
        self.world.publish("MESSAGE_DELETE", where | ({"guild_id": self.guild.id} if self.guild else {}), self)

    def announce(self, event: str, message: Json) -> None:
        """A message as an event: with its guild and, unless a webhook wrote it, its author's membership."""
        if self.guild:
            message = message | {"guild_id": self.guild.id}
            if "webhook_id" not in message and message["author"]:
                message["member"] = wire.member(self.guild.role_ids(message["author"]["id"]))
        self.world.publish(event, message, self)

    def mark(self, content: str, called: Iterable[str], roles: Iterable[str], *, everyone: bool) -> Json:
        """The fields of a message that say whom it mentions."""
        users = [self.world.user(user_id) for user_id in called]
        known = [role for role in roles if self.guild and role in self.guild.roles]
        return {
            "content": content,
            "mentions": [user for user in users if user],
            "mention_roles": known,
            "mention_everyone": everyone and self.guild is not None,
        }

    def _draft(self, author: Json, text: str) -> Json:
        found = mentioned(text)
        message = wire.message(self.world.snowflake(), self.id, author, text, self.world.clock())
        return message | self.mark(text, found.users, found.roles, everyone=found.everyone)

    def _refer(self, message: Json, parent_id: str, *, ping: bool) -> None:
        """Make a message a reply; one to what is gone has a null `referenced_message`."""
        parent = self.messages.get(parent_id)
        reference: Json = {"type": 0, "channel_id": self.id, "message_id": parent_id}
        message |= {"type": wire.REPLY, "referenced_message": without_parent(parent)}
        message["message_reference"] = reference | ({"guild_id": self.guild.id} if self.guild else {})
        if ping and parent and parent["author"]["id"] not in {user["id"] for user in message["mentions"]}:
            message["mentions"] = [*message["mentions"], parent["author"]]

    def _enter(self, message: Json) -> Said:
        self.store(message)
        return Said(message["id"], self.id, message.get("content", ""), message)


def without_parent(message: Json | None) -> Json | None:
    """A message as another one quotes it: one level deep."""
    return message and {key: value for key, value in message.items() if key != "referenced_message"}


def _id(message: Said | Sent | str) -> str:
    if isinstance(message, str):
        return message
    return message.id if isinstance(message, Said) else message.message_id
