"""From a typed line to a message. Pure."""

from datetime import datetime

from gateway.message import Author, IncomingMessage, MessageId, Route, SessionKey

NAME, HERE, OWNER = "terminal", "local", "terminal:owner"
"""A terminal's name is its account: so no process is ever given the replies of another terminal to print."""


def message(line: str, *, conversation: str, unique: str, now: datetime) -> IncomingMessage | None:
    """The message of one line, or None for a blank one. `unique` tells this line from every other."""
    text = line.rstrip("\r\n")
    if not text.strip():
        return None
    return IncomingMessage(
        id=MessageId(f"{NAME}/{conversation}/{HERE}:{unique}"),
        session=SessionKey(NAME, conversation, HERE),
        route=Route(NAME, conversation, HERE),
        author=Author(OWNER, "You"),
        text=text,
        sent_at=now,
        received_at=now,
        private=True,
    )
