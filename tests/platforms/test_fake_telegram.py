"""People, chats and updates of the fake Bot API, seen through the real SDK."""

import asyncio

import pytest
from aiogram import Bot
from aiogram.exceptions import (
    ClientDecodeError,
    TelegramBadRequest,
    TelegramConflictError,
)

from tests.platforms.sdk import connected, last_message, received
from tests.platforms.telegram import (
    Chat,
    FakeTelegram,
    Person,
)


async def test_a_private_message_arrives_as_it_was_said(bot: Bot, ann: Person, room: Chat) -> None:
    said = room.says(ann, "hello 😀 @bob see `x=1`")
    update = (await received(bot))[0]

    assert update.update_id == said["update_id"]
    assert update.message
    assert update.message.from_user
    assert update.message.text == "hello 😀 @bob see x=1"
    assert (update.message.chat.type, update.message.from_user.username) == ("private", "ann")
    marked = {e.type: e.extract_from(update.message.text) for e in update.message.entities or []}
    assert marked == {"mention": "@bob", "code": "x=1"}


async def test_a_mention_in_a_group_names_the_bot_and_commands_are_marked(
    tg: FakeTelegram, bot: Bot, ann: Person
) -> None:
    tg.group(-100500, "Friends", members=[ann]).says(ann, "/status now", mention=True)
    message = await last_message(bot)

    assert message.text == "@gateway_bot /status now"
    assert [entity.extract_from(message.text) for entity in message.entities or []] == ["@gateway_bot", "/status"]
    assert (message.chat.type, message.message_thread_id) == ("supergroup", None)


async def test_a_topic_message_carries_its_thread_and_the_topics_first_message(
    tg: FakeTelegram, bot: Bot, ann: Person
) -> None:
    forum = tg.forum(-100600, "Forum", ["News", 77], members=[ann])
    forum.says(ann, "in news", topic="News")
    forum.says(ann, "in 77", topic=77)
    forum.says(ann, "in general")
    news, seventy_seven, general = [update.message for update in await received(bot) if update.message]

    assert (news.message_thread_id, news.is_topic_message) == (forum.topic("News"), True)
    assert news.reply_to_message
    assert news.reply_to_message.forum_topic_created
    assert seventy_seven.message_thread_id == 77
    assert (general.message_thread_id, general.is_topic_message) == (None, None)


async def test_a_reply_chain_outside_topics_has_a_thread_that_is_no_topic(
    tg: FakeTelegram, bot: Bot, ann: Person
) -> None:
    group = tg.group(-100500, "Friends", members=[ann])
    root = group.says(ann, "root")
    reply = group.says(ann, "reply", reply_to=root)
    group.says(ann, "reply to the reply", reply_to=reply)
    message = await last_message(bot)

    assert (message.message_thread_id, message.is_topic_message) == (root["message"]["message_id"], None)
    assert message.reply_to_message
    assert message.reply_to_message.text == "reply"


async def test_a_person_replies_to_the_bot(bot: Bot, tg: FakeTelegram, ann: Person) -> None:
    group = tg.group(-500, "Small", members=[ann])
    await bot.send_message(-500, "question?")
    group.says(ann, "answer", reply_to=tg.sent[0])
    message = await last_message(bot)

    assert message.reply_to_message
    assert message.reply_to_message.from_user
    assert message.reply_to_message.from_user.id == bot.id
    assert (message.chat.type, message.message_thread_id) == ("group", None)


async def test_files_can_be_fetched(bot: Bot, ann: Person, room: Chat) -> None:
    room.says(ann, "look /here", photo=b"jpeg")
    room.says(ann, document=("a.txt", b"text"))
    room.says(ann, voice=b"ogg")
    photo, document, voice = [update.message for update in await received(bot) if update.message]

    assert photo.photo
    assert photo.caption == "look /here"
    assert photo.caption_entities
    assert photo.text is None
    assert document.document
    assert document.document.file_name == "a.txt"
    assert document.caption is None
    assert voice.voice
    content = await bot.download(photo.photo[0])
    assert content
    assert content.read() == b"jpeg"
    with pytest.raises(TelegramBadRequest, match="invalid file_id"):
        await bot.get_file("nothing")


async def test_a_file_over_20_mb_cannot_be_fetched(bot: Bot, ann: Person, room: Chat) -> None:
    room.says(ann, document=("big", bytes(20 * 2**20 + 1)))
    document = (await last_message(bot)).document

    assert document
    with pytest.raises(TelegramBadRequest, match="file is too big"):
        await bot.get_file(document.file_id)


async def test_edits_and_service_messages_are_updates_and_deletions_are_not(bot: Bot, ann: Person, room: Chat) -> None:
    said = room.says(ann, "frist")
    room.edits(ann, said, "first")
    room.happens(ann, {"pinned_message": said["message"]})
    room.deletes(said)
    updates = await received(bot)

    assert [update.event_type for update in updates] == ["message", "edited_message", "message"]
    assert updates[1].edited_message
    assert updates[1].edited_message.text == "first"


async def test_privacy_mode_hides_what_is_not_for_the_bot() -> None:
    async with FakeTelegram(privacy=True) as tg, connected(tg) as bot:
        ann = tg.person(1, "Ann")
        group = tg.group(-100500, "Friends", members=[ann])
        group.says(ann, "chatter")
        group.says(ann, "/help@other_bot")
        group.says(ann, "/help")
        group.says(ann, "you there?", mention=True)
        await bot.send_message(-100500, "yes")
        group.says(ann, "fine", reply_to=tg.sent[0])
        updates = await received(bot)

    texts = [update.message.text for update in updates if update.message]
    assert texts == ["/help", "@gateway_bot you there?", "fine"]


async def test_admins_and_members_are_told_apart(tg: FakeTelegram, bot: Bot, ann: Person, room: Chat) -> None:
    bob, eve = tg.person(2, "Bob"), tg.person(3, "Eve")
    tg.group(-100500, "Friends", members=[bob], admins=[ann])

    assert [(await bot.get_chat_member(-100500, who.id)).status for who in (ann, bob, eve)] == [
        "creator",
        "member",
        "left",
    ]
    assert [admin.user.id for admin in await bot.get_chat_administrators(-100500)] == [ann.id]
    assert (await bot.get_chat(-100500)).title == "Friends"
    with pytest.raises(TelegramBadRequest, match="PARTICIPANT_ID_INVALID"):
        await bot.get_chat_member(-100500, 999)
    with pytest.raises(TelegramBadRequest, match="there are no administrators in the private chat"):
        await bot.get_chat_administrators(room.id)


async def test_two_bots_share_a_group_and_not_a_private_chat(tg: FakeTelegram, bot: Bot, ann: Person) -> None:
    other = tg.add_bot("43:OTHER", "other_bot")
    tg.private(ann, other).says(ann, "secret")
    tg.group(-100500, "Friends").says(ann, "hello all")
    async with connected(tg, other.token) as second:
        theirs = await received(second)

    assert [update.message.text for update in theirs if update.message] == ["secret", "hello all"]
    assert [update.message.text for update in await received(bot) if update.message] == ["hello all"]


async def test_updates_stay_until_an_offset_confirms_them(tg: FakeTelegram, bot: Bot, ann: Person, room: Chat) -> None:
    ids = [room.says(ann, str(number))["update_id"] for number in range(3)]

    assert [update.update_id for update in await received(bot)] == ids
    assert [update.update_id for update in await received(bot)] == ids
    assert [update.update_id for update in await received(bot, ids[1])] == ids[1:]
    assert tg.pending == 2
    assert await received(bot, ids[2] + 1) == []
    assert tg.pending == 0


async def test_a_negative_offset_keeps_the_last_and_a_limit_the_first(bot: Bot, ann: Person, room: Chat) -> None:
    ids = [room.says(ann, str(number))["update_id"] for number in range(5)]

    assert [update.update_id for update in await bot.get_updates(limit=2, timeout=0)] == ids[:2]
    assert [update.update_id for update in await received(bot, -2)] == ids[3:]


async def test_at_most_100_updates_come_at_once(bot: Bot, ann: Person, room: Chat) -> None:
    for number in range(101):
        room.says(ann, str(number))

    assert len(await received(bot)) == 100
    assert len(await bot.get_updates(limit=1000, timeout=0)) == 100


async def test_a_long_poll_waits_for_the_next_update(tg: FakeTelegram, bot: Bot, ann: Person, room: Chat) -> None:
    polling = asyncio.create_task(bot.get_updates(timeout=50))
    await tg.wait_calls("getUpdates")
    assert not polling.done()
    room.says(ann, "now")

    assert len(await polling) == 1


async def test_a_second_poll_ends_the_first_one(tg: FakeTelegram, bot: Bot, ann: Person, room: Chat) -> None:
    first = asyncio.create_task(bot.get_updates(timeout=50))
    await tg.wait_calls("getUpdates")
    second = asyncio.create_task(bot.get_updates(timeout=50))
    with pytest.raises(TelegramConflictError, match="terminated by other getUpdates request; make sure that only one"):
        await first
    room.says(ann, "now")

    assert len(await second) == 1


async def test_a_webhook_ends_polling_until_it_is_deleted(tg: FakeTelegram, bot: Bot) -> None:
    polling = asyncio.create_task(bot.get_updates(timeout=50))
    await tg.wait_calls("getUpdates")
    await bot.set_webhook("https://example.org/hook")
    with pytest.raises(TelegramConflictError, match="terminated by setWebhook request"):
        await polling
    with pytest.raises(TelegramConflictError, match="can't use getUpdates method while webhook is active"):
        await received(bot)
    assert (await bot.get_webhook_info()).url == "https://example.org/hook"
    await bot.delete_webhook()

    assert await received(bot) == []


async def test_kinds_that_are_not_allowed_are_not_kept(tg: FakeTelegram, bot: Bot, ann: Person, room: Chat) -> None:
    await bot.get_updates(timeout=0, allowed_updates=["message"])
    said = room.says(ann, "one")
    room.edits(ann, said, "two")
    room.blocks()

    assert [update.event_type for update in await received(bot)] == ["message"]
    assert tg.pending == 1


async def test_a_poison_update_makes_the_whole_batch_unreadable(
    tg: FakeTelegram, bot: Bot, ann: Person, room: Chat
) -> None:
    room.says(ann, "good")
    poison = tg.push_raw({"message": {"message_id": "zero"}})
    with pytest.raises(ClientDecodeError):
        await received(bot)
    room.says(ann, "after")

    assert [update.event_type for update in await received(bot, poison["update_id"] + 1)] == ["message"]


async def test_an_update_can_be_delivered_twice(tg: FakeTelegram, bot: Bot, ann: Person, room: Chat) -> None:
    update_id = room.says(ann, "once")["update_id"]
    assert await received(bot, update_id + 1) == []
    tg.redeliver(update_id)

    assert [update.update_id for update in await received(bot, update_id + 1)] == [update_id]
    assert await received(bot, update_id + 1) == []
