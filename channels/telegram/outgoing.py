"""What is sent for one part of a reply. Pure: decides, and sends nothing."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from aiogram.methods import SendMessage
from aiogram.types import ReplyParameters

from channels.markdown import utf16
from channels.telegram.render import REPEATED, shifted
from gateway.channel import Part
from gateway.errors import Refused
from gateway.message import Reply, Route

_NO_ENTITIES: Final = re.compile(r"entit|can't parse", re.IGNORECASE)
_NO_TARGET: Final = re.compile(r"repl(?:y|ied)", re.IGNORECASE)
_MENTION: Final = re.compile(r"@(?=\w)")


class RawSendMessage(SendMessage):
    """Takes Telegram's answer as it is: one that the SDK cannot read would look like a failure, and be sent again."""

    __returning__ = dict[str, Any]


def address(route: Route) -> tuple[int, int | None]:
    """Chat and topic. General is sent to without its id, 1 (case C64). Refused for a route of another channel."""
    try:
        thread = None if route.thread in (None, "1") else int(route.thread or "")
        return int(route.conversation), thread
    except ValueError as error:
        raise Refused(f"{route} is no chat of Telegram") from error


def message(reply: Reply, part: Part, *, index: int, repeated: bool) -> RawSendMessage:
    """The request for a part. In a group its first part quotes the question; nobody needs that in private."""
    chat, thread = address(reply.route)
    prefix = REPEATED if repeated else ""
    return RawSendMessage.model_validate(
        {
            "chat_id": chat,
            "text": prefix + part.text,
            "entities": json.loads(shifted(part.body or "[]", utf16(prefix))) or None,
            "message_thread_id": thread,
            "reply_parameters": _quote(reply) if index == 0 and chat < 0 else None,
        }
    )


def simpler(request: RawSendMessage, description: str) -> RawSendMessage | None:
    """The request without what Telegram did not take of it; None where that is not the reason. Each can happen once."""
    if request.entities and _NO_ENTITIES.search(description):
        # Without entities code is text, and its names would be mentions.
        return request.model_copy(update={"entities": None, "text": _MENTION.sub("\uff20", request.text)})
    if request.reply_parameters and _NO_TARGET.search(description):
        return request.model_copy(update={"reply_parameters": None})
    return None


def receipt(answer: Mapping[str, Any]) -> str | None:
    """The id of the message that was sent."""
    match answer.get("message_id"):
        case int(message_id):
            return str(message_id)
    return None


def _quote(reply: Reply) -> ReplyParameters | None:
    if reply.answers is None or not reply.answers.isdecimal() or int(reply.answers) == 0:
        return None
    # The question may be gone by now: then the answer comes without the quote (case C17).
    return ReplyParameters(message_id=int(reply.answers), allow_sending_without_reply=True)
