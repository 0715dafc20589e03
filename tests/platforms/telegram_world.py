"""The world behind the fake Bot API: its bots, its people, its chats, and everything the platform stored."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tests.platforms.faults import File
from tests.platforms.server import Bell
from tests.platforms.telegram_chat import Chat, Person
from tests.platforms.telegram_text import Entity, detect

Json = dict[str, Any]

NOT_BY_DEFAULT: Final = frozenset({"chat_member", "message_reaction", "message_reaction_count"})


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of a bot as the platform keeps it: `text` and `entities` are the current ones after edits."""

    chat_id: int
    thread_id: int | None
    text: str
    entities: tuple[Entity, ...]
    reply_to: int | None
    message_id: int
    at: float
    bot_id: int
    quote: str | None = None
    document: File | None = None
    edits: int = 0
    deleted: bool = False

    @property
    def pings(self) -> tuple[str, ...]:
        """Whom the message calls: `@name` outside code, user ids of text mentions and tg://user links."""
        called = []
        for entity in detect(self.text, self.entities):
            match entity.kind:
                case "mention":
                    called.append(entity.of(self.text))
                case "text_mention":
                    called.append(str(entity.extra["user"]["id"]))
                case "text_link" if (url := str(entity.extra.get("url", ""))).startswith("tg://user?id="):
                    called.append(url.removeprefix("tg://user?id="))
        return tuple(called)


@dataclass(frozen=True, slots=True)
class Draft:
    """One sendMessageDraft: a preview in a private chat, never a message."""

    chat_id: int
    draft_id: int
    text: str
    thread_id: int | None


@dataclass(slots=True, eq=False)
class BotAccount:
    """A bot known to the platform and its queue of updates (facts 1.1, 1.3)."""

    token: str
    username: str
    name: str
    privacy: bool = False
    queue: list[Json] = field(default_factory=list)
    replays: list[Json] = field(default_factory=list)
    history: dict[int, Json] = field(default_factory=dict)
    allowed: frozenset[str] | None = None
    webhook: str = ""
    poll: int = 0
    ended_by: str = ""
    commands: dict[tuple[str, str], list[Json]] = field(default_factory=dict)

    @property
    def id(self) -> int:
        return int(self.token.split(":")[0])

    @property
    def user(self) -> Json:
        return {"id": self.id, "is_bot": True, "first_name": self.name, "username": self.username}

    def wants(self, kind: str) -> bool:
        return kind in self.allowed if self.allowed is not None else kind not in NOT_BY_DEFAULT

    def enqueue(self, body: Mapping[str, Any]) -> Json:
        update = {"update_id": max(self.history, default=self.id * 1000) + 1, **body}
        self.history[int(update["update_id"])] = update
        self.queue.append(update)
        return update

    def confirm(self, offset: int) -> None:
        """What `getUpdates` drops: everything below a positive offset; all but the last n for -n."""
        if offset > 0:
            self.queue = [update for update in self.queue if update["update_id"] >= offset]
        elif offset < 0:
            self.queue = self.queue[offset:]

    def batch(self, limit: int) -> list[Json]:
        return [*self.replays, *self.queue][:limit]

    def end_poll(self, why: str) -> int:
        """Terminate the waiting poll; the number of the one that follows it."""
        self.ended_by = why
        self.poll += 1
        return self.poll


class World:
    """Bots, people, chats and stored messages of one fake Telegram."""

    def __init__(self, bell: Bell, clock: Callable[[], float] = time.time) -> None:
        self.bell = bell
        self.clock = clock
        self.bots: dict[str, BotAccount] = {}
        self.people: dict[int, Person] = {}
        self.groups: dict[int, Chat] = {}
        self.privates: dict[tuple[int, int], Chat] = {}
        self.sent: list[Sent] = []
        self.drafts: list[Draft] = []
        self.files: dict[str, File] = {}

    @property
    def main_bot(self) -> BotAccount:
        return next(iter(self.bots.values()))

    def chat(self, bot: BotAccount, chat_id: int) -> Chat | None:
        return self.privates.get((bot.id, chat_id)) or self.groups.get(chat_id)

    def add_private(self, person: Person, bot: BotAccount) -> Chat:
        key = bot.id, person.id
        if key not in self.privates:
            self.privates[key] = Chat(self, person.id, "private", person.name, [person], bot=bot)
        return self.privates[key]

    def add_group(self, chat_id: int, title: str, members: Iterable[Person], admins: Iterable[Person]) -> Chat:
        kind = "supergroup" if str(chat_id).startswith("-100") else "group"
        self.groups[chat_id] = Chat(self, chat_id, kind, title, list(members), list(admins))
        return self.groups[chat_id]

    def keep_file(self, file: File) -> str:
        file_id = f"file{len(self.files) + 1}"
        self.files[file_id] = file
        return file_id

    def deliver(self, chat: Chat, kind: str, body: Json) -> Json:
        """Put an update in the queue of every bot that sees it; the first one's is returned."""
        updates = [
            bot.enqueue({kind: body})
            for bot in ([chat.bot] if chat.bot else self.bots.values())
            if bot.wants(kind) and (chat.bot or not bot.privacy or self._is_for(bot, body))
        ]
        self.bell.ring()
        return updates[0] if updates else {kind: body}

    def _is_for(self, bot: BotAccount, message: Json) -> bool:
        """Privacy mode (facts 1.3): commands, mentions, replies to the bot, service messages."""
        text = str(message.get("text", message.get("caption", "")))
        if not text:
            return True
        if message.get("reply_to_message", {}).get("from", {}).get("id") == bot.id:
            return True
        for item in message.get("entities") or message.get("caption_entities") or []:
            word = Entity(item["type"], item["offset"], item["length"]).of(text).lower()
            if item["type"] == "mention" and word == f"@{bot.username}".lower():
                return True
            if item["type"] == "bot_command" and word.partition("@")[2] in {"", bot.username.lower()}:
                return True
        return False

    def store(self, sent: Sent) -> None:
        self.sent.append(sent)
        self.bell.ring()

    def change(self, chat_id: int, message_id: int, **changes: Any) -> None:
        for at, sent in enumerate(self.sent):
            if (sent.chat_id, sent.message_id) == (chat_id, message_id):
                self.sent[at] = replace(sent, **changes)
        self.bell.ring()
