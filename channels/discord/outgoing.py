"""What is sent for one part of a reply, and how it is found again. Pure: decides, and sends nothing."""

import hashlib
from collections.abc import Mapping
from typing import Final

from channels.discord.asked import interaction_of
from channels.discord.fields import Payload, inner, words
from channels.discord.snowflake import is_id
from gateway.channel import Part
from gateway.errors import Refused
from gateway.message import Reply, Route

NOBODY: Final[Mapping[str, object]] = {"parse": [], "replied_user": False}
"""Whom a message calls: nobody, whatever the model wrote (case C82)."""

_NONCE: Final = 25  # characters at most


def channel_of(route: Route) -> str:
    """The channel, thread or DM. Refused for a route of another platform."""
    if not is_id(route.conversation):
        raise Refused(f"{route} is no channel of Discord")
    return route.conversation


def message(reply: Reply, part: Part, index: int) -> dict[str, object]:
    """The request for a part. In a guild the first one quotes the question; that may be gone by now."""
    body: dict[str, object] = {
        "content": part.text,
        "nonce": nonce(reply, part, index),
        "enforce_nonce": True,
        "allowed_mentions": NOBODY,
    }
    if index == 0 and reply.answers is not None and is_id(reply.answers):
        body["message_reference"] = {"message_id": reply.answers, "fail_if_not_exists": False}
    return body


def edit(part: Part) -> dict[str, object]:
    """The request that puts a part in the place of "is thinking"."""
    return {"content": part.text, "allowed_mentions": NOBODY}


def nonce(reply: Reply, part: Part, index: int) -> str:
    """By this Discord knows a part again for some minutes, and answers with the message that is there.

    The text counts: a reply that was cut in another way has other parts.
    """
    return hashlib.sha256(f"{reply.turn}#{index}#{part.text}".encode()).hexdigest()[:_NONCE]


def question(reply: Reply) -> int:
    """The id of what the reply answers: whatever was sent for it is newer. 0 where nobody knows."""
    asked = reply.turn.split("/")[2:3]  # a turn is named by the message that opened it
    candidates = (interaction_of(reply.answers) or reply.answers or "", *asked)
    return next((int(id_) for id_ in candidates if is_id(id_)), 0)


def is_copy(found: Payload, account: str, part: Part, wanted: str) -> bool:
    """Whether a message of a channel's history is this part: by its nonce, else by its words."""
    if inner(found, "author").get("id") != account:
        return False
    if (known := found.get("nonce")) is not None:
        return known == wanted
    return words(found, "content").strip() == part.text.strip()  # Discord takes white space off both ends


def receipt(answer: object) -> str | None:
    """The id of the message that was sent."""
    match answer:
        case {"id": str(id_)}:
            return id_
    return None
