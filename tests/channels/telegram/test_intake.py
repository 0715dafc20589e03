import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway.channel import Health
from gateway.errors import LeaseLost, Retryable
from gateway.message import IncomingMessage, Reply, SessionKey
from tests.channels.telegram.rig import Ear, Rig, WatchfulClock, reply_to
from tests.platforms.telegram import Chat, Conflict409, FakeTelegram, Person, Refuse, Rejects, RetryAfter, ServerError

BAD = {"type": "bold", "offset": "zero", "length": 1}


@pytest.fixture
def ann(tg: FakeTelegram) -> Person:
    return tg.person(1001, "Ann")


@pytest.fixture
def chat(tg: FakeTelegram, ann: Person) -> Chat:
    return tg.private(ann)


async def test_a_private_message_arrives_and_only_then_telegram_may_forget_it(
    tg: FakeTelegram, rig: Rig, ear: Ear, chat: Chat, ann: Person
) -> None:
    async with rig.running(ear) as channel:
        update = chat.says(ann, "hello")
        assert await ear.texts(1) == ["hello"]
        assert ear.heard[0].session == SessionKey("telegram", "42", "1001")
        assert ear.heard[0].id == f"telegram/42/{update['update_id']}"
        await tg.wait(lambda: tg.pending == 0)
        assert channel.health == Health("connected", "@gateway_bot")


async def test_what_was_written_while_nobody_listened_is_all_received_in_order(
    tg: FakeTelegram, rig: Rig, ear: Ear, chat: Chat, ann: Person
) -> None:
    said = [chat.says(ann, f"message {n}")["message"]["text"] for n in range(250)]
    async with rig.running(ear):
        assert await ear.texts(250) == said
        await tg.wait(lambda: tg.pending == 0)


async def test_a_group_is_heard_when_it_addresses_the_bot(tg: FakeTelegram, rig: Rig, ear: Ear, ann: Person) -> None:
    group = tg.group(-4455, "Team", [ann])
    other = tg.person(43, "Other", "other_bot", is_bot=True)
    channel = rig.channel()
    async with rig.running(ear):
        group.says(ann, "lunch?")
        group.says(other, "spam", mention=True)
        group.says(ann, "hello", mention=True)
        group.says(ann, "/status@gateway_bot")
        group.says(ann, "/status@other_bot")
        group.says(ann, "see `@gateway_bot`")
        assert await ear.texts(2) == ["hello", "/status"]
        (question, _) = ear.heard
        part = channel.render("hi")[0]
        await channel.send(_answer(question), part, index=0, of=1, repeated=False)
        group.says(ann, "and then?", reply_to=tg.sent[0])
        assert (await ear.texts(3))[2] == "and then?"


async def test_topics_are_sessions_of_their_own_and_general_has_no_thread(
    tg: FakeTelegram, rig: Rig, ear: Ear, ann: Person
) -> None:
    forum = tg.forum(-1001234567890, "Team", ["Plans", "Food"], [ann])
    async with rig.running(ear) as channel:
        for topic in ("Plans", "Food", None):
            forum.says(ann, "hello", mention=True, topic=topic)
        await ear.texts(3)
        threads = [message.session.thread for message in ear.heard]
        assert threads == [str(forum.topic("Plans")), str(forum.topic("Food")), None]
        for message in ear.heard:
            await channel.send(_answer(message), channel.render("hi")[0], index=0, of=1, repeated=False)
        assert [sent.thread_id for sent in tg.sent] == [forum.topic("Plans"), forum.topic("Food"), None]


async def test_an_update_nobody_can_read_is_set_aside_and_the_next_one_handled(
    tg: FakeTelegram, rig: Rig, ear: Ear, chat: Chat, ann: Person
) -> None:
    poison = chat.says(ann, "bad", extra={"entities": [BAD]})
    chat.says(ann, "good")
    tg.push_raw({"hologram": {"x": 1}})
    async with rig.running(ear) as channel:
        assert await ear.texts(1) == ["good"]
        await tg.wait(lambda: tg.pending == 0)
        assert channel.health.state == "connected"
    (kept,) = rig.poison.iterdir()
    assert kept.name == f"{poison['update_id']}.json"
    assert json.loads(kept.read_text()) == poison
    assert kept.stat().st_mode & 0o077 == 0


async def test_an_update_that_cannot_be_set_aside_stays_at_telegram(
    tg: FakeTelegram, rig: Rig, ear: Ear, clock: WatchfulClock, chat: Chat, ann: Person
) -> None:
    rig.poison.write_text("a file where the folder should be")
    chat.says(ann, "bad", extra={"entities": [BAD]})
    async with rig.running(ear, clock=clock) as channel:
        await clock.until(lambda waits: len(waits) > 2)
        assert tg.pending == 1
        assert "cannot write" in channel.health.detail
        rig.poison.unlink()
        await tg.wait(lambda: tg.pending == 0)
    assert len(list(rig.poison.iterdir())) == 1


async def test_an_update_without_a_number_neither_stops_nor_floods(
    tg: FakeTelegram, rig: Rig, ear: Ear, clock: WatchfulClock, chat: Chat, ann: Person
) -> None:
    tg.bot.replays.append({"message": {"text": "who am I?"}})
    async with rig.running(ear, clock=clock):
        await clock.until(bool)
        chat.says(ann, "hello")
        assert await ear.texts(1) == ["hello"]
    (kept,) = rig.poison.iterdir()
    assert kept.name.startswith("unnumbered-")


async def test_the_offset_moves_only_after_receive_returned(
    tg: FakeTelegram, rig: Rig, ear: Ear, chat: Chat, ann: Person
) -> None:
    update = chat.says(ann, "hello")
    chat.says(ann, "again")
    ear.opened.clear()
    async with rig.running(ear):
        await ear.calls(1)
        assert tg.pending == 2
    assert ear.heard == []
    assert {call.form.get("offset", "0") for call in tg.calls_of("getUpdates")} == {"0"}
    ear.opened.set()
    async with rig.running(ear):
        assert await ear.texts(2) == ["hello", "again"]
        assert ear.heard[0].id == f"telegram/42/{update['update_id']}"
        await tg.wait(lambda: tg.pending == 0)


async def test_messages_wait_in_order_while_they_cannot_be_stored(
    tg: FakeTelegram, rig: Rig, ear: Ear, clock: WatchfulClock, chat: Chat, ann: Person
) -> None:
    ear.fails = [Retryable("Redis is away"), Retryable("Redis is away", after=7)]
    chat.says(ann, "one")
    chat.says(ann, "two")
    async with rig.running(ear, clock=clock) as channel:
        assert await ear.texts(2) == ["one", "two"]
        await tg.wait(lambda: tg.pending == 0)
        assert channel.health.state == "connected"
    (first, health), (second, _) = clock.waits
    assert first == 1
    assert second == 7
    assert health == Health("degraded", "messages wait at Telegram: Redis is away")


async def test_a_message_that_makes_us_fail_is_tried_three_times_then_set_aside(
    tg: FakeTelegram, rig: Rig, ear: Ear, chat: Chat, ann: Person
) -> None:
    ear.fails = [ZeroDivisionError(), ZeroDivisionError(), ZeroDivisionError()]
    update = chat.says(ann, "one")
    chat.says(ann, "two")
    async with rig.running(ear):
        assert await ear.texts(1) == ["two"]
        await tg.wait(lambda: tg.pending == 0)
    assert [kept.name for kept in rig.poison.iterdir()] == [f"{update['update_id']}.json"]


async def test_an_update_delivered_again_keeps_its_id(
    tg: FakeTelegram, rig: Rig, ear: Ear, chat: Chat, ann: Person
) -> None:
    update = chat.says(ann, "hello")
    async with rig.running(ear):
        await ear.texts(1)
        tg.redeliver(update["update_id"])
        await ear.texts(2)
        assert ear.heard[0].id == ear.heard[1].id
        chat.says(ann, "more")
        await ear.texts(3)
        await tg.wait(lambda: tg.pending == 0)


async def test_polling_asks_for_messages_alone_and_waits_long(tg: FakeTelegram, rig: Rig, ear: Ear) -> None:
    async with rig.running(ear, poll_timeout=40):
        (first, second, *_) = await tg.wait_calls("getUpdates", 2)
    assert "timeout" not in first.form
    assert second.form["timeout"] == "40"
    assert json.loads(second.form["allowed_updates"]) == ["message"]
    assert second.form["limit"] == "100"
    assert not tg.calls_of("deleteWebhook")


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


async def test_the_menu_of_commands_is_set_at_the_start(tg: FakeTelegram, rig: Rig, ear: Ear) -> None:
    async with rig.running(ear, commands=[("help", "What I can do"), ("stop", "Stop")]):
        await tg.wait_calls("getUpdates")
    assert [command["command"] for command in next(iter(tg.bot.commands.values()))] == ["help", "stop"]


async def test_a_refused_menu_stops_nobody(tg: FakeTelegram, rig: Rig, ear: Ear, chat: Chat, ann: Person) -> None:
    tg.inject("setMyCommands", RetryAfter(300))
    chat.says(ann, "hello")
    async with rig.running(ear, commands=[("help", "What I can do")]):
        assert await ear.texts(1) == ["hello"]


async def test_a_channel_without_the_token_stands_by_and_does_not_poll(
    tg: FakeTelegram, rig: Rig, ear: Ear, chat: Chat, ann: Person
) -> None:
    free, waiting = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def holder() -> AsyncIterator[None]:
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
    lost, again = asyncio.Event(), asyncio.Event()
    held = 0

    @asynccontextmanager
    async def holder() -> AsyncIterator[None]:
        nonlocal held
        held += 1
        if held > 1:
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
        await clock.until(bool)
        await asyncio.sleep(0)
        assert channel.health.state == "standby"
        polls = len(tg.calls_of("getUpdates"))
        chat.says(ann, "hello")
        assert len(tg.calls_of("getUpdates")) == polls
        again.set()
        assert await ear.texts(1) == ["hello"]


@pytest.mark.parametrize(
    ("error", "detail"), [(Retryable("Redis is away"), "not polling: Redis is away"), (OSError(5, "x"), "see the log")]
)
async def test_trouble_with_the_token_ends_a_round_and_never_the_channel(
    rig: Rig, ear: Ear, clock: WatchfulClock, chat: Chat, ann: Person, error: Exception, detail: str
) -> None:
    errors = [error]

    @asynccontextmanager
    async def holder() -> AsyncIterator[None]:
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


def _answer(message: IncomingMessage) -> Reply:
    return Reply(message.turn, message.session, message.route, "hi", message.reply_to)
