"""Slack under the channel contract, by Socket Mode."""

import html
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, ClassVar, TypeVar

from tests.contracts.stand import Broken, Busy, Failing, Fault, Heard, Place, Said, Stand, Unanswered
from tests.platforms.faults import Call, DropReply, RetryAfter, ServerError
from tests.platforms.slack import Channel, FakeSlack, Person, Sent
from tests.support.gateway import PATIENCE

T = TypeVar("T")

Json = Mapping[str, Any]

IN_ORDER = 1000
"""The code of a WebSocket that was closed as it should be."""

FAULTS: dict[type[Fault], Callable[[Any], Any]] = {
    Busy: lambda fault: RetryAfter(fault.seconds),
    Broken: lambda _: ServerError(502),
    Unanswered: lambda _: DropReply(),
}


class SlackStand(Stand):
    """Rooms are channels, where each message that is in no thread is the root of one."""

    name = "slack"
    command_mark = "!"
    wrong_token: ClassVar[Mapping[str, str]] = {"slack__bot_token": "xoxb-wrong"}
    advice = "GATEWAY_SLACK__BOT_TOKEN"

    def __init__(self, fake: FakeSlack) -> None:
        self.fake, self._numbers = fake, count(1)

    def person(self) -> Person:
        number = next(self._numbers)
        return self.fake.person(f"U{7000 + number}", f"Person{number}")

    def private(self, person: Person) -> Place:
        channel = self.fake.private(person)
        return Place(channel.id, channel)

    def room(self, *people: Person) -> Place:
        number = next(self._numbers)
        channel = self.fake.channel(f"C{9000 + number}", f"room-{number}", members=people)
        return Place(channel.id, channel)

    def threads(self, *people: Person) -> tuple[Place, Place]:
        room = self.room(*people)
        one, two = (room.raw.says(people[0], f"root {name}").ts for name in ("one", "two"))
        return Place(room.id, room.raw, one), Place(room.id, room.raw, two)

    def shows_typing(self, person: Person) -> Place:
        """Slack shows it in threads alone."""
        return self.room(person)

    async def say(
        self, place: Place, person: Person, text: str, *, mention: bool = False, reply_to: Heard | None = None
    ) -> Said:
        channel: Channel = place.raw
        root = place.thread if reply_to is None else reply_to.thread
        said = channel.says(person, html.escape(text, quote=False), mention=mention, thread=root)
        where = root if channel.kind == "im" else root or said.ts
        session = f"slack/{self.fake.team}:{self.fake.bot_user}/{place.id}" + ("" if where is None else f"/t={where}")
        return Said(place, session, where, said)

    async def bot_says(self, place: Place, text: str, *, own: bool) -> None:
        bot = self.fake.bot_user if own else "U70"
        place.raw.says(self.fake.person(bot, "Bot", is_bot=True), text, mention=True)

    async def edit(self, said: Said, person: Person, text: str) -> None:
        said.place.raw.edits(person, said.raw, text)

    async def redeliver(self, said: Said) -> None:
        self.fake.redeliver(said.raw, retry=1)

    def heard(self, place: Place) -> list[Heard]:
        return [_heard(sent) for sent in self.fake.sent if sent.channel == place.id]

    def typing(self, place: Place) -> int:
        return sum(status.channel == place.id and bool(status.status) for status in self.fake.statuses)

    def shout(self, bystander: Person) -> str:
        return f"<!channel> <!here> <!everyone> <@{bystander.id}> <!subteam^S1> @channel @{bystander.name}"

    def fail_next_send(self, place: Place, fault: Fault) -> Failing:
        failing = Failing()

        def picks(call: Call) -> bool:
            if meant := call.form["channel"] == place.id:
                failing.at.append(call.at)
            return meant

        self.fake.inject("chat.postMessage", FAULTS[type(fault)](fault), when=picks)
        return failing

    async def cut(self) -> None:
        self.fake.cut()

    @asynccontextmanager
    async def outage(self) -> AsyncIterator[None]:
        await self.fake.down()
        yield
        await self.fake.up()

    def left_well(self) -> str:
        if unsaid := self.fake.unacked:
            return f"not acknowledged: {unsaid}"
        bad = [c for c in self.fake.connections[-1:] if c.open or c.ws.close_code != IN_ORDER]
        return "; ".join(f"socket {c.number}: open {c.open}, code {c.ws.close_code}" for c in bad)

    async def until(self, seen: Callable[[], T]) -> T:
        return await self.fake.wait(seen, PATIENCE)


def _heard(sent: Sent) -> Heard:
    """Where a message has blocks, people see those; its text is for notifications then."""
    elements = [element for block in sent.blocks for element in block["elements"]]
    return Heard(
        id=sent.ts,
        text="\n".join("".join(_words(element)) for element in elements) or html.unescape(sent.text),
        thread=sent.thread_ts,
        at=sent.at,
        code=tuple("".join(_words(element)) for element in elements if element["type"] == "rich_text_preformatted"),
        pings=frozenset(sent.pings),
    )


def _words(element: Json) -> Iterator[str]:
    if "elements" not in element:
        yield str(element.get("text", ""))
    for inner in element.get("elements", ()):
        yield from _words(inner)
        if inner["type"] == "rich_text_section":
            yield "\n"
