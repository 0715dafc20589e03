"""What a bot writes: composed, checked, kept and told, whether it came as a message or as an interaction's answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from tests.platforms import discord_wire as wire
from tests.platforms.discord_chat import Channel, without_parent
from tests.platforms.discord_refusals import check_content, check_mentions, check_nonce, invalid, refusal
from tests.platforms.discord_text import ALL, mentioned
from tests.platforms.discord_world import BotAccount, Sent, World
from tests.platforms.faults import File

Json = dict[str, Any]

NONCE_LIFE: Final = 180.0
"""Seconds; Discord says "the past few minutes"."""

USERS_ONLY: Final = ("users",)
"""What interactions mention by default."""

CHOSEN_FLAGS: Final = 1 << 2 | 1 << 12 | 1 << 15
"""Flags that a bot sets itself: no embeds, silent, components of the second version."""


def post(world: World, bot: BotAccount, channel: Channel, body: Json, files: Mapping[str, File]) -> Json:
    """Create Message: the earlier one where `enforce_nonce` finds its nonce, else a new one."""
    nonce = check_nonce(body.get("nonce"))
    if body.get("enforce_nonce") and nonce is not None and nonce in bot.nonces:
        at, earlier = bot.nonces[nonce]
        if world.clock() - at <= NONCE_LIFE:
            return earlier
    message = compose(world, bot, channel, body, files.values())
    reference = body.get("message_reference")
    if reference:
        message |= _reply(channel, reference, message, pings=_pings_parent(body))
    message |= {"nonce": nonce} if nonce is not None else {}
    log(world, bot, message, body, files)
    if nonce is not None:
        bot.nonces[nonce] = (world.clock(), message)
    channel.store(message)
    world.ping(channel, message)
    return message


def compose(
    world: World,
    bot: BotAccount,
    channel: Channel,
    body: Json,
    files: Iterable[File],
    default: tuple[str, ...] = ALL,
) -> Json:
    """A new message of a bot, checked; nothing has happened yet."""
    attached = [world.keep_file(channel, file) for file in files]
    content = check_content(body, files=bool(attached))
    message = wire.message(world.snowflake(), channel.id, bot.user, content, world.clock())
    message |= mentions(channel, content, body, default)
    message["flags"] = int(body.get("flags") or 0) & CHOSEN_FLAGS
    return message | {"attachments": attached, "embeds": body.get("embeds") or []}


def mentions(channel: Channel, content: str, body: Json, default: tuple[str, ...] = ALL) -> Json:
    """The mention fields of a text under the request's `allowed_mentions`."""
    check_mentions(body.get("allowed_mentions"))
    found = mentioned(content).allowed(body.get("allowed_mentions"), default)
    return channel.mark(content, found.users, found.roles, everyone=found.everyone)


def log(
    world: World,
    bot: BotAccount,
    message: Json,
    body: Json,
    files: Mapping[str, File],
    *,
    interaction: str | None = None,
    ephemeral: bool = False,
) -> None:
    """Note a message that was sent, and how it was asked for."""
    sent = Sent(message["channel_id"], message["content"], message["id"], world.clock(), bot.id)
    asked = replace(
        sent,
        nonce=check_nonce(body.get("nonce")),
        enforce_nonce=bool(body.get("enforce_nonce")),
        allowed_mentions=body.get("allowed_mentions"),
        reference=body.get("message_reference"),
    )
    files_sent = tuple(files.values())
    world.sent.append(replace(asked, files=files_sent, interaction=interaction, ephemeral=ephemeral))


def edited(world: World, channel: Channel, old: Json, body: Json, default: tuple[str, ...] = ALL) -> Json:
    """What an edit changes of a message, checked; editing calls nobody."""
    content = check_content({"content": old["content"], "embeds": old["embeds"]} | body, files=bool(old["attachments"]))
    changes = mentions(channel, content, body, default) if "content" in body else {}
    changes |= {"embeds": body["embeds"] or []} if "embeds" in body else {}
    return changes | {"edited_timestamp": wire.iso(world.clock())}


def _pings_parent(body: Json) -> bool:
    """Whether a reply calls whom it answers: without `allowed_mentions` it does."""
    rules = body.get("allowed_mentions")
    return rules is None or bool(rules.get("replied_user"))


def _reply(channel: Channel, reference: Json, message: Json, *, pings: bool) -> Json:
    """The fields of a reply; one to what is gone is refused or becomes a message like any other (facts 2.3)."""
    parent = channel.messages.get(str(reference.get("message_id")))
    if parent is None:
        if reference.get("fail_if_not_exists", True):
            raise invalid("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
        return {}
    if parent["type"] not in (wire.DEFAULT, wire.REPLY, wire.COMMAND):
        words = "Cannot reply to a system message"
        raise invalid("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", words)
    known = [*message["mentions"], *([parent["author"]] if pings else [])]
    where: Json = {"type": 0, "channel_id": channel.id, "message_id": parent["id"]}
    return {
        "type": wire.REPLY,
        "message_reference": where | ({"guild_id": channel.guild.id} if channel.guild else {}),
        "referenced_message": without_parent(parent),
        "mentions": list({user["id"]: user for user in known}.values()),
    }


def check_writable(channel: Channel) -> None:
    """Raise what Discord answers to a bot that may not write here."""
    if channel.refuses:
        raise refusal(channel.refuses)
    if channel.kind == wire.FORUM:
        raise refusal(50008)
    if channel.locked:
        raise refusal(160005)
