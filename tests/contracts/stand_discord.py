"""Discord under the channel contract."""

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from itertools import count
from typing import Any, ClassVar, TypeVar

from tests.contracts.stand import Broken, Busy, Failing, Fault, Heard, Place, Said, Stand, Unanswered
from tests.platforms.discord import Channel, DropReply, FakeDiscord, Guild, Person, RestCall, RetryAfter, Sent
from tests.platforms.discord import ServerError as Broken5xx
from tests.support.gateway import PATIENCE

T = TypeVar("T")

SEND = "POST /channels/{id}/messages"
FENCE = re.compile(r"^```\w*\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
WHOLE_FENCE = re.compile(r"(^```\w*\n.*?\n```$)", re.DOTALL | re.MULTILINE)
GOOD_CODES = (1000, 1001)
FAULTS: dict[type[Fault], Callable[[Any], Any]] = {
    Busy: lambda fault: RetryAfter(fault.seconds),
    Broken: lambda _: Broken5xx(502),
    Unanswered: lambda _: DropReply(),
}


class DiscordStand(Stand):
    """Rooms are text channels of one guild; a place in a thread has the id of the channel that the thread is in."""

    name = "discord"
    wrong_token: ClassVar[Mapping[str, str]] = {"discord__token": "a-token-that-nobody-has"}
    advice = "GATEWAY_DISCORD__TOKEN"

    def __init__(self, fake: FakeDiscord) -> None:
        self.fake, self._numbers = fake, count(1)

    @cached_property
    def guild(self) -> Guild:
        """Where all rooms are."""
        return self.fake.guild(5000, "Town")

    def person(self) -> Person:
        number = next(self._numbers)
        return self.fake.person(7000 + number, f"Person {number}")

    def private(self, person: Person) -> Place:
        channel = self.fake.private(person)
        return Place(channel.id, channel)

    def room(self, *people: Person) -> Place:
        channel = self.guild.text(f"room-{next(self._numbers)}")
        for person in people:
            self.guild.join(person)
        return Place(channel.id, channel)

    def threads(self, *people: Person) -> tuple[Place, Place]:
        room = self.room(*people)
        one, two = (room.raw.thread(name, by=people[0]) for name in ("one", "two"))
        return Place(room.id, one, one.id), Place(room.id, two, two.id)

    async def say(
        self, place: Place, person: Person, text: str, *, mention: bool = False, reply_to: Heard | None = None
    ) -> Said:
        channel: Channel = place.raw
        reply = None if reply_to is None else reply_to.id
        said = channel.says(person, text, mention=mention, reply_to=reply, ping=False)
        return Said(place, f"discord/{self.fake.bot.id}/{channel.id}", place.thread, said)

    async def bot_says(self, place: Place, text: str, *, own: bool) -> None:
        bot = self.fake.bot.id if own else "70"
        place.raw.says(self.fake.person(bot, "Bot", is_bot=True), text, mention=True)

    async def edit(self, said: Said, person: Person, text: str) -> None:
        said.place.raw.edits(said.raw, text)

    async def redeliver(self, said: Said) -> None:
        said.place.raw.redeliver(said.raw)

    def heard(self, place: Place) -> list[Heard]:
        return [self._heard(sent, place) for sent in self.fake.sent if self._room_of(sent.channel_id) == place.id]

    def typing(self, place: Place) -> int:
        return sum(self._room_of(typing.channel_id) == place.id for typing in self.fake.typing)

    def shout(self, bystander: Person) -> str:
        return f"@everyone @here <@{bystander.id}> <@!{bystander.id}> <@&{self.guild.bot_role(self.fake.bot).id}>"

    def fail_next_send(self, place: Place, fault: Fault) -> Failing:
        failing = Failing()

        def picks(call: RestCall) -> bool:
            if meant := self._room_of(call.path.split("/")[2]) == place.id:
                failing.at.append(call.at)
            return meant

        self.fake.inject(SEND, FAULTS[type(fault)](fault), when=picks)
        return failing

    async def cut(self) -> None:
        self.fake.disconnect(None)

    @asynccontextmanager
    async def outage(self) -> AsyncIterator[None]:
        await self.fake.down()
        yield
        await self.fake.up()

    def left_well(self) -> str:
        if not self.fake.closes:
            return "it never closed its connection"
        last = self.fake.closes[-1]
        return "" if last.by_client and last.code in GOOD_CODES else repr(last)

    async def until(self, seen: Callable[[], T]) -> T:
        return await self.fake.wait(seen, PATIENCE)

    def _room_of(self, channel_id: str) -> str:
        channel = self.fake.world.channels[channel_id]
        return channel.id if channel.parent is None else channel.parent.id

    def _heard(self, sent: Sent, place: Place) -> Heard:
        return Heard(
            id=sent.message_id,
            text="".join(_plain(piece) for piece in WHOLE_FENCE.split(sent.content)),
            thread=None if sent.channel_id == place.id else sent.channel_id,
            at=sent.at,
            code=tuple(FENCE.findall(sent.content)),
            pings=frozenset(ping.id for ping in self.fake.pings if ping.message_id == sent.message_id),
        )


def _plain(piece: str) -> str:
    """Text without the backslashes that make it text; a block of code as it is."""
    return piece if piece.startswith("```") else re.sub(r"\\([^\w\s])", r"\1", piece)
