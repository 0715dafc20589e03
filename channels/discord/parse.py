"""One message of Discord -> one IncomingMessage, or what was said aside, or nothing. Pure (facts 2.2-2.4)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from channels.discord.fields import Payload, ids, inner, rows, text, whole, words
from channels.discord.media import labels
from channels.handover import Unreadable
from channels.names import one_line
from channels.overheard import Aside
from gateway.message import Author, IncomingMessage, MessageId, Quote, Route, SessionKey, clean

CHANNEL: Final = "discord"

_HUMAN: Final = frozenset({0, 19})  # a message and a reply; every other type is the system's, or a command's answer
_REPLY: Final = 19
_COMMAND: Final = re.compile(r"[/／]([A-Za-z][A-Za-z0-9_]{0,31})(?:\s|$)")
_EMOJI: Final = re.compile(r"<a?(:\w{2,32}:)\d+>")


@dataclass(frozen=True, slots=True)
class Me:
    """The bot itself. `roles`: its managed role in each guild, which people mention as often as the bot itself.

    `commands`: the names after `/` that are for it wherever it reads them.
    """

    id: str
    username: str
    roles: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()


def parse(raw: Payload, me: Me, now: datetime) -> IncomingMessage | Aside | None:
    """The message of a MESSAGE_CREATE; from a history, `guild_id` must have been added to it.

    None: what people did not say themselves (bots, webhooks, the system), and what shows nothing. Aside: in a guild
    whatever does not address this bot by mention, reply or command. Raises Unreadable.
    """
    if not _is_a_persons(raw):
        return None
    said = _Words.of(raw, me)
    account, channel, id_ = me.id, text(raw, "channel_id"), text(raw, "id")
    route = Route(CHANNEL, account, channel)
    private = raw.get("guild_id") is None
    author = author_of(inner(raw, "author"), inner(raw, "member"))
    if not said.shown:
        return None
    if not (private or said.is_command or addresses(raw, me)):
        return Aside(route, Quote(author.name, said.shown))
    return clean(
        IncomingMessage(
            id=MessageId(f"{CHANNEL}/{account}/{id_}"),
            session=SessionKey(CHANNEL, account, channel),
            route=route,
            author=author,
            text=said.shown,
            sent_at=_moment(raw),
            received_at=now,
            private=private,
            reply_to=None if private else id_,  # nobody needs the question quoted in private
        )
    )


def addresses(raw: Payload, me: Me) -> bool:
    """Whether a message of a guild mentions the bot or its role, or replies to it. `@everyone` is nobody."""
    if any(user.get("id") == me.id for user in rows(raw, "mentions")) or ids(raw, "mention_roles") & me.roles:
        return True
    answered = inner(inner(raw, "referenced_message"), "author")
    return raw.get("type") == _REPLY and answered.get("id") == me.id


def is_empty(raw: Payload) -> bool:
    """Whether a person's message in a guild came with nothing in it: so Discord hides what a bot may not read."""
    carries = words(raw, "content") or labels(raw) or any(raw.get(key) for key in ("embeds", "components"))
    return raw.get("guild_id") is not None and _is_a_persons(raw) and not carries


def author_of(user: Payload, member: Payload) -> Author:
    """Who speaks, by the name that others see. Raises Unreadable."""
    return Author(text(user, "id"), _name(user, member))


def _is_a_persons(raw: Payload) -> bool:
    author = inner(raw, "author")
    is_ours_or_anothers = bool(author.get("bot") or author.get("system") or raw.get("webhook_id"))
    return whole(raw, "type") in _HUMAN and not is_ours_or_anothers


def _name(user: Payload, member: Payload) -> str:
    names = (words(member, "nick"), words(user, "global_name"), words(user, "username"))
    return next(filter(None, map(one_line, names)), words(user, "id"))


def _moment(raw: Payload) -> datetime:
    try:
        moment = datetime.fromisoformat(text(raw, "timestamp"))
    except ValueError:
        raise Unreadable("no time at timestamp") from None
    if moment.tzinfo is None:
        raise Unreadable("no zone at timestamp")
    return moment


@dataclass(frozen=True, slots=True)
class _Words:
    """What a message shows: its text without the bot's own name around it, and a line for what else is in it."""

    shown: str
    is_command: bool

    @classmethod
    def of(cls, raw: Payload, me: Me) -> "_Words":
        said = text(raw, "content")
        rest = _without(said, [rf"<@!?{me.id}>", *(f"<@&{role}>" for role in me.roles)])
        named = _named(rest, raw)
        carried = "\n".join(labels(raw))
        command = _COMMAND.match(named)
        if command is not None and command[1].lower() in me.commands:
            return cls(named, True)
        both = "\n".join(filter(None, (named, carried)))
        return cls(both or _named(said, raw).strip(), False)


def _without(said: str, own: Iterable[str]) -> str:
    """The text without the bot's name before and after it; within a sentence it stays."""
    name = "|".join(own)
    start = re.compile(rf"\s*(?:(?:{name})[\s,:]*)*").match(said)
    rest = said if start is None else said[start.end() :]
    return re.sub(rf"(?:\s*(?:{name}))+\s*\Z", "", rest).rstrip()


def _named(said: str, raw: Payload) -> str:
    """Mentions as `@name` where the message tells the name, and emoji of a guild as `:name:`."""
    names = {str(user.get("id")): _name(user, inner(user, "member")) for user in rows(raw, "mentions")}

    def name(found: re.Match[str]) -> str:
        return f"@{names[found[1]]}" if found[1] in names else found[0]

    return _EMOJI.sub(r"\1", re.sub(r"<@!?(\d+)>", name, said))
