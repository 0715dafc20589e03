"""People and the chats they talk in, as Telegram tells a bot about them (facts 1.3-1.5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tests.platforms.faults import File
from tests.platforms.telegram_text import Entity, Formatted, Refusal, bad_request, typed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.platforms.telegram_world import BotAccount, Sent, World

Json = dict[str, Any]

ADMIN_RIGHTS: Final = (
    "can_be_edited",
    "is_anonymous",
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
)


@dataclass(frozen=True, slots=True)
class Person:
    """A user of Telegram."""

    id: int
    name: str
    username: str | None = None
    is_bot: bool = False

    @property
    def user(self) -> Json:
        user: Json = {"id": self.id, "is_bot": self.is_bot, "first_name": self.name}
        return user | ({"username": self.username} if self.username else {})


@dataclass(slots=True, eq=False)
class Chat:
    """One chat. Message ids count from 1 in every chat, so ids of different chats collide as they may in life."""

    world: World
    id: int
    kind: str
    title: str
    members: list[Person]
    admins: list[Person] = field(default_factory=list)
    bot: BotAccount | None = None
    is_forum: bool = False
    bot_is_admin: bool = False
    topics: dict[int, str] = field(default_factory=dict)
    closed_topics: set[int] = field(default_factory=set)
    messages: dict[int, Json] = field(default_factory=dict)
    refuses: str = ""
    migrated_to: int | None = None
    last_message_id: int = 0

    @property
    def wire(self) -> Json:
        if self.kind == "private":
            person = self.members[0]
            chat: Json = {"id": self.id, "type": "private", "first_name": person.name}
            return chat | ({"username": person.username} if person.username else {})
        chat = {"id": self.id, "type": self.kind, "title": self.title}
        return chat | ({"is_forum": True} if self.is_forum else {})

    def says(
        self,
        person: Person,
        text: str = "",
        *,
        reply_to: Sent | Json | int | None = None,
        topic: int | str | None = None,
        mention: bool = False,
        entities: Iterable[Entity] | None = None,
        photo: bytes | None = None,
        document: tuple[str, bytes] | None = None,
        voice: bytes | None = None,
        extra: Json | None = None,
    ) -> Json:
        """A person's message; the update the bot gets. With a file, `text` is its caption. `extra` goes in as it is."""
        if mention:
            text = f"@{(self.bot or self.world.main_bot).username} {text}"
        said = typed(text) if entities is None else Formatted(text, tuple(entities))
        media = self._media(photo, document, voice)
        key = "caption" if media else "text"
        content: Json = {key: said.text} if said.text or not media else {}
        if said.entities:
            content["caption_entities" if media else "entities"] = [entity.wire() for entity in said.entities]
        message = self.add(person.user, content | media, reply_to=_message_id(reply_to), topic=self.topic(topic))
        message |= extra or {}
        return self.world.deliver(self, "message", message)

    def edits(self, person: Person, message: Json | int, text: str) -> Json:
        """A person changes an own message; the `edited_message` update."""
        old = self.messages[_message_id(message) or 0]
        said = typed(text)
        new = {**old, "text": said.text, "edit_date": int(self.world.clock()), "from": person.user}
        new["entities"] = [entity.wire() for entity in said.entities]
        self.messages[int(old["message_id"])] = new
        return self.world.deliver(self, "edited_message", new)

    def deletes(self, message: Sent | Json | int) -> None:
        """A message disappears; bots are not told (facts 1.3)."""
        del self.messages[_message_id(message) or 0]

    def happens(self, person: Person, service: Json, *, topic: int | str | None = None) -> Json:
        """A service message: `{"new_chat_members": [...]}`, `{"pinned_message": ...}`, ..."""
        return self.world.deliver(self, "message", self.add(person.user, service, topic=self.topic(topic)))

    def blocks(self) -> None:
        """The person blocks the bot, or a group throws it out: told by my_chat_member, refused from now."""
        where = "the user" if self.kind == "private" else f"the {self.kind} chat"
        verb = "blocked by" if self.kind == "private" else "kicked from"
        self.refuses = f"Forbidden: bot was {verb} {where}"
        self._membership("member", "kicked")

    kicks = blocks

    def unblocks(self) -> None:
        """The bot is let in again."""
        self.refuses = ""
        self._membership("kicked", "member")

    def deactivates(self) -> None:
        """The person deleted the account."""
        self.refuses = "Forbidden: user is deactivated"

    def migrates(self, new_id: int) -> Chat:
        """The group becomes a supergroup with another id; both service messages are delivered."""
        chat = self.world.add_group(new_id, self.title, self.members, self.admins)
        self.migrated_to = new_id
        person = (self.admins or self.members)[0]
        self.happens(person, {"migrate_to_chat_id": new_id})
        chat.happens(person, {"migrate_from_chat_id": self.id})
        return chat

    def add_topic(self, name: str, thread_id: int | None = None) -> int:
        """Open a forum topic; its thread id is the id of the message that announces it."""
        self.last_message_id = thread_id - 1 if thread_id else max(self.last_message_id, 1)  # 1 is General's
        owner = (self.admins or self.members or [Person(777000, "Telegram")])[0]
        created = self.add(owner.user, {"forum_topic_created": {"name": name, "icon_color": 7322096}})
        thread = int(created["message_id"])
        created |= {"message_thread_id": thread, "is_topic_message": True}
        self.topics[thread] = name
        return thread

    def close_topic(self, topic: int | str) -> None:
        self.closed_topics.add(self.topic(topic) or 0)

    def delete_topic(self, topic: int | str) -> None:
        """The topic and its messages are gone."""
        thread = self.topic(topic)
        self.topics.pop(thread or 0)
        self.messages = {key: m for key, m in self.messages.items() if m.get("message_thread_id") != thread}

    def topic(self, topic: int | str | None) -> int | None:
        """The thread id of a topic by id or name; None is General, or a chat without topics."""
        if isinstance(topic, str):
            return next(thread for thread, name in self.topics.items() if name == topic)
        return topic

    def member(self, user: Json) -> Json:
        """What a member, an admin or the owner (the first admin) is to `getChatMember`."""
        admins = [admin.id for admin in self.admins]
        if admins[:1] == [user["id"]]:
            return {"status": "creator", "user": user, "is_anonymous": False}
        if user["id"] in admins or (self.bot_is_admin and user["id"] in {b.id for b in self.world.bots.values()}):
            return {"status": "administrator", "user": user, **dict.fromkeys(ADMIN_RIGHTS, False)}
        return {"status": "member", "user": user}

    def check_writable(self) -> None:
        """Raise what Telegram answers to a bot that may not write here (facts 1.2)."""
        if self.migrated_to is not None:
            what = "Bad Request: group chat was upgraded to a supergroup chat"
            raise Refusal(400, what, {"migrate_to_chat_id": self.migrated_to})
        if self.refuses:
            raise Refusal(403, self.refuses)

    def check_thread(self, thread_id: int | None, *, general: bool = False) -> None:
        """A thread that is no topic is refused, General's id 1 too; only a chat action may name it (`general`)."""
        if thread_id is None or (general and self.is_forum and thread_id == 1):
            return
        if thread_id not in self.topics:
            raise bad_request("message thread not found")
        if thread_id in self.closed_topics and not self.bot_is_admin:
            raise bad_request("TOPIC_CLOSED")

    def add(self, sender: Json, content: Json, *, reply_to: int | None = None, topic: int | None = None) -> Json:
        """Store a message and number it.

        In a topic it carries its thread id and `is_topic_message`, and, where it answers nothing, the topic's first
        message as `reply_to_message`. Elsewhere in a supergroup a reply carries the root of its chain as thread id,
        without `is_topic_message` (facts 1.4).
        """
        self.last_message_id += 1
        message: Json = {"message_id": self.last_message_id, "date": int(self.world.clock())}
        message |= {"chat": self.wire, "from": sender, **content}
        parent = self.messages.get(reply_to or topic or 0)
        if topic is None and parent and parent.get("is_topic_message"):
            topic = int(parent["message_thread_id"])
        if topic is not None:
            message |= {"message_thread_id": topic, "is_topic_message": True}
        elif parent and self.kind == "supergroup":
            message["message_thread_id"] = parent.get("message_thread_id", parent["message_id"])
        if parent:
            message["reply_to_message"] = {k: v for k, v in parent.items() if k != "reply_to_message"}
        self.messages[self.last_message_id] = message
        return message

    def _media(self, photo: bytes | None, document: tuple[str, bytes] | None, voice: bytes | None) -> Json:
        if photo is not None:
            return {"photo": [self._file("photo.jpg", photo) | {"width": 90, "height": 60}]}
        if document is not None:
            return {"document": self._file(*document) | {"file_name": document[0]}}
        if voice is not None:
            return {"voice": self._file("voice.ogg", voice) | {"duration": 1, "mime_type": "audio/ogg"}}
        return {}

    def _file(self, name: str, data: bytes) -> Json:
        file_id = self.world.keep_file(File(name, data))
        return {"file_id": file_id, "file_unique_id": f"u{file_id}", "file_size": len(data)}

    def _membership(self, old: str, new: str) -> None:
        actor = (self.admins or self.members)[0]
        for bot in [self.bot] if self.bot else self.world.bots.values():
            members: Json = {"old_chat_member": {"status": old}, "new_chat_member": {"status": new}}
            for member in members.values():
                member |= {"user": bot.user} | ({"until_date": 0} if member["status"] == "kicked" else {})
            body = {"chat": self.wire, "from": actor.user, "date": int(self.world.clock()), **members}
            if bot.wants("my_chat_member"):
                bot.enqueue({"my_chat_member": body})
        self.world.bell.ring()


def _message_id(message: Sent | Json | int | None) -> int | None:
    match message:
        case None | int():
            return message
        case dict():
            return int((message.get("message") or message)["message_id"])
        case sent:
            return sent.message_id
