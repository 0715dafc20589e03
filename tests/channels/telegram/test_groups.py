"""What is particular to groups: their own administrators, and what is said among their members."""

import asyncio

import pytest

from channels.telegram.adapter import TelegramChannel
from gateway.channel import KnowsAdmins
from gateway.errors import Retryable
from gateway.message import Quote, Route
from tests.channels.telegram.rig import Ear, Rig
from tests.platforms.telegram import Chat, FakeTelegram, Person, Refuse, Rejects

GROUP = -1001234567890
ROUTE = Route("telegram", "42", str(GROUP))


@pytest.fixture
def ben(tg: FakeTelegram) -> Person:
    return tg.person(1002, "Ben")


@pytest.fixture
def group(tg: FakeTelegram, ann: Person, ben: Person) -> Chat:
    return tg.group(GROUP, "Team", members=[ben], admins=[ann])


@pytest.fixture
def channel(rig: Rig) -> TelegramChannel:
    return rig.channel()


async def test_the_administrators_of_a_chat_are_asked_for_once(
    tg: FakeTelegram, channel: TelegramChannel, group: Chat
) -> None:
    assert isinstance(channel, KnowsAdmins)
    assert await channel.ask_admin(ROUTE, "1001") is True
    assert await channel.ask_admin(ROUTE, "1002") is False
    assert channel.admin(ROUTE, "1001") is True
    assert channel.admin(ROUTE, "1002") is False
    calls = [call for call in tg.calls if call.method.lower() == "getchatadministrators"]
    assert len(calls) == 2
    assert {call.form["chat_id"] for call in calls} == {str(GROUP)}


async def test_an_anonymous_administrator_is_one_and_a_channel_is_none(channel: TelegramChannel, group: Chat) -> None:
    """Who writes as the group itself can only be its administrator; a channel's identity proves nothing here."""
    assert channel.admin(ROUTE, str(GROUP)) is True
    assert await channel.ask_admin(ROUTE, str(GROUP)) is True
    assert await channel.ask_admin(ROUTE, "-1009999") is False


async def test_in_private_nobody_is_one(tg: FakeTelegram, channel: TelegramChannel, chat: Chat) -> None:
    assert channel.admin(Route("telegram", "42", "1001"), "1001") is False
    assert await channel.ask_admin(Route("telegram", "42", "1001"), "1001") is False
    assert tg.calls == []


async def test_what_cannot_be_asked_is_not_answered(tg: FakeTelegram, channel: TelegramChannel, group: Chat) -> None:
    tg.inject("getChatAdministrators", Refuse())
    with pytest.raises(Retryable):
        await channel.ask_admin(ROUTE, "1001")
    tg.inject("getChatAdministrators", Rejects(400, "Bad Request: chat not found"))
    assert await channel.ask_admin(ROUTE, "1001") is False


async def test_what_is_said_before_comes_along_once_with_what_is_said_to_the_bot(
    rig: Rig, ear: Ear, group: Chat, ann: Person, ben: Person
) -> None:
    group.says(ben, "too old")
    group.says(ben, "shall we meet at six?")
    group.says(ann, "yes")
    group.says(ben, "note that", mention=True)
    group.says(ben, "thanks", mention=True)
    async with rig.running(ear, group_context=2):
        await ear.texts(2)
    assert ear.heard[0].quotes == (Quote("Ben", "shall we meet at six?"), Quote("Ann", "yes"))
    assert ear.heard[1].quotes == ()


async def test_without_the_setting_nothing_comes_along(rig: Rig, ear: Ear, group: Chat, ben: Person) -> None:
    group.says(ben, "among us")
    group.says(ben, "to you", mention=True)
    async with rig.running(ear):
        await ear.texts(1)
    assert ear.heard[0].quotes == ()


async def test_a_worker_sends_and_receives_nothing(tg: FakeTelegram, rig: Rig) -> None:
    channel = rig.channel()
    task = asyncio.create_task(channel.run(None))
    while channel.health.state != "connected":
        await asyncio.sleep(0)
    assert tg.calls == []
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
