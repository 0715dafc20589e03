"""Payloads of Discord's API v10 as they go over the wire (facts 2.2, 4); ids are strings there."""

from datetime import UTC, datetime
from typing import Any, Final

Json = dict[str, Any]

JOINED: Final = "2024-01-01T00:00:00+00:00"
EPOCH: Final = 1420070400000
"""Milliseconds; Discord's ids count from here."""

DM, TEXT, THREAD, FORUM = 1, 0, 11, 15
"""Types of channels."""

DEFAULT, PIN, JOIN, THREAD_CREATED, REPLY, COMMAND, THREAD_STARTER = 0, 6, 7, 18, 19, 20, 21
"""Types of messages; all but DEFAULT, REPLY and COMMAND are the system's own."""

HAS_THREAD, EPHEMERAL, LOADING = 1 << 5, 1 << 6, 1 << 7
"""Flags of messages."""

ADMINISTRATOR: Final = 1 << 3
EVERY_PERMISSION: Final = (1 << 53) - 1
EVERYONE_MAY: Final = 0x1 << 10 | 0x1 << 11 | 0x1 << 14 | 0x1 << 15 | 0x1 << 16 | 0x1 << 31 | 0x1 << 38
"""View, send, embed, attach, read history, use commands, send in threads."""

UNREADABLE: Final[Json] = {"content": "", "embeds": [], "attachments": [], "components": []}


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


def user(id: str, username: str, name: str | None, *, is_bot: bool) -> Json:  # noqa: A002
    shape: Json = {"id": id, "username": username, "discriminator": "4821" if is_bot else "0", "global_name": name}
    shape |= {"avatar": None, "public_flags": 0, "flags": 0}
    return shape | ({"bot": True} if is_bot else {})


def member(roles: list[str]) -> Json:
    """A member as messages carry it; elsewhere with its `user`."""
    shape: Json = {"roles": roles, "joined_at": JOINED, "nick": None, "avatar": None, "premium_since": None}
    return shape | {"deaf": False, "mute": False, "pending": False, "flags": 0, "communication_disabled_until": None}


def role(id: str, name: str, permissions: int, position: int, *, bot_id: str | None, mentionable: bool) -> Json:  # noqa: A002
    shape: Json = {"id": id, "name": name, "permissions": str(permissions), "position": position, "color": 0}
    shape |= {"colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None}, "icon": None}
    shape |= {"hoist": False, "managed": bot_id is not None, "mentionable": mentionable, "flags": 0}
    return shape | ({"tags": {"bot_id": bot_id}} if bot_id else {})


def guild(id: str, name: str, owner_id: str, roles: list[Json]) -> Json:  # noqa: A002
    """A guild as REST answers it; GUILD_CREATE adds channels, threads and members."""
    shape: Json = {"id": id, "name": name, "owner_id": owner_id, "roles": roles, "emojis": [], "stickers": []}
    shape |= dict.fromkeys(("icon", "splash", "discovery_splash", "banner", "description", "vanity_url_code"))
    shape |= dict.fromkeys(("afk_channel_id", "system_channel_id", "rules_channel_id", "public_updates_channel_id"))
    shape |= dict.fromkeys(("safety_alerts_channel_id", "application_id"))
    shape |= dict.fromkeys(("verification_level", "default_message_notifications", "explicit_content_filter"), 0)
    shape |= dict.fromkeys(("mfa_level", "nsfw_level", "premium_tier", "system_channel_flags"), 0)
    return shape | {"features": [], "region": "x", "afk_timeout": 300, "preferred_locale": "en-US"}


def message(id: str, channel_id: str, author: Json, content: str, at: float) -> Json:  # noqa: A002
    """A message that is nothing but text; whoever knows more adds it."""
    shape: Json = {"id": id, "channel_id": channel_id, "author": author, "content": content, "type": DEFAULT}
    shape |= {"timestamp": iso(at), "edited_timestamp": None, "tts": False, "pinned": False, "flags": 0}
    shape |= {"mentions": [], "mention_roles": [], "mention_everyone": False}
    return shape | {"attachments": [], "embeds": [], "components": []}


def readable(message: Json, bot_id: str) -> Json:
    """A guild's message as a bot without the message content intent sees it (facts 2.2).

    Its own messages and those that mention its user are whole; mentioning its role is not documented to be enough.
    """
    own = message["author"]["id"] == bot_id or any(user["id"] == bot_id for user in message["mentions"])
    seen = message if own else message | UNREADABLE
    parent = message.get("referenced_message")
    return seen | {"referenced_message": readable(parent, bot_id)} if parent else seen
