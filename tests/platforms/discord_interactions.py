"""Interactions: a person's command on its way to the bot, and the answers it got (facts 2.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tests.platforms import discord_wire as wire
from tests.platforms.discord_refusals import invalid, refusal

if TYPE_CHECKING:
    from tests.platforms.discord_chat import Channel, Person
    from tests.platforms.discord_world import BotAccount, World

Json = dict[str, Any]

FIRST_ANSWER: Final = 3.0
TOKEN_LIFE: Final = 15 * 60.0
"""Seconds."""

ANSWER, DEFER = 4, 5
"""Types of callbacks that a command takes."""

OPTION_TYPES: Final = {3: str, 4: int, 5: bool, 10: float}


@dataclass(frozen=True, slots=True)
class Callback:
    """The first answer: its type, whether only the person sees it, and the seconds it took."""

    type: int
    ephemeral: bool
    after: float
    data: Json


@dataclass(slots=True, eq=False)
class Interaction:
    """One use of an application command. `callbacks` are those that were taken; `original` is the answer's message
    (None before there is one, or once deleted), `followups` those sent after it, as they are now."""

    world: World
    id: str
    token: str
    bot: BotAccount
    channel: Channel
    person: Person
    command: Json
    options: list[Json]
    at: float
    callbacks: list[Callback] = field(default_factory=list)
    messages: dict[str, Json] = field(default_factory=dict)
    original_id: str | None = None
    edits: int = 0

    @property
    def original(self) -> Json | None:
        return self.messages.get(self.original_id or "")

    @property
    def followups(self) -> list[Json]:
        return [message for key, message in self.messages.items() if key != self.original_id]

    @property
    def content(self) -> str | None:
        """What the person reads as the answer; None while there is none ("thinking" is none)."""
        return self.original["content"] if self.original and not self.thinking else None

    @property
    def thinking(self) -> bool:
        """Deferred, and no text yet."""
        return bool(self.original and self.original["flags"] & wire.LOADING)

    @property
    def ephemeral(self) -> bool:
        return any(callback.ephemeral for callback in self.callbacks)

    def event(self) -> Json:
        """INTERACTION_CREATE."""
        guild = self.channel.guild
        data: Json = {"id": self.command["id"], "name": self.command["name"], "type": 1, "options": self.options}
        shape: Json = {"id": self.id, "application_id": self.bot.id, "type": 2, "token": self.token, "version": 1}
        shape |= {"data": data, "channel_id": self.channel.id, "channel": self.channel.wire, "locale": "en-US"}
        shape |= {"entitlements": [], "authorizing_integration_owners": {}, "attachment_size_limit": 10 * 2**20}
        if guild is None:
            return shape | {"user": self.person.user, "context": 1, "app_permissions": str(wire.EVERYONE_MAY)}
        member = guild.member(self.person.user) | {"permissions": str(guild.permissions(self.person.id))}
        shape |= {"guild_id": guild.id, "guild": {"id": guild.id, "locale": "en-US", "features": []}, "member": member}
        return shape | {"context": 0, "app_permissions": str(guild.permissions(self.bot.id)), "guild_locale": "en-US"}

    def answer(self, body: Json) -> Callback:
        """Take the first answer, in time and once."""
        if self.callbacks:
            raise refusal(40060)
        after = self.world.clock() - self.at
        if after > FIRST_ANSWER:
            raise refusal(10062)
        if body.get("type") not in (ANSWER, DEFER):
            raise invalid("type", "BASE_TYPE_CHOICES", f"Value must be one of ({ANSWER}, {DEFER}).")
        data = body.get("data") or {}
        return Callback(int(body["type"]), bool(int(data.get("flags") or 0) & wire.EPHEMERAL), after, data)

    def check_token(self) -> None:
        """Later answers need a first one, and are taken for 15 minutes."""
        if not self.callbacks:
            raise refusal(10015)
        if self.world.clock() - self.at > TOKEN_LIFE:
            raise refusal(50027)

    def message(self, message_id: str) -> Json:
        """One of its messages; `@original` is the answer."""
        self.check_token()
        key = self.original_id if message_id == "@original" else message_id
        if key not in self.messages:
            raise refusal(10008)
        return self.messages[key]


def called(world: World, channel: Channel, person: Person, bot: BotAccount, name: str, options: Json) -> Interaction:
    """What the client of a person makes of a command: only one that is registered, with options that it has."""
    command = next((one for one in bot.commands if one["name"] == name and one.get("type", 1) == 1), None)
    if command is None:
        raise ValueError(f"/{name} is not registered: {[one['name'] for one in bot.commands]}")
    known = {option["name"]: option for option in command.get("options") or []}
    missing = [key for key, option in known.items() if option.get("required") and key not in options]
    if missing or not options.keys() <= known.keys():
        raise ValueError(f"/{name} has the options {sorted(known)}, not {sorted(options)}")
    for key, value in options.items():
        if type(value) is not OPTION_TYPES.get(known[key]["type"]):
            raise ValueError(f"option {key} of /{name} is no {type(value).__name__}")
    given = [{"name": key, "type": known[key]["type"], "value": value} for key, value in options.items()]
    key = world.snowflake()
    return Interaction(world, key, f"interaction-{key}", bot, channel, person, command, given, world.clock())


def by_token(world: World, token: str, application_id: str) -> Interaction:
    """The interaction that a webhook's token belongs to."""
    interaction = world.interactions.get(token)
    if interaction is None or interaction.bot.id != application_id:
        raise refusal(10015)
    return interaction
