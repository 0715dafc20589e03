"""Messages and replies for tests, told apart by a number."""

from datetime import UTC, datetime, timedelta

from gateway.message import Author, IncomingMessage, MessageId, Reply, Route, SessionKey

_NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


def message(
    number: int,
    conversation: str = "room",
    *,
    author: str = "ann",
    channel: str = "web",
    account: str = "bot",
    text: str | None = None,
) -> IncomingMessage:
    """Number `number` of this account: the same number is the same message."""
    return IncomingMessage(
        id=MessageId(f"{channel}/{account}/{number}"),
        session=SessionKey(channel, account, conversation),
        route=Route(channel, account, conversation),
        author=Author(author, author.title()),
        text=f"text {number}" if text is None else text,
        sent_at=_NOON + timedelta(seconds=number),
        received_at=_NOON + timedelta(seconds=number, milliseconds=200),
    )


def reply_to(message: IncomingMessage, text: str = "an answer") -> Reply:
    """The reply of the turn that `message` opens."""
    return Reply(message.turn, message.session, message.route, text)
