"""What travels: where a conversation is, who speaks, what came in and what goes out."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NewType, Self
from urllib.parse import quote, unquote

from gateway.errors import Broken

MessageId = NewType("MessageId", str)
"""Names one platform message for ever: `<channel>/<account>/<platform's own id>`."""

TurnId = NewType("TurnId", str)
"""Names one turn: the id of its first message."""

SCHEMA = 1
"""Number of the row format below; it stands in each row, so that neighbouring releases can read each other's."""


@dataclass(frozen=True, slots=True)
class SessionKey:
    """The address of one conversation. `person` is set only where each person has a session of their own."""

    channel: str
    account: str
    conversation: str
    thread: str | None = None
    person: str | None = None

    def __str__(self) -> str:
        text = "/".join(_quoted(part) for part in (self.channel, self.account, self.conversation))
        text += "" if self.thread is None else f"/t={_quoted(self.thread)}"
        return text + ("" if self.person is None else f"/p={_quoted(self.person)}")

    @property
    def place(self) -> str:
        """channel/account/conversation: all that is in one place shares a partition."""
        return "/".join(_quoted(part) for part in (self.channel, self.account, self.conversation))

    @classmethod
    def parse(cls, text: str) -> Self:
        """The inverse of `str`. Raises Broken for a text that no key has."""
        match text.split("/"):
            case [channel, account, conversation, *rest] if all(part[:2] in ("t=", "p=") for part in rest):
                named = {part[0]: unquote(part[2:]) for part in rest}
                if channel and account and conversation:
                    return cls(
                        unquote(channel), unquote(account), unquote(conversation), named.get("t"), named.get("p")
                    )
        raise Broken(f"not a session key: {text!r}")


@dataclass(frozen=True, slots=True)
class Route:
    """Where a reply goes: bot account, conversation, thread. Replies of one route leave in order."""

    channel: str
    account: str
    conversation: str
    thread: str | None = None

    def __str__(self) -> str:
        return str(SessionKey(self.channel, self.account, self.conversation, self.thread))

    @property
    def place(self) -> str:
        """As SessionKey.place."""
        return SessionKey(self.channel, self.account, self.conversation).place

    @classmethod
    def parse(cls, text: str) -> Self:
        """The inverse of `str`."""
        key = SessionKey.parse(text)
        return cls(key.channel, key.account, key.conversation, key.thread)


@dataclass(frozen=True, slots=True)
class Author:
    """Who speaks: the platform's stable id, and a display name that is data, never trusted."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Quote:
    """What somebody else wrote, brought along as context: a name and words, both data, never trusted."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """One message that a channel accepted.

    `private`: the session is the author's own (a DM); else people share it. `sent_at` is the platform's clock,
    `received_at` ours, both UTC. `reply_to` is the platform's id of the message itself, for a quoting reply.
    `quotes`: what was said in the place before and was not for the bot, oldest first.
    """

    id: MessageId
    session: SessionKey
    route: Route
    author: Author
    text: str
    sent_at: datetime
    received_at: datetime
    private: bool = False
    reply_to: str | None = None
    quotes: tuple[Quote, ...] = ()

    @property
    def turn(self) -> TurnId:
        """The turn that this message opens, if it is the first of one."""
        return TurnId(self.id)

    def to_row(self) -> str:
        """One JSON text, as queues and journals keep it."""
        return json.dumps(
            {
                "schema": SCHEMA,
                "id": self.id,
                "session": str(self.session),
                "route": str(self.route),
                "author": {"id": self.author.id, "name": self.author.name},
                "text": self.text,
                "sent_at": self.sent_at.isoformat(),
                "received_at": self.received_at.isoformat(),
                "private": self.private,
                "reply_to": self.reply_to,
                "quotes": [[quote.name, quote.text] for quote in self.quotes],
            },
            ensure_ascii=True,
        )

    @classmethod
    def from_row(cls, text: str | bytes) -> Self:
        """Reads what `to_row` wrote. Raises Broken for anything else."""
        try:
            row = json.loads(text)
            return cls(
                id=MessageId(row["id"]),
                session=SessionKey.parse(row["session"]),
                route=Route.parse(row["route"]),
                author=Author(row["author"]["id"], row["author"]["name"]),
                text=row["text"],
                sent_at=datetime.fromisoformat(row["sent_at"]),
                received_at=datetime.fromisoformat(row["received_at"]),
                private=row["private"],
                reply_to=row["reply_to"],
                quotes=tuple(Quote(name, words) for name, words in row.get("quotes", ())),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise Broken(f"not a message row: {str(text)[:80]!r}") from error


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes out. `turn` names it: a reply whose turn is known is never put twice.

    `answers` is the platform's id of the message to quote. `on_tape`: its receipts belong on the session's tape
    (people who may not talk leave none). `unsure`: the server forgot how far its delivery was, so that its first
    missing part may be there already.
    """

    turn: TurnId
    session: SessionKey
    route: Route
    text: str
    answers: str | None = None
    on_tape: bool = True
    unsure: bool = False

    def to_json(self) -> dict[str, str | bool | None]:
        """As the `turn` event of a tape and the outbox keep it."""
        return {
            "turn": self.turn,
            "session": str(self.session),
            "route": str(self.route),
            "text": self.text,
            "answers": self.answers,
            "on_tape": self.on_tape,
        }

    @classmethod
    def from_json(cls, row: Mapping[str, object]) -> Self:
        """Reads what `to_json` wrote. Raises Broken for anything else."""
        match row:
            case {"turn": str(turn), "session": str(session), "route": str(route), "text": str(text), **rest}:
                answers = rest.get("answers")
                return cls(
                    TurnId(turn),
                    SessionKey.parse(session),
                    Route.parse(route),
                    text,
                    answers if isinstance(answers, str) else None,
                    rest.get("on_tape") is not False,
                    rest.get("unsure") is True,
                )
        raise Broken(f"not a reply: {str(row)[:80]!r}")

    def to_row(self) -> str:
        """One JSON text, as the outbox keeps it."""
        return json.dumps({"schema": SCHEMA, "unsure": self.unsure, **self.to_json()}, ensure_ascii=True)

    @classmethod
    def from_row(cls, text: str | bytes) -> Self:
        """Reads what `to_row` wrote. Raises Broken for anything else."""
        try:
            return cls.from_json(json.loads(text))
        except (ValueError, AttributeError) as error:
            raise Broken(f"not a reply row: {str(text)[:80]!r}") from error


def clean(message: IncomingMessage) -> IncomingMessage:
    """The message with a text that every store and model can carry: lone surrogates and NULs become U+FFFD."""
    return replace(
        message,
        text=_whole(message.text),
        author=Author(_whole(message.author.id), _whole(message.author.name)),
        quotes=tuple(Quote(_whole(quote.name), _whole(quote.text)) for quote in message.quotes),
    )


def _whole(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")


def _quoted(part: str) -> str:
    return quote(part, safe="-_.~@+:")
