"""One event of Slack -> one IncomingMessage, an Aside, or nothing. Pure (facts 3.2-3.4)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from channels.handover import Unreadable
from channels.names import one_line
from channels.overheard import Aside
from channels.slack import media
from channels.slack.text import people, typed
from gateway.message import Author, IncomingMessage, MessageId, Quote, Route, SessionKey, clean

CHANNEL: Final = "slack"

_HUMAN: Final = frozenset({None, "file_share", "thread_broadcast", "me_message"})  # case C37: all others are not for us
_SLACKBOT: Final = "USLACKBOT"
_WORD: Final = re.compile(r"\s*([!/／])?([A-Za-z][A-Za-z0-9_]{0,31})(?=\s|$)")
_TS: Final = re.compile(r"\d{1,11}\.\d{1,9}")


@dataclass(frozen=True, slots=True)
class Me:
    """The bot itself, as `auth.test` knows it."""

    team: str
    user: str
    bot: str = ""

    @property
    def account(self) -> str:
        """The second word of session keys."""
        return f"{self.team}:{self.user}"


@dataclass(frozen=True, slots=True)
class Known:
    """What an event does not tell: names by id, the commands there are, and whether its thread is the bot's."""

    names: Mapping[str, str]
    commands: frozenset[str]
    ours: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was said. `root`: of the thread that it answers in; None for what opens one."""

    channel: str
    ts: str
    root: str | None
    private: bool

    @property
    def thread(self) -> str | None:
        """The thread of its session: a DM is one conversation, in a channel every message opens one."""
        return self.root if self.private else self.root or self.ts


def is_message(event: Mapping[str, object]) -> bool:
    """Whether an event is of the two kinds that bring messages; a mention in a channel comes as both (case C20)."""
    return event.get("type") in ("message", "app_mention")


def place(event: Mapping[str, object]) -> Place:
    """Raises Unreadable where an event does not say."""
    match event:
        case {"channel": str(channel), "ts": str(ts)} if channel and _TS.fullmatch(ts):
            root = event.get("thread_ts")
            if root is None or (isinstance(root, str) and _TS.fullmatch(root)):
                private = event.get("channel_type") == "im" or channel.startswith("D")
                return Place(channel, ts, None if root == ts else root, private)
    raise Unreadable("an event without a place")


def is_from(event: Mapping[str, object], me: Me) -> bool:
    """Whether the bot itself said it."""
    return event.get("user") == me.user or (bool(me.bot) and event.get("bot_id") == me.bot)


def mentions(event: Mapping[str, object], me: Me) -> bool:
    """Whether the bot is named in it."""
    return event.get("type") == "app_mention" or me.user in people(_text(event))


def strangers(event: Mapping[str, object]) -> list[str]:
    """The ids of those whose names would be good to know: who speaks, and whom they mention."""
    user = event.get("user")
    return [*([user] if isinstance(user, str) else []), *people(_text(event))]


def parse(event: Mapping[str, object], me: Me, known: Known, now: datetime) -> IncomingMessage | Aside | None:
    """The message of an event; an Aside where it was said in a channel and not to the bot; None for nothing to answer.

    None: other kinds of events, subtypes that no person writes (edits and deletions too), the bot itself and other
    bots. Raises Unreadable for an event that is not what Slack's documents say.
    """
    if not is_message(event) or event.get("subtype") not in _HUMAN or event.get("hidden"):
        return None
    if event.get("bot_id") or is_from(event, me) or event.get("user") == _SLACKBOT:
        return None
    where, user = place(event), event.get("user")
    if not isinstance(user, str) or not user:
        raise Unreadable("a message of nobody")
    words = _Words.of(_text(event), me, known)
    author = Author(user, one_line(known.names.get(user, user), user))
    text = words.rest if words.is_command else "\n".join(line for line in (words.rest, *media.labels(event)) if line)
    addressed = where.private or words.is_command or known.ours or mentions(event, me)
    if not (addressed or (where.root and event.get("parent_user_id") == me.user)):
        route = Route(CHANNEL, me.account, where.channel, where.root)
        return Aside(route, Quote(author.name, text))
    return clean(
        IncomingMessage(
            id=message_id(me, where.channel, where.ts),
            session=SessionKey(CHANNEL, me.account, where.channel, where.thread),
            route=Route(CHANNEL, me.account, where.channel, where.thread),
            author=author,
            text=text or words.said,
            sent_at=datetime.fromtimestamp(float(where.ts), UTC),
            received_at=now,
            private=where.private,
            reply_to=where.ts,
        )
    )


def message_id(me: Me, channel: str, name: str) -> MessageId:
    """The same for every event that tells of a message, and each time it is told (cases C19, C20)."""
    return MessageId(f"{CHANNEL}/{me.account}/{channel}:{name}")


def command(text: str, commands: frozenset[str], marks: str = "!/／") -> str | None:
    """`/name rest` for a text that begins with one of these marks and a known command; None for any other."""
    found = _WORD.match(text)
    if found is None or not found[1] or found[1] not in marks or found[2].lower() not in commands:
        return None
    return f"/{found[2].lower()}{text[found.end() :].rstrip()}"


def _text(event: Mapping[str, object]) -> str:
    text = event.get("text")
    return text if isinstance(text, str) else ""


@dataclass(frozen=True, slots=True)
class _Words:
    """What was written: `said` as it was typed, `rest` without the bot's own name around it."""

    said: str
    rest: str
    is_command: bool

    @classmethod
    def of(cls, text: str, me: Me, known: Known) -> "_Words":
        name = rf"<@{re.escape(me.user)}(?:\|[^<>]*)?>"
        bare = re.sub(rf"^\s*(?:{name}[\s,:]*)+", "", text)
        called = bare != text
        bare = re.sub(rf"(?:\s*{name})+\s*$", "", bare)
        rest = typed(bare, known.names).strip()
        if (order := command(rest, known.commands)) is not None:
            return cls(typed(text, known.names), order, True)
        if called and rest.lower() in known.commands:  # `@bot status`; more words are a sentence
            return cls(typed(text, known.names), f"/{rest.lower()}", True)
        return cls(typed(text, known.names).strip(), rest, False)
