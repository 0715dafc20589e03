"""All platforms at once, and a person in every kind of place that they have."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import count
from types import TracebackType
from typing import Self

from tests.platforms.discord import FakeDiscord
from tests.platforms.discord_chat import Channel as DiscordPlace
from tests.platforms.openai import FakeOpenAI
from tests.platforms.slack import FakeSlack
from tests.platforms.slack_channel import Channel as SlackPlace
from tests.platforms.telegram import Chat, FakeTelegram
from tests.support.gateway import Home

OPEN = {f"{name}__access": "open" for name in ("telegram", "discord", "slack")}

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Spot:
    """One conversation: how somebody speaks there to the bot, what the bot has said there, and its session's key."""

    name: str
    says: Callable[[str], object]
    heard: Callable[[], list[str]]
    session: str


class Everywhere:
    """`async with Everywhere() as world:` the fakes and a home, for any number of processes."""

    def __init__(self, **settings: str | None) -> None:
        self.tg, self.dc, self.sl, self.ai = FakeTelegram(), FakeDiscord(), FakeSlack(), FakeOpenAI()
        self._settings, self._stack = settings, AsyncExitStack()

    async def __aenter__(self) -> Self:
        for fake in (self.tg, self.dc, self.sl, self.ai):
            await self._stack.enter_async_context(fake)
        home = Home(self.tg, self.ai, discord=self.dc, slack=self.sl, **(OPEN | self._settings))
        self.home = await self._stack.enter_async_context(home)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    def spots(self) -> list[Spot]:
        """A conversation of people whom no test has met, in every kind of place."""
        return [*self._telegram(), *self._discord(), *self._slack()]

    async def until(self, seen: Callable[[], bool], timeout: float = 60) -> None:
        """Returns when something that a platform saw is as wanted."""
        waits = [asyncio.ensure_future(fake.wait(seen, timeout)) for fake in (self.tg, self.dc, self.sl)]
        try:
            for done in asyncio.as_completed(waits):
                return await done
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    def _telegram(self) -> Sequence[Spot]:
        number = next(_numbers)
        ann = self.tg.person(10_000 + number, f"Ann {number}")
        private = self.tg.private(ann)
        group = self.tg.group(-100_000 - number, "Friends", members=[ann])
        forum = self.tg.forum(-200_000 - number, "Forum", topics=["plans", "news"], members=[ann])

        def heard(chat: Chat, topic: int | None = None) -> list[str]:
            return [s.text for s in self.tg.sent if s.chat_id == chat.id and s.thread_id == topic]

        plans, news = forum.topic("plans"), forum.topic("news")
        return (
            Spot("private", lambda t: private.says(ann, t), lambda: heard(private), f"telegram/42/{private.id}"),
            Spot("group", lambda t: group.says(ann, t, mention=True), lambda: heard(group), f"telegram/42/{group.id}"),
            Spot(
                "topic",
                lambda t: forum.says(ann, t, mention=True, topic=plans),
                lambda: heard(forum, plans),
                f"telegram/42/{forum.id}/t={plans}",
            ),
            Spot(
                "other topic",
                lambda t: forum.says(ann, t, mention=True, topic=news),
                lambda: heard(forum, news),
                f"telegram/42/{forum.id}/t={news}",
            ),
        )

    def _discord(self) -> Sequence[Spot]:
        number = next(_numbers)
        ann = self.dc.person(20_000 + number, f"Ann {number}")
        guild = self.dc.guild(30_000 + number, "Friends", members=[ann])
        private, channel, forum = self.dc.private(ann), guild.text("general"), guild.forum("questions")
        thread = channel.thread("plans")
        post = forum.post("how", ann, "how does it work?")

        def spot(name: str, place: DiscordPlace, *, mention: bool = True) -> Spot:
            return Spot(
                f"discord {name}",
                lambda text: place.says(ann, text, mention=mention),
                lambda: [s.content for s in self.dc.sent if s.channel_id == place.id],
                f"discord/1/{place.id}",
            )

        return (
            spot("private", private, mention=False),
            spot("channel", channel),
            spot("thread", thread),
            spot("post", post),
        )

    def _slack(self) -> Sequence[Spot]:
        number = next(_numbers)
        ann = self.sl.person(f"UANN{number}", f"Ann {number}")
        private, channel = self.sl.private(ann), self.sl.channel(f"C{number}", "friends", members=[ann])
        account = f"{self.sl.team}:{self.sl.bot_user}"

        def spot(name: str, place: SlackPlace, root: str | None, *, mention: bool = False) -> Spot:
            return Spot(
                f"slack {name}",
                lambda text: place.says(ann, text, thread=root, mention=mention),
                lambda: [s.text for s in self.sl.sent if (s.channel, s.thread_ts) == (place.id, root)],
                f"slack/{account}/{place.id}" + (f"/t={root}" if root else ""),
            )

        root = channel.says(ann, "we talk here").ts
        other = str(private.add({"user": ann.id, "text": "aside"})["ts"])  # of long ago: nobody is told of it
        return (
            spot("thread", channel, root, mention=True),
            spot("private", private, None),
            spot("private thread", private, other),
        )
