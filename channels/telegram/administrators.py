"""Who administers a chat, as Telegram tells it (facts 1.7)."""

from typing import Any, cast

from aiogram import Bot
from aiogram.exceptions import TelegramBadRequest
from aiogram.methods import GetChatAdministrators

from channels.telegram.failures import FAILURES, of_polling
from gateway.errors import Retryable


class RawGetChatAdministrators(GetChatAdministrators):
    """Takes the answer as it is: a new kind of member must not hide the others."""

    __returning__ = list[dict[str, Any]]


def is_group(chat: str) -> bool:
    """Whether people share the chat; the ids of groups and channels are negative."""
    return chat.startswith("-")


async def administrators(bot: Bot, chat: str) -> frozenset[str]:
    """The ids of the people who administer a group. Raises Retryable when it cannot be asked.

    An anonymous administrator writes as the chat itself, and a channel as itself: neither stands in this list.
    """
    try:
        found = cast(list[dict[str, Any]], await bot(RawGetChatAdministrators(chat_id=int(chat))))
    except TelegramBadRequest:  # there are none, or the bot is not in that chat any more
        return frozenset()
    except FAILURES as error:
        raise Retryable(of_polling(error).health.detail) from error
    users = [member.get("user") for member in found]
    return frozenset(str(user["id"]) for user in users if isinstance(user, dict) and "id" in user)
