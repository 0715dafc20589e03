"""What a page posts, as a message. Pure."""

import json
import re
from datetime import datetime

from gateway.errors import Refused
from gateway.message import Author, IncomingMessage, MessageId, Route, SessionKey, clean

CHANNEL, ACCOUNT = "web", "local"
OWNER = Author("web:owner", "You")

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def session(chat: str) -> SessionKey:
    """The session of one chat. Raises Refused for a name that no chat has."""
    if not _NAME.fullmatch(chat):
        raise Refused("A chat's name is made of up to 64 letters, digits, - and _.")
    return SessionKey(CHANNEL, ACCOUNT, chat)


def message_id(chat: str, client: str) -> MessageId:
    """The page names its messages, so that a retry has the same id and is a duplicate."""
    return MessageId(f"{CHANNEL}/{ACCOUNT}/{chat}:{client}")


def parse(body: bytes, now: datetime) -> IncomingMessage:
    """Reads `{"chat", "id", "text"}`. Raises Refused with the sentence for the person."""
    try:
        row = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused("The page sent something that is not a message. Reload it and try again.") from error
    match row:
        case {"chat": str(chat), "id": str(client), "text": str(text)} if _NAME.fullmatch(client):
            key = session(chat)
        case _:
            raise Refused("The page sent something that is not a message. Reload it and try again.")
    if not text.strip():
        raise Refused("There is nothing to send: write something first.")
    message = IncomingMessage(
        id=message_id(chat, client),
        session=key,
        route=Route(CHANNEL, ACCOUNT, chat),
        author=OWNER,
        text=text,
        sent_at=now,
        received_at=now,
        private=True,
    )
    return clean(message)
