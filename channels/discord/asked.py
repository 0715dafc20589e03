"""One application command that somebody used -> one IncomingMessage, as if they had typed it. Pure (facts 2.4)."""

from dataclasses import dataclass
from datetime import datetime

from channels.discord.fields import Payload, inner, rows, text, words
from channels.discord.parse import CHANNEL, author_of
from channels.discord.snowflake import is_id, made_at
from channels.handover import Unreadable
from gateway.message import IncomingMessage, MessageId, Route, SessionKey, clean

_COMMAND = 2  # the type of an interaction
_TYPED = 1  # the type of a command: not one of a menu
_MARK = "interaction:"


@dataclass(frozen=True, slots=True)
class Asked:
    """A command, and what its answer needs. `token` lets its bearer speak as the bot: it stands in no log."""

    id: str
    token: str
    application: str
    message: IncomingMessage

    @property
    def reply_token(self) -> str:
        """What other processes need to answer it, as they find it again (`of_reply_token`)."""
        return f"{self.application}:{self.token}"


def of_reply_token(text: str) -> tuple[str, str]:
    """The application and the token of an `Asked.reply_token`."""
    application, _, token = text.partition(":")
    return application, token


def interaction_of(answers: str | None) -> str | None:
    """The interaction that a reply answers, if its `answers` names one instead of a message."""
    return answers.removeprefix(_MARK) if answers is not None and answers.startswith(_MARK) else None


def parse(raw: Payload, account: str, now: datetime) -> Asked | None:
    """The command of an INTERACTION_CREATE; None for other interactions: this bot has no buttons. Raises Unreadable."""
    data = inner(raw, "data")
    if raw.get("type") != _COMMAND or data.get("type") != _TYPED:
        return None
    member = inner(raw, "member")
    channel, id_ = text(raw, "channel_id"), text(raw, "id")
    if not is_id(id_):
        raise Unreadable("no id")
    given = [words(option, "value") for option in rows(data, "options")]
    message = IncomingMessage(
        id=MessageId(f"{CHANNEL}/{account}/{id_}"),
        session=SessionKey(CHANNEL, account, channel),
        route=Route(CHANNEL, account, channel),
        author=author_of(inner(member, "user") or inner(raw, "user"), member),
        text=" ".join([f"/{text(data, 'name')}", *filter(None, given)]),
        sent_at=made_at(id_),
        received_at=now,
        private=raw.get("guild_id") is None,
        reply_to=f"{_MARK}{id_}",
    )
    return Asked(id_, text(raw, "token"), text(raw, "application_id"), clean(message))
