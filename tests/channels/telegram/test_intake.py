import json

from gateway.channel import Health
from gateway.errors import Retryable
from gateway.message import IncomingMessage, Reply, SessionKey
from tests.channels.telegram.rig import Ear, Rig, WatchfulClock
from tests.platforms.telegram import Chat, FakeTelegram, Person, RetryAfter

BAD = {"type": "bold", "offset": "zero", "length": 1}


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
    forum = tg.forum(-1001234567890, "Team", [7, 9], [ann])
    async with rig.running(ear) as channel:
        for topic in (7, 9, None):
            forum.says(ann, "hello", mention=True, topic=topic)
        await ear.texts(3)
        threads = [message.session.thread for message in ear.heard]
        assert threads == ["7", "9", None]
        for message in ear.heard:
            await channel.send(_answer(message), channel.render("hi")[0], index=0, of=1, repeated=False)
        assert [sent.thread_id for sent in tg.sent] == [7, 9, None]


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
    assert rig.poison.stat().st_mode & 0o077 == 0


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
    """P5."""
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
    """P5, P6."""
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
    assert health == Health("degraded", "messages wait to be taken in: Redis is away")


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


async def test_an_update_delivered_again_keeps_its_id_and_moves_nothing_back(
    tg: FakeTelegram, rig: Rig, ear: Ear, chat: Chat, ann: Person
) -> None:
    old = chat.says(ann, "old")
    chat.says(ann, "new")
    async with rig.running(ear):
        await ear.texts(2)
        tg.redeliver(old["update_id"])
        assert await ear.texts(3) == ["old", "new", "old"]
        assert ear.heard[0].id == ear.heard[2].id
        chat.says(ann, "more")
        await ear.texts(4)
        await tg.wait(lambda: tg.pending == 0)
    offsets = [int(call.form["offset"]) for call in tg.calls_of("getUpdates")]
    assert offsets == sorted(offsets)


async def test_polling_asks_for_messages_alone_and_waits_long(tg: FakeTelegram, rig: Rig, ear: Ear) -> None:
    async with rig.running(ear, poll_timeout=40):
        (first, second, *_) = await tg.wait_calls("getUpdates", 2)
    assert first.form["timeout"] == "0"
    assert second.form["timeout"] == "40"
    assert json.loads(second.form["allowed_updates"]) == ["message"]
    assert second.form["limit"] == "100"
    assert not tg.calls_of("deleteWebhook")


async def test_the_menu_of_commands_is_set_at_the_start(tg: FakeTelegram, rig: Rig, ear: Ear) -> None:
    async with rig.running(ear, commands=[("help", "What I can do"), ("stop", "Stop")]):
        await tg.wait_calls("getUpdates")
    assert [command["command"] for command in next(iter(tg.bot.commands.values()))] == ["help", "stop"]


async def test_a_refused_menu_stops_nobody(tg: FakeTelegram, rig: Rig, ear: Ear, chat: Chat, ann: Person) -> None:
    tg.inject("setMyCommands", RetryAfter(300), times=None)
    chat.says(ann, "hello")
    async with rig.running(ear, commands=[("help", "What I can do")]):
        assert await ear.texts(1) == ["hello"]


def _answer(message: IncomingMessage) -> Reply:
    return Reply(message.turn, message.session, message.route, "hi", message.reply_to)
