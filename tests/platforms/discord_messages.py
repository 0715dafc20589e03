"""The REST methods of channels: reading their history, writing, editing and deleting in them."""

from collections.abc import Mapping
from typing import Any, Final

from tests.platforms import discord_wire as wire
from tests.platforms.discord_calls import RestCall
from tests.platforms.discord_chat import Channel
from tests.platforms.discord_posts import check_writable, edited, post
from tests.platforms.discord_refusals import check_limit, check_snowflake, invalid, refusal
from tests.platforms.discord_world import BotAccount, Typing, World

Json = dict[str, Any]

BOUNDS: Final = ("after", "before", "around")

METHODS: Mapping[str, str] = {
    "GET /channels/{channel}": "channel",
    "GET /channels/{channel}/messages": "history",
    "GET /channels/{channel}/messages/{message}": "message",
    "POST /channels/{channel}/messages": "create",
    "PATCH /channels/{channel}/messages/{message}": "edit",
    "DELETE /channels/{channel}/messages/{message}": "delete",
    "POST /channels/{channel}/typing": "typing",
}


class Messages:
    """What a bot may do in a channel; each method answers JSON, or None for 204."""

    def __init__(self, world: World) -> None:
        self.world = world

    def channel(self, bot: BotAccount, call: RestCall, channel_id: str) -> Json:
        return self._readable(bot, channel_id).wire

    def history(self, bot: BotAccount, call: RestCall, channel_id: str) -> list[Json]:
        """A page of at most 100, newest first; after `after` it is the page right after it, not the newest."""
        channel = self._readable(bot, channel_id)
        limit = check_limit(call.form.get("limit"))
        bounds = {
            key: check_snowflake(key, call.form[key]) for key in ("after", "before", "around") if key in call.form
        }
        if len(bounds) > 1:
            raise invalid("before", "MUTUALLY_EXCLUSIVE", "after, before and around exclude each other.")
        messages = sorted(channel.messages.values(), key=lambda message: int(message["id"]))
        match bounds:
            case {"after": after}:
                page = [m for m in messages if int(m["id"]) > after][:limit]
            case {"before": before}:
                page = [m for m in messages if int(m["id"]) < before][-limit:]
            case {"around": around}:
                earlier = [m for m in messages if int(m["id"]) < around]
                page = messages[max(len(earlier) - limit // 2, 0) :][:limit]
            case _:
                page = messages[-limit:]
        return [self._seen(bot, channel, message) for message in reversed(page)]

    def message(self, bot: BotAccount, call: RestCall, channel_id: str, message_id: str) -> Json:
        channel = self._readable(bot, channel_id)
        return self._seen(bot, channel, self._stored(channel, message_id))

    def create(self, bot: BotAccount, call: RestCall, channel_id: str) -> Json:
        channel = self._readable(bot, channel_id)
        check_writable(channel)
        message = post(self.world, bot, channel, call.body, call.files)
        self.world.bell.ring()
        return message

    def edit(self, bot: BotAccount, call: RestCall, channel_id: str, message_id: str) -> Json:
        channel = self._readable(bot, channel_id)
        old = self._stored(channel, message_id)
        if old["author"]["id"] != bot.id:
            raise refusal(50005)
        if channel.archived:
            raise refusal(50083)
        check_writable(channel)
        new = channel.change(message_id, **edited(self.world, channel, old, call.body))
        for sent in self.world.sent:
            if sent.message_id == message_id:
                self.world.change(message_id, content=new["content"], edits=sent.edits + 1)
        return new

    def delete(self, bot: BotAccount, call: RestCall, channel_id: str, message_id: str) -> None:
        """Own messages; those of others only with the permission to manage messages."""
        channel = self._readable(bot, channel_id)
        if self._stored(channel, message_id)["author"]["id"] != bot.id:
            if channel.guild is None:
                raise refusal(50003)
            if not channel.guild.permissions(bot.id) & 1 << 13:
                raise refusal(50013)
        channel.remove(message_id)
        self.world.change(message_id, deleted=True)

    def typing(self, bot: BotAccount, call: RestCall, channel_id: str) -> None:
        check_writable(self._readable(bot, channel_id))
        self.world.typing.append(Typing(channel_id, self.world.clock(), bot.id))
        self.world.bell.ring()

    def _readable(self, bot: BotAccount, channel_id: str) -> Channel:
        channel = self.world.channels.get(channel_id)
        if channel is None:
            raise refusal(10003)
        if channel.refuses == 50001 or channel.bot not in (None, bot):
            raise refusal(50001)
        return channel

    def _stored(self, channel: Channel, message_id: str) -> Json:
        if message_id not in channel.messages:
            raise refusal(10008)
        return channel.messages[message_id]

    def _seen(self, bot: BotAccount, channel: Channel, message: Json) -> Json:
        blind = channel.guild is not None and not bot.message_content
        return wire.readable(message, bot.id) if blind else message
