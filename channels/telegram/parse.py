"""One update of Telegram -> one IncomingMessage, or nothing. Pure (facts 1.3-1.6)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from aiogram.types import Message, MessageEntity, Update

from channels.names import one_line
from channels.overheard import Aside
from channels.telegram.media import flat, label
from gateway.message import Author, IncomingMessage, MessageId, Quote, Route, SessionKey, clean

CHANNEL: Final = "telegram"

_GROUPS: Final = frozenset({"group", "supergroup"})
_GENERAL: Final = 1  # the id some messages give the General topic; sending to it is refused
_CODE: Final = {"code": ("`", "`"), "pre": ("```\n", "\n```")}


@dataclass(frozen=True, slots=True)
class Me:
    """The bot itself, as `getMe` knows it."""

    id: int
    username: str

    def is_named(self, name: str) -> bool:
        """Whether a name, with or without its @, is this bot's."""
        return name.removeprefix("@").casefold() == self.username.casefold()


def parse(raw: Mapping[str, object], me: Me, now: datetime) -> IncomingMessage | Aside | None:
    """The message of an update, or None where there is nothing to answer.

    Aside: what in a group does not address this bot by mention, reply or command. None: other kinds of updates (edits
    too), service messages, channels, bots, and commands for another bot. Raises pydantic's ValidationError for an
    update that cannot be read.
    """
    update = Update.model_validate(raw)
    message = update.message
    author = None if message is None else _author(message)
    if message is None or author is None or not (message.chat.type == "private" or message.chat.type in _GROUPS):
        return None
    words = _Words.of(message, me)
    text = words.rest or label(message) or words.said
    if not text or words.is_for_another_bot:
        return None
    private = message.chat.type == "private"
    account, chat, thread = str(me.id), str(message.chat.id), _thread(message)
    route = Route(CHANNEL, account, chat, thread)
    if not (private or words.mentions or words.is_command or _replies_to(message, me)):
        return Aside(route, Quote(author.name, text))
    return clean(
        IncomingMessage(
            id=MessageId(f"{CHANNEL}/{account}/{update.update_id}"),
            session=SessionKey(CHANNEL, account, chat, thread),
            route=route,
            author=author,
            text=text,
            sent_at=message.date,
            received_at=now,
            private=private,
            reply_to=str(message.message_id),
        )
    )


def _author(message: Message) -> Author | None:
    """Who speaks. Where a chat speaks (an anonymous admin, a channel), `from` is a fake user: never its id."""
    if message.is_automatic_forward:
        return None
    if chat := message.sender_chat:
        return Author(str(chat.id), one_line(chat.title or chat.full_name, str(chat.id)))
    if (user := message.from_user) is None or user.is_bot:
        return None
    return Author(str(user.id), one_line(user.full_name, str(user.id)))


def _thread(message: Message) -> str | None:
    """The topic. A plain reply chain has a thread id too, without `is_topic_message` (case C65)."""
    if not message.is_topic_message or message.message_thread_id in (None, _GENERAL):
        return None
    return str(message.message_thread_id)


def _replies_to(message: Message, me: Me) -> bool:
    """Whether it answers the bot. In a topic every message refers to the one that opened it: that is no reply."""
    target = message.reply_to_message
    if target is None or target.forum_topic_created is not None or target.from_user is None:
        return False
    return target.from_user.id == me.id


@dataclass(frozen=True, slots=True)
class _Words:
    """What was written: `said` as it came, `rest` without the bot's own name around it."""

    said: str
    rest: str
    mentions: bool
    is_command: bool
    is_for_another_bot: bool

    @classmethod
    def of(cls, message: Message, me: Me) -> "_Words":
        text = message.text or message.caption or flat(message.rich_message)
        marks = [_Mark.of(entity, text) for entity in message.entities or message.caption_entities or ()]
        ours = [mark for mark in marks if mark.mentions(me)]
        start, end = _without(text, ours)
        rest, at = text[start:end], start
        for mark in marks:
            if mark.start != at:
                continue
            if mark.kind == "bot_command":
                name, _, bot = mark.words.partition("@")
                rest = name + text[mark.end : end] if me.is_named(bot) else rest
                return cls(text, rest, bool(ours), True, bool(bot) and not me.is_named(bot))
            if mark.kind in _CODE and mark.words[:1] in ("/", "\uff0f"):  # quoted, so nobody may take it for a command
                before, after = _CODE[mark.kind]
                rest = before + mark.words + after + text[mark.end : max(end, mark.end)]
        return cls(text, rest, bool(ours), False, False)


@dataclass(frozen=True, slots=True)
class _Mark:
    """An entity, in code points of its text."""

    kind: str
    start: int
    end: int
    words: str
    user: int | None

    @classmethod
    def of(cls, entity: MessageEntity, text: str) -> "_Mark":
        units = text.encode("utf-16-le", "surrogatepass")
        start, end = 2 * entity.offset, 2 * (entity.offset + entity.length)
        before, words = (part.decode("utf-16-le", "surrogatepass") for part in (units[:start], units[start:end]))
        user = entity.user.id if entity.user else None
        return cls(entity.type, len(before), len(before + words), words, user)

    def mentions(self, me: Me) -> bool:
        return (self.kind == "mention" and me.is_named(self.words)) or (
            self.kind == "text_mention" and self.user == me.id
        )


def _without(text: str, ours: list[_Mark]) -> tuple[int, int]:
    """Where the text begins and ends without the bot's name before and after it; within a sentence it stays."""
    start, end = _skip(text, 0, r"\s*"), len(text.rstrip())
    for mark in ours:
        if mark.start == start:
            start = _skip(text, mark.end, r"[\s,:]*")
    for mark in reversed(ours):
        if mark.end == end and mark.start >= start:
            end = len(text[: mark.start].rstrip())
    return start, end


def _skip(text: str, at: int, pattern: str) -> int:
    found = re.compile(pattern).match(text, at)
    return at if found is None else found.end()
