"""The stands of all channels, one gateway that serves them together, and which line of the contract runs over which."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import pytest

from tests.contracts.stand import Stand
from tests.contracts.stand_discord import DiscordStand
from tests.contracts.stand_slack import SlackStand
from tests.contracts.stand_telegram import TelegramStand
from tests.contracts.stand_web import WebStand
from tests.platforms.discord import FakeDiscord
from tests.platforms.openai import FakeOpenAI, Request, Stall, Text, echo
from tests.platforms.openai_answers import text_of
from tests.platforms.slack import FakeSlack
from tests.platforms.telegram import FakeTelegram
from tests.support.gateway import Gateway, Home

STANDS: Final[Mapping[str, type[Stand]]] = {
    kind.name: kind for kind in (TelegramStand, DiscordStand, SlackStand, WebStand)
}

LINES: Final = (
    "text",
    "long text",
    "code",
    "thread",
    "two sessions",
    "mention gating",
    "bots",
    "duplicate delivery",
    "edit",
    "typing",
    "mention safety",
    "429",
    "5xx",
    "unanswered send",
    "disconnect",
    "wrong token",
    "shutdown",
    "killed turn",
)
"""What the contract is about. Each has a test or more; a stand that is exempt from one says why."""


def line(name: str) -> Callable[[Any], Any]:
    """The test proves a line; it runs over each stand that is not exempt from it."""
    assert name in LINES, name
    over = [stand for stand, kind in STANDS.items() if name not in kind.exempt]

    def marked(test: Any) -> Any:
        test.line = name
        return pytest.mark.parametrize("stand", over, indirect=True)(test)

    return marked


@dataclass(slots=True)
class Ground:
    """The four stands, the model, and the home of the gateways that serve them."""

    stands: Mapping[str, Stand]
    ai: FakeOpenAI
    home: Home
    before: int = 0
    """How many requests the model had when the test began."""

    @property
    def web(self) -> WebStand:
        web = self.stands["web"]
        assert isinstance(web, WebStand)
        return web

    async def start(self) -> Gateway:
        """A gateway that is connected everywhere."""
        gateway = await (await self.home.start()).connected(*(name for name in self.stands if name != "web"))
        await self.web.attach(gateway)
        return gateway

    def answers(self, text: str, after: Any = None) -> None:
        """The model's next answer; with an event, it stands still in the middle until that is set."""
        answer = Text(text)
        self.ai.answers.append(answer if after is None else Stall(after, after_chunks=1, then=answer))

    def asked(self, words: str) -> int:
        """How often people said this, as far as the model was shown in this test."""

        def said(request: Request) -> int:
            return sum(text_of(message).count(words) for message in request.messages if message["role"] == "user")

        return max(map(said, self.ai.requests[self.before :]), default=0)

    def reset(self) -> None:
        """For the next test: a model that nobody has scripted, or asked."""
        self.ai.script, self.before = echo, len(self.ai.requests)
        self.ai.answers.clear()


@asynccontextmanager
async def ground(**settings: str) -> AsyncIterator[Ground]:
    """All platforms, each open to everybody, and no gateway yet."""
    open_ = {f"{name}__access": "open" for name in STANDS if name != "web"} | {"discord__message_content": "true"}
    async with FakeTelegram() as tg, FakeDiscord() as dc, FakeSlack() as sl, FakeOpenAI() as ai:
        stands: list[Stand] = [TelegramStand(tg), DiscordStand(dc), SlackStand(sl), WebStand()]
        async with Home(tg, ai, discord=dc, slack=sl, **(open_ | settings)) as home:
            grown = Ground({stand.name: stand for stand in stands}, ai, home)
            try:
                yield grown
            finally:
                await grown.web.close()
