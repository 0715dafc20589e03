"""The REST methods around messages: who the bot is, its commands, guilds, DMs, and interactions."""

from collections.abc import Mapping
from typing import Any, Final

from tests.platforms import discord_wire as wire
from tests.platforms.discord_calls import RestCall
from tests.platforms.discord_guild import Guild
from tests.platforms.discord_interactions import ANSWER, Callback, Interaction, by_token
from tests.platforms.discord_posts import USERS_ONLY, compose, edited, log
from tests.platforms.discord_refusals import check_commands, refusal
from tests.platforms.discord_world import BotAccount, World

Json = dict[str, Any]

CONTENT_LIMITED: Final = 1 << 19
"""Flag of an application in few guilds whose message content intent is switched on."""

METHODS: Mapping[str, str] = {
    "GET /users/@me": "me",
    "POST /users/@me/channels": "open_dm",
    "GET /users/{user}": "user",
    "GET /applications/@me": "application",
    "GET /oauth2/applications/@me": "application",
    "GET /gateway/bot": "gateway_bot",
    "GET /applications/{app}/commands": "commands",
    "PUT /applications/{app}/commands": "put_commands",
    "GET /guilds/{guild}": "guild",
    "GET /guilds/{guild}/channels": "channels",
    "GET /guilds/{guild}/roles": "roles",
    "GET /guilds/{guild}/members/{user}": "member",
    "GET /guilds/{guild}/threads/active": "threads",
}

OPEN_METHODS: Mapping[str, str] = {
    "GET /gateway": "gateway",
    "POST /interactions/{interaction}/{token}/callback": "callback",
    "POST /webhooks/{app}/{token}": "followup",
    "GET /webhooks/{app}/{token}/messages/{message}": "answered",
    "PATCH /webhooks/{app}/{token}/messages/{message}": "edit",
    "DELETE /webhooks/{app}/{token}/messages/{message}": "delete",
}
"""Those that need no bot's token."""


class Methods:
    """What a bot may ask the platform; each method answers JSON, or None for 204."""

    def __init__(self, world: World) -> None:
        self.world = world

    def me(self, bot: BotAccount, call: RestCall) -> Json:
        return bot.user | {"mfa_enabled": False, "verified": True, "locale": "en-US"}

    def user(self, bot: BotAccount, call: RestCall, user_id: str) -> Json:
        return self.world.user(user_id) or _missing(10013)

    def open_dm(self, bot: BotAccount, call: RestCall) -> Json:
        person = self.world.people.get(str(call.body.get("recipient_id"))) or _missing(10013)
        return self.world.dm(person, bot).wire

    def application(self, bot: BotAccount, call: RestCall) -> Json:
        shape: Json = {"id": bot.id, "name": bot.username, "icon": None, "description": "", "summary": ""}
        shape |= {"bot_public": True, "bot_require_code_grant": False, "verify_key": "00", "team": None}
        return shape | {"owner": bot.owner.user, "flags": CONTENT_LIMITED if bot.message_content else 0}

    def gateway_bot(self, bot: BotAccount, call: RestCall) -> Json:
        limits = {"total": 1000, "remaining": 1000, "reset_after": 86400000, "max_concurrency": 1}
        return {"url": self._gateway_url, "shards": 1, "session_start_limit": limits}

    def gateway(self, call: RestCall) -> Json:
        return {"url": self._gateway_url}

    def commands(self, bot: BotAccount, call: RestCall, application_id: str) -> list[Json]:
        if application_id != bot.id:
            raise refusal(50001)
        return bot.commands

    def put_commands(self, bot: BotAccount, call: RestCall, application_id: str) -> list[Json]:
        """Replace all commands; one whose name stays keeps its id."""
        if application_id != bot.id:
            raise refusal(50001)
        check_commands(call.body)
        ids = {command["name"]: command["id"] for command in bot.commands}
        fixed: Json = {"application_id": bot.id, "default_member_permissions": None, "type": 1, "options": []}
        bot.commands = []
        for command in call.body:
            key = ids.get(command["name"]) or self.world.snowflake()
            bot.commands.append(fixed | command | {"id": key, "version": self.world.snowflake()})
        self.world.bell.ring()
        return bot.commands

    def guild(self, bot: BotAccount, call: RestCall, guild_id: str) -> Json:
        return self._guild(guild_id).wire

    def channels(self, bot: BotAccount, call: RestCall, guild_id: str) -> list[Json]:
        return [channel.wire for channel in self._guild(guild_id).channels]

    def roles(self, bot: BotAccount, call: RestCall, guild_id: str) -> list[Json]:
        return [role.wire for role in self._guild(guild_id).roles.values()]

    def member(self, bot: BotAccount, call: RestCall, guild_id: str, user_id: str) -> Json:
        guild, user = self._guild(guild_id), self.world.user(user_id) or _missing(10013)
        if not user.get("bot") and self.world.people[user_id] not in guild.members:
            raise refusal(10007)
        return guild.member(user)

    def threads(self, bot: BotAccount, call: RestCall, guild_id: str) -> Json:
        return {"threads": [thread.wire for thread in self._guild(guild_id).threads], "members": []}

    def callback(self, call: RestCall, interaction_id: str, token: str) -> Json | None:
        """The first answer: at once with text, or deferred; in three seconds and once."""
        interaction = self.world.interactions.get(token)
        if interaction is None or interaction.id != interaction_id:
            raise refusal(10062)
        taken = interaction.answer(call.body)
        if taken.type == ANSWER:
            message = self._say(interaction, taken, taken.data, call, wire.COMMAND)
        else:
            flags = wire.LOADING | (wire.EPHEMERAL if taken.ephemeral else 0)
            bot, world = interaction.bot, self.world
            message = wire.message(world.snowflake(), interaction.channel.id, bot.user, "", world.clock())
            message |= {"type": wire.COMMAND, "flags": flags}
            self._keep(interaction, message)
        interaction.callbacks.append(taken)
        interaction.original_id = message["id"]
        self.world.bell.ring()
        if call.form.get("with_response") not in ("1", "true"):
            return None
        told = {"id": interaction.id, "type": 2, "response_message_id": message["id"]}
        told |= {"response_message_loading": interaction.thinking, "response_message_ephemeral": taken.ephemeral}
        return {"interaction": told, "resource": {"type": taken.type, "message": message}}

    def followup(self, call: RestCall, application_id: str, token: str) -> Json:
        """One more answer; the first after a deferred one takes that one's place, and who sees it."""
        interaction = by_token(self.world, token, application_id)
        interaction.check_token()
        if interaction.thinking:
            return self.edit(call, application_id, token, "@original")
        ephemeral = bool(int(call.body.get("flags") or 0) & wire.EPHEMERAL)
        message = self._say(interaction, Callback(ANSWER, ephemeral, 0, call.body), call.body, call, wire.DEFAULT)
        self.world.bell.ring()
        return message

    def answered(self, call: RestCall, application_id: str, token: str, message_id: str) -> Json:
        return by_token(self.world, token, application_id).message(message_id)

    def edit(self, call: RestCall, application_id: str, token: str, message_id: str) -> Json:
        """Edit an answer; of a deferred one this is its text."""
        interaction = by_token(self.world, token, application_id)
        old, was_thinking = interaction.message(message_id), interaction.thinking
        changes = edited(self.world, interaction.channel, old, call.body, USERS_ONLY)
        new = old | changes | {"flags": old["flags"] & ~wire.LOADING}
        interaction.messages[old["id"]] = new
        if not new["flags"] & wire.EPHEMERAL:
            interaction.channel.change(old["id"], **changes, flags=new["flags"])
        if was_thinking and old["id"] == interaction.original_id:
            self._log(interaction, new, call.body, call)
        else:
            edits = next(sent.edits for sent in self.world.sent if sent.message_id == old["id"])
            self.world.change(old["id"], content=new["content"], edits=edits + 1)
        self.world.bell.ring()
        return new

    def delete(self, call: RestCall, application_id: str, token: str, message_id: str) -> None:
        interaction = by_token(self.world, token, application_id)
        message = interaction.message(message_id)
        del interaction.messages[message["id"]]
        if not message["flags"] & wire.EPHEMERAL:
            interaction.channel.remove(message["id"])
        self.world.change(message["id"], deleted=True)

    def _say(self, interaction: Interaction, how: Callback, body: Json, call: RestCall, kind: int) -> Json:
        message = compose(self.world, interaction.bot, interaction.channel, body, call.files.values(), USERS_ONLY)
        flags = message["flags"] | (wire.EPHEMERAL if how.ephemeral else 0)
        message |= {"type": kind, "flags": flags}
        self._keep(interaction, message)
        self._log(interaction, message, body, call)
        return message

    def _keep(self, interaction: Interaction, message: Json) -> None:
        """An answer; in the channel too, unless only the person sees it."""
        interaction.messages[message["id"]] = message
        if not message["flags"] & wire.EPHEMERAL:
            interaction.channel.store(message)

    def _log(self, interaction: Interaction, message: Json, body: Json, call: RestCall) -> None:
        ephemeral = bool(message["flags"] & wire.EPHEMERAL)
        log(self.world, interaction.bot, message, body, call.files, interaction=interaction.id, ephemeral=ephemeral)
        self.world.ping(interaction.channel, message)

    @property
    def _gateway_url(self) -> str:
        return f"{self.world.origin.replace('http', 'ws', 1)}/gateway/"

    def _guild(self, guild_id: str) -> Guild:
        return self.world.guilds.get(guild_id) or _missing(10004)


def _missing(code: int) -> Any:
    raise refusal(code)
