"""Talks to the bot through the fakes, as a person would in each kind of place."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.platforms.discord import FakeDiscord
from tests.platforms.openai import FakeOpenAI
from tests.platforms.slack import FakeSlack
from tests.platforms.telegram import FakeTelegram

Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Fakes:
    """All platforms and a model, with one person: Ann, the bot's admin everywhere."""

    telegram: FakeTelegram
    discord: FakeDiscord
    slack: FakeSlack
    model: FakeOpenAI

    def settings(self) -> dict[str, str]:
        """What a gateway needs in its environment to use them."""
        return {
            "GATEWAY_TELEGRAM__TOKEN": self.telegram.token,
            "GATEWAY_TELEGRAM__API_BASE": self.telegram.url,
            "GATEWAY_TELEGRAM__ADMINS": "1001",
            "GATEWAY_DISCORD__TOKEN": self.discord.token,
            "GATEWAY_DISCORD__API_BASE": self.discord.url,
            "GATEWAY_DISCORD__GATEWAY_URL": self.discord.gateway_url,
            "GATEWAY_DISCORD__ADMINS": "1001",
            "GATEWAY_SLACK__BOT_TOKEN": self.slack.bot_token,
            "GATEWAY_SLACK__APP_TOKEN": self.slack.app_token,
            "GATEWAY_SLACK__API_BASE": self.slack.url,
            "GATEWAY_SLACK__ADMINS": "U1001",
            "GATEWAY_MODEL__BASE_URL": self.model.url,
            "GATEWAY_MODEL__API_KEY": "test",
            "GATEWAY_MODEL__NAME": self.model.models[0],
        }

    def places(self) -> dict[str, Say]:
        """Every kind of place, by name, and how Ann speaks there."""
        return {**_telegram(self.telegram), **_discord(self.discord), **_slack(self.slack)}

    def said(self) -> list[str]:
        """What the bot has shown until now, a line a message, oldest first on each platform."""
        telegram = [
            f"[telegram {sent.chat_id}#{sent.message_id}{_mark(sent.edits, sent.deleted)}] {sent.text}"
            for sent in self.telegram.sent
        ]
        discord = [
            f"[discord {sent.channel_id}#{sent.message_id}{_mark(sent.edits, sent.deleted)}] {sent.content}"
            for sent in self.discord.sent
        ]
        slack = [
            f"[slack {sent.channel}{f' in {sent.thread_ts}' if sent.thread_ts else ''}#{sent.ts}"
            f"{_mark(sent.edits, sent.deleted)}] {sent.text}"
            for sent in self.slack.sent
        ]
        acks = [
            f"[slack ack] {ack.payload}" for ack in self.slack.acks if isinstance(ack.payload, Mapping) and ack.payload
        ]
        return telegram + discord + slack + acks


def _mark(edits: int, deleted: bool) -> str:
    return " deleted" if deleted else f" edit {edits}" if edits else ""


def _telegram(fake: FakeTelegram) -> dict[str, Say]:
    ann = fake.person(1001, "Ann", "ann")
    private, group = fake.private(ann), fake.group(-100500, "Friends", members=[ann], admins=[ann])
    forum = fake.forum(-100600, "Forum", topics=["plans"], members=[ann], admins=[ann])
    return {
        "telegram": lambda text: private.says(ann, text),
        "telegram/group": lambda text: group.says(ann, text, mention=True),
        "telegram/topic": lambda text: forum.says(ann, text, mention=True, topic="plans"),
    }


def _discord(fake: FakeDiscord) -> dict[str, Say]:
    ann = fake.person(1001, "Ann")
    private, guild = fake.private(ann), fake.guild(500, "Friends", members=[ann])
    channel = guild.text("general")
    thread, forum = channel.thread("plans"), guild.forum("questions")

    def command(text: str) -> None:
        name, _, rest = text.strip().lstrip("/").partition(" ")
        channel.commands(ann, name, **({"text": rest} if rest else {}))

    return {
        "discord": lambda text: private.says(ann, text),
        "discord/channel": lambda text: channel.says(ann, text, mention=True),
        "discord/thread": lambda text: thread.says(ann, text, mention=True),
        "discord/post": lambda text: forum.post(text[:80], ann, text, mention=True),
        "discord/command": command,
    }


def _slack(fake: FakeSlack) -> dict[str, Say]:
    ann = fake.person("U1001", "Ann", is_admin=True)
    private, channel = fake.private(ann), fake.channel("C500", "friends", members=[ann])
    roots: list[str] = []

    def says(text: str) -> None:
        roots.append(channel.says(ann, text, mention=True).ts)

    def thread(text: str) -> None:
        if not roots:
            says(text)
        else:
            channel.says(ann, text, thread=roots[-1])

    return {
        "slack": lambda text: private.says(ann, text),
        "slack/channel": says,
        "slack/thread": thread,
        "slack/command": lambda text: private.commands(ann, "/gateway", text.strip().lstrip("/")),
    }


class Console:
    """A line goes to the current place; `:name` changes it, `:name words` says words there, `:` lists the names."""

    def __init__(self, places: Mapping[str, Say], tell: Callable[[str], None]) -> None:
        self._places, self._tell = places, tell
        self.place = next(iter(places))

    def takes(self, line: str) -> None:
        """One line as typed."""
        text = line.strip()
        if text.startswith(":"):
            name, _, text = text[1:].partition(" ")
            if name not in self._places:
                self._tell(f"places: {', '.join(self._places)}")
                return
            self.place = name
            self._tell(f"-> {name}")
        if text:
            try:
                self._places[self.place](text)
            except ValueError as wrong:
                self._tell(str(wrong))


async def show(fakes: Fakes, tell: Callable[[str], None]) -> None:
    """Tells every message of the bot, and every change of one, until cancelled."""
    shown = set[str]()

    def news() -> Sequence[str]:
        return [line for line in fakes.said() if line not in shown]

    async def watch(fake: FakeTelegram | FakeDiscord | FakeSlack) -> None:
        while True:
            await fake.wait(news, timeout=10**9)
            for line in news():
                shown.add(line)
                tell(line)

    async with asyncio.TaskGroup() as tasks:
        for fake in (fakes.telegram, fakes.discord, fakes.slack):
            tasks.create_task(watch(fake))
