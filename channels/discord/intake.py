"""From the gateway's events to `receive`: one lane a channel, and what was missed before what comes (F11, F12)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import structlog

from channels.admins import Admins
from channels.discord import asked
from channels.discord.catch_up import Histories, Place, Seen, with_news
from channels.discord.commands import names, register
from channels.discord.failures import FAILURES, of_asking
from channels.discord.fields import Payload, ids, inner, rows, text, whole, words
from channels.discord.guilds import AdminRule, Guilds
from channels.discord.interactions import Interactions, Waiting
from channels.discord.parse import Me, addresses, is_empty, parse
from channels.discord.rest import Rest
from channels.discord.snowflake import is_id
from channels.handover import Handover, Unreadable
from channels.lanes import Lanes
from channels.overheard import Aside, Overheard
from channels.supervise import Supervisor
from gateway.channel import Health, Receive
from gateway.clock import Clock
from gateway.message import IncomingMessage

log = structlog.get_logger()

_BLIND: Final = 3  # empty messages in a row: one alone may be of a kind that this release does not know
_HOW_TO_SEE: Final = "switch on MESSAGE CONTENT INTENT under Bot in the developer portal"


@dataclass(frozen=True, slots=True)
class _Said:
    """A MESSAGE_CREATE."""

    raw: Payload


@dataclass(frozen=True, slots=True)
class _Missed:
    """A place to read back, before what is said there from now on."""

    place: Place


class Intake:
    """Everything that one bot hears, over all its connections: what waits in a lane survives the loss of one.

    `rule`, `admins`: whom the platform holds for an admin is learnt from what people send.
    """

    def __init__(
        self,
        receive: Receive,
        rest: Rest,
        *,
        seen: Seen,
        interactions: Interactions,
        handover: Handover,
        supervisor: Supervisor,
        overheard: Overheard,
        admins: Admins,
        rule: AdminRule,
        clock: Clock,
        commands: Sequence[tuple[str, str]],
        message_content: bool,
    ) -> None:
        self._receive, self._rest, self._seen, self._interactions = receive, rest, seen, interactions
        self._handover, self._supervisor, self._overheard = handover, supervisor, overheard
        self._admins, self._rule, self._clock = admins, rule, clock
        self._commands, self._message_content = commands, message_content
        self._guilds, self._histories = Guilds(), Histories(rest, clock)
        self._lanes: Lanes[_Said | _Missed | Waiting] = Lanes(self._handle)
        self._me = Me("", "")
        self._awaited: set[str] = set()  # guilds of this session that were not told yet
        self._registering: asyncio.Task[None] | None = None
        self._empty = 0

    async def begin(self, me: Me) -> None:
        """Before each connection: who the bot is, and up to where it was taken in, here or in another process."""
        self._me = replace(me, commands=names(self._commands))
        await self._seen.load(me.id)

    def take(self, event: str, raw: Payload) -> None:
        """Every event, as it comes: what must keep its order goes into its lane at once. Raises LanesFull alone."""
        try:
            match event:
                case "MESSAGE_CREATE":
                    self._lanes.put(words(raw, "channel_id"), _Said(raw))
                case "INTERACTION_CREATE":
                    self._command(raw)
                case "READY":
                    self._ready(raw)
                case "RESUMED":
                    self._supervisor.tell(self._well)
                case "GUILD_CREATE":
                    self._guild(raw)
                case "GUILD_UPDATE":
                    self._guilds.learn(raw, self._me.id)
                case "GUILD_DELETE":
                    self._guilds.forget(raw)
                case "GUILD_ROLE_DELETE":
                    self._guilds.forget_role(raw)
                case "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE":
                    self._guilds.learn_role(raw)
        except Unreadable as error:
            log.warning("discord.event_unreadable", name=event, reason=str(error))

    async def close(self) -> None:
        """Takes in nothing more, and notes up to where everything was."""
        await self._interactions.close()
        await self._lanes.close()
        if self._registering is not None:
            self._registering.cancel()
            await asyncio.gather(self._registering, return_exceptions=True)
        await self._seen.write()

    @property
    def _well(self) -> Health:
        return Health("connected", f"@{self._me.username}")

    def _ready(self, raw: Payload) -> None:
        """A new session: what came between the last one and this is in the histories alone."""
        self._supervisor.tell(self._well)
        self._awaited = {text(guild, "id") for guild in rows(raw, "guilds")}
        for place in self._seen.private():
            self._lanes.put(place.channel, _Missed(place))
        if self._commands and self._registering is None:
            self._registering = asyncio.create_task(self._register(text(inner(raw, "application"), "id")))

    def _guild(self, raw: Payload) -> None:
        self._guilds.learn(raw, self._me.id)
        guild = text(raw, "id")
        if guild in self._awaited:  # else the bot has just joined it, and nothing there is older news for it
            self._awaited.discard(guild)
            for place in with_news(raw, self._seen):
                self._lanes.put(place.channel, _Missed(place))

    def _command(self, raw: Payload) -> None:
        found = asked.parse(raw, self._me.id, self._clock.now())
        if found is None:
            return
        member = inner(raw, "member")
        if member and self._rule.names_somebody:
            is_admin = self._rule.holds_by(whole(member, "permissions"), ids(member, "roles"))
            self._admins.learn(found.message.route.conversation, found.message.author.id, is_admin)
        self._interactions.arrived(found, lambda waiting: self._lanes.put(words(raw, "channel_id"), waiting))

    async def _register(self, application: str) -> None:
        try:
            await register(self._rest, application, self._commands)
        except FAILURES as error:
            self._registering = None  # with the next session
            log.warning("discord.commands_not_registered", reason=str(of_asking(error)))

    async def _handle(self, item: _Said | _Missed | Waiting) -> None:
        match item:
            case _Said(raw):
                await self._message(raw)
            case _Missed(place):
                after = self._seen.after(place)
                missed = await self._histories.read(place, after)
                log.info("discord.caught_up", channel=place.channel, messages=len(missed))
                for raw in missed:  # a history does not say again where it is
                    await self._message(raw if place.guild is None else {**raw, "guild_id": place.guild})
            case Waiting():
                await self._interactions.take(item, self._receive)

    async def _message(self, raw: Payload) -> None:
        """Returns when the message is durable, or nothing to us, or set aside: only then it counts as seen."""
        id_, channel, guild = words(raw, "id"), words(raw, "channel_id"), words(raw, "guild_id") or None
        place = Place(channel, guild)
        if guild is None and is_id(id_) and not self._seen.knows(place):
            # Discord lists no DMs: if this one is not noted before its first message, nobody looks for that again.
            await self._seen.saw(place, int(id_) - 1)
        self._hear_of_rights(raw, guild)
        self._look_for_words(raw)
        await self._handover.give(self._receive, lambda: self._read(raw), raw, id_)
        if is_id(id_):
            await self._seen.saw(place, int(id_))

    def _read(self, raw: Payload) -> IncomingMessage | None:
        match parse(raw, self._now, self._clock.now()):
            case Aside() as aside:
                self._overheard.hears(aside)
                return None
            case IncomingMessage(private=False) as message:
                return replace(message, quotes=self._overheard.quotes(message.route))
            case other:
                return other

    def _hear_of_rights(self, raw: Payload, guild: str | None) -> None:
        member, person = inner(raw, "member"), words(inner(raw, "author"), "id")
        known = self._guilds.get(guild or "")
        if member and known is not None and self._rule.names_somebody:
            is_admin = self._rule.holds(known, person, ids(member, "roles"))
            self._admins.learn(words(raw, "channel_id"), person, is_admin)

    def _look_for_words(self, raw: Payload) -> None:
        """Messages that come empty: Discord hides what a bot may not read, without a word (case C38)."""
        try:
            empty = is_empty(raw)
            ours = empty and addresses(raw, self._now)
        except Unreadable:
            return
        if not self._message_content and ours:
            hint = (
                f"{self._well.detail}; people must mention the bot: a reply to it comes without its text, unless you "
            )
            self._supervisor.tell(Health("connected", f"{hint}{_HOW_TO_SEE} and set discord.message_content to true"))
        if not self._message_content or raw.get("guild_id") is None or inner(raw, "author").get("bot"):
            return
        was_blind = self._empty >= _BLIND
        self._empty = self._empty + 1 if empty else 0
        if self._empty >= _BLIND:
            hint = f"messages in servers come without their text: {_HOW_TO_SEE}"
            self._supervisor.tell(Health("degraded", hint))
        elif was_blind:
            self._supervisor.tell(self._well)

    @property
    def _now(self) -> Me:
        return replace(self._me, roles=self._guilds.own_roles)
