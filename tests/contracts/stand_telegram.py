"""Telegram under the channel contract."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, ClassVar, TypeVar

from tests.contracts.stand import Broken, Busy, Failing, Fault, Heard, Place, Said, Stand, Unanswered
from tests.platforms.faults import Call, DropReply, RetryAfter, ServerError
from tests.platforms.telegram import FakeTelegram, Person
from tests.support.gateway import PATIENCE

T = TypeVar("T")

FAULTS: dict[type[Fault], Callable[[Any], Any]] = {
    Busy: lambda fault: RetryAfter(fault.seconds),
    Broken: lambda _: ServerError(502),
    Unanswered: lambda _: DropReply(),
}


class TelegramStand(Stand):
    """Rooms are groups, threads are topics of a forum."""

    name = "telegram"
    marks_copies = True
    wrong_token: ClassVar[Mapping[str, str]] = {"telegram__token": "42:WRONG"}
    advice = "GATEWAY_TELEGRAM__TOKEN"

    def __init__(self, fake: FakeTelegram) -> None:
        self.fake, self._numbers = fake, count(1)

    def person(self) -> Person:
        number = next(self._numbers)
        return self.fake.person(7000 + number, f"Person {number}", f"person_{number}")

    def private(self, person: Person) -> Place:
        return Place(str(person.id), self.fake.private(person))

    def room(self, *people: Person) -> Place:
        chat = self.fake.group(-9000 - next(self._numbers), "Room", members=people)
        return Place(str(chat.id), chat)

    def threads(self, *people: Person) -> tuple[Place, Place]:
        forum = self.fake.forum(-1009000 - next(self._numbers), "Forum", topics=["one", "two"], members=people)
        one, two = (Place(str(forum.id), forum, str(forum.topic(name))) for name in ("one", "two"))
        return one, two

    async def say(
        self, place: Place, person: Person, text: str, *, mention: bool = False, reply_to: Heard | None = None
    ) -> Said:
        topic = None if place.thread is None else int(place.thread)
        reply = None if reply_to is None else int(reply_to.id)
        update = place.raw.says(person, text, mention=mention, topic=topic, reply_to=reply)
        session = f"telegram/{self.fake.bot.id}/{place.id}" + ("" if topic is None else f"/t={topic}")
        return Said(place, session, place.thread, update)

    async def bot_says(self, place: Place, text: str, *, own: bool) -> None:
        bot = self.fake.bot.id if own else 70
        place.raw.says(self.fake.person(bot, "Bot", is_bot=True), text, mention=True)

    async def edit(self, said: Said, person: Person, text: str) -> None:
        said.place.raw.edits(person, said.raw, text)

    async def redeliver(self, said: Said) -> None:
        self.fake.redeliver(said.raw["update_id"])

    def heard(self, place: Place) -> list[Heard]:
        return [
            Heard(
                id=str(sent.message_id),
                text=sent.text,
                thread=None if sent.thread_id is None else str(sent.thread_id),
                at=sent.at,
                code=tuple(entity.of(sent.text) for entity in sent.entities if entity.kind == "pre"),
                pings=frozenset(sent.pings),
            )
            for sent in self.fake.sent
            if str(sent.chat_id) == place.id
        ]

    def typing(self, place: Place) -> int:
        return sum(call.form["chat_id"] == place.id for call in self.fake.calls_of("sendChatAction"))

    def shout(self, bystander: Person) -> str:
        return f"@{bystander.username}, @{self.fake.bot.username} and [you](tg://user?id={bystander.id})"

    def fail_next_send(self, place: Place, fault: Fault) -> Failing:
        failing = Failing()

        def picks(call: Call) -> bool:
            if meant := call.form["chat_id"] == place.id:
                failing.at.append(call.at)
            return meant

        self.fake.inject("sendMessage", FAULTS[type(fault)](fault), when=picks)
        return failing

    async def cut(self) -> None:
        async with self.outage():
            pass

    @asynccontextmanager
    async def outage(self) -> AsyncIterator[None]:
        await self.fake.down()
        yield
        await self.fake.up()

    def left_well(self) -> str:
        return f"{self.fake.pending} updates are not confirmed" if self.fake.pending else ""

    async def until(self, seen: Callable[[], T]) -> T:
        return await self.fake.wait(seen, PATIENCE)
