import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway.channel import Health
from gateway.errors import LeaseLost, Retryable
from tests.channels.telegram.rig import Ear, Rig, WatchfulClock, reply_to
from tests.platforms.telegram import Chat, Conflict409, FakeTelegram, Person, Refuse, Rejects, RetryAfter, ServerError


async def test_another_poller_degrades_the_channel_until_it_is_gone(
    tg: FakeTelegram, rig: Rig, ear: Ear, clock: WatchfulClock, chat: Chat, ann: Person
) -> None:
    tg.inject("getUpdates", Conflict409(), times=3)
    tg.inject("getUpdates", Refuse(), times=1)
    tg.inject("getUpdates", Conflict409(), times=2)
    async with rig.running(ear, clock=clock) as channel:
        await clock.until(lambda waits: len(waits) >= 6)
        chat.says(ann, "hello")
        assert await ear.texts(1) == ["hello"]
        assert channel.health.state == "connected"
    details = [health.detail for _, health in clock.waits]
    assert sum("another program polls" in detail for detail in details) == 5
    assert sum("cannot be reached" in detail for detail in details) == 1
    assert {health.state for _, health in clock.waits} == {"degraded"}


async def test_where_two_poll_a_short_poll_is_no_proof(tg: FakeTelegram, rig: Rig, ear: Ear) -> None:
    tg.inject("getUpdates", Conflict409())
    async with rig.running(ear):
        (_, after, *_) = await tg.wait_calls("getUpdates", 2)
    assert after.form["timeout"] == "30"


async def test_a_webhook_is_named_with_what_to_do_about_it(
    tg: FakeTelegram, rig: Rig, ear: Ear, clock: WatchfulClock, chat: Chat, ann: Person
) -> None:
    tg.bot.webhook = "https://elsewhere.example/hook"
    async with rig.running(ear, clock=clock) as channel:
        await clock.until(bool)
        assert channel.health.state == "degraded"
        assert "deleteWebhook" in channel.health.detail
        tg.bot.webhook = ""
        chat.says(ann, "hello")
        assert await ear.texts(1) == ["hello"]
        assert not tg.calls_of("deleteWebhook")


async def test_a_wrong_token_switches_the_channel_off_and_is_tried_rarely(
    rig: Rig, ear: Ear, clock: WatchfulClock
) -> None:
    async with rig.running(ear, clock=clock, token="42:WRONG") as channel:
        await clock.until(lambda waits: len(waits) >= 2)
        assert channel.health.state == "off"
        assert "wrong token" in channel.health.detail
        assert "WRONG" not in channel.health.detail
        assert set(clock.seconds("off")) == {60.0}


async def test_an_outage_is_waited_for_with_growing_patience(
    tg: FakeTelegram, rig: Rig, ear: Ear, clock: WatchfulClock, chat: Chat, ann: Person
) -> None:
    await tg.down()
    async with rig.running(ear, clock=clock) as channel:
        await clock.until(lambda waits: len(waits) >= 8)
        assert channel.health == Health("degraded", "Telegram cannot be reached (ClientConnectorError)")
        assert all(1 <= seconds <= 30 for seconds, _ in clock.waits)
        assert clock.waits[0][0] == 1
        assert clock.waits[7][0] >= 15
        await tg.up()
        chat.says(ann, "hello")
        assert await ear.texts(1) == ["hello"]
        assert channel.health.state == "connected"


async def test_an_outage_in_mid_poll_is_survived(tg: FakeTelegram, rig: Rig, ear: Ear, chat: Chat, ann: Person) -> None:
    async with rig.running(ear):
        await tg.wait_calls("getUpdates", 2)
        await tg.down()
        chat.says(ann, "hello")
        await tg.up()
        assert await ear.texts(1) == ["hello"]


@pytest.mark.parametrize(
    ("fault", "detail", "seconds"),
    [
        (RetryAfter(17), "Telegram asks to wait 17 s", 17.0),
        (ServerError(502), "Telegram says: Bad Gateway", 1.0),
        (ServerError(502, html=True), "what answers there is not Telegram's Bot API, or it is broken", 1.0),
        (Rejects(400, "Bad Request: odd"), "Telegram says: Bad Request: odd", 1.0),
    ],
)
async def test_trouble_is_told_as_it_is(
    tg: FakeTelegram, rig: Rig, ear: Ear, clock: WatchfulClock, fault: Any, detail: str, seconds: float
) -> None:
    tg.inject("getUpdates", fault)
    async with rig.running(ear, clock=clock):
        await clock.until(bool)
    assert clock.waits == [(seconds, Health("degraded", detail))]


async def test_a_channel_without_the_token_stands_by_and_does_not_poll(
    tg: FakeTelegram, rig: Rig, ear: Ear, chat: Chat, ann: Person
) -> None:
    free, waiting = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def holder(account: str) -> AsyncIterator[None]:
        waiting.set()
        await free.wait()
        yield

    chat.says(ann, "hello")
    async with rig.running(ear, holder=holder) as channel:
        await waiting.wait()
        assert channel.health.state == "standby"
        assert channel.can_send
        await channel.send(reply_to(1001), channel.render("from a standby")[0], index=0, of=1, repeated=False)
        assert [call.method for call in tg.calls] == ["sendMessage"]
        free.set()
        assert await ear.texts(1) == ["hello"]
        assert channel.health.state == "connected"


async def test_a_lost_token_stops_the_poll_and_is_waited_for_again(
    tg: FakeTelegram, rig: Rig, ear: Ear, clock: WatchfulClock, chat: Chat, ann: Person
) -> None:
    lost, waiting, again = asyncio.Event(), asyncio.Event(), asyncio.Event()
    held = 0

    @asynccontextmanager
    async def holder(account: str) -> AsyncIterator[None]:
        nonlocal held
        held += 1
        if held > 1:
            waiting.set()
            await again.wait()
            yield
            return
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_raise_when(lost))
                yield
        except* LeaseLost as error:
            raise error.exceptions[0] from None

    async with rig.running(ear, clock=clock, holder=holder) as channel:
        await tg.wait_calls("getUpdates", 2)
        lost.set()
        await waiting.wait()
        assert channel.health.state == "standby"
        polls = len(tg.calls_of("getUpdates"))
        chat.says(ann, "hello")
        assert len(tg.calls_of("getUpdates")) == polls
        again.set()
        assert await ear.texts(1) == ["hello"]
    assert [health.state for _, health in clock.waits] == ["standby"]


@pytest.mark.parametrize(
    ("error", "detail"),
    [(Retryable("Redis is away"), "not connected: Redis is away"), (OSError(5, "x"), "see the log")],
)
async def test_trouble_with_the_token_ends_a_round_and_never_the_channel(
    rig: Rig, ear: Ear, clock: WatchfulClock, chat: Chat, ann: Person, error: Exception, detail: str
) -> None:
    errors = [error]

    @asynccontextmanager
    async def holder(account: str) -> AsyncIterator[None]:
        if errors:
            raise errors.pop()
        yield

    chat.says(ann, "hello")
    async with rig.running(ear, clock=clock, holder=holder):
        assert await ear.texts(1) == ["hello"]
    ((_, health),) = clock.waits
    assert health.state == "degraded"
    assert health.detail.endswith(detail)


async def _raise_when(event: asyncio.Event) -> None:
    await event.wait()
    raise LeaseLost("somebody else holds the token")
