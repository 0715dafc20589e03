"""What the fake Bot API keeps of a bot's messages, and the faults it can be given, seen through the real SDK."""

import asyncio

import pytest
from aiogram import Bot
from aiogram.exceptions import (
    ClientDecodeError,
    TelegramBadRequest,
    TelegramConflictError,
    TelegramForbiddenError,
    TelegramNetworkError,
    TelegramRetryAfter,
    TelegramServerError,
    TelegramUnauthorizedError,
)
from aiogram.types import BufferedInputFile, MessageEntity
from aiohttp import ClientSession

from tests.platforms.sdk import connected, received
from tests.platforms.telegram import (
    Chat,
    Conflict409,
    DropReply,
    FakeTelegram,
    Person,
    Refuse,
    Rejects,
    RetryAfter,
    ServerError,
    Slow,
)


async def test_what_is_sent_is_stored_with_its_entities_thread_and_reply(
    tg: FakeTelegram, bot: Bot, ann: Person
) -> None:
    forum = tg.forum(-100600, "Forum", ["News"], members=[ann])
    asked = forum.says(ann, "ask", topic="News")["message"]["message_id"]
    bold = MessageEntity(type="bold", offset=3, length=2)
    message = await bot.send_message(
        -100600, "😀 hi @ann", entities=[bold], message_thread_id=forum.topic("News"), reply_to_message_id=asked
    )
    sent = (await tg.wait_sent(1))[0]

    assert (sent.chat_id, sent.thread_id, sent.reply_to) == (-100600, forum.topic("News"), asked)
    assert (sent.text, sent.entities[0].of(sent.text), sent.pings) == ("😀 hi @ann", "hi", ("@ann",))
    assert message.message_id == sent.message_id
    assert (message.is_topic_message, message.message_thread_id) == (True, sent.thread_id)


async def test_a_mention_in_code_pings_nobody(tg: FakeTelegram, bot: Bot, room: Chat) -> None:
    await bot.send_message(room.id, "@ann", entities=[MessageEntity(type="code", offset=0, length=4)])

    assert tg.sent[0].pings == ()


async def test_edits_and_deletions_change_what_is_stored(tg: FakeTelegram, bot: Bot, room: Chat) -> None:
    message = await bot.send_message(room.id, "one")
    await bot.edit_message_text("two", chat_id=room.id, message_id=message.message_id)
    edited = await tg.wait_sent(lambda sent: sent.edits == 1)
    await bot.delete_message(room.id, message.message_id)

    assert edited.text == "two"
    assert [(sent.text, sent.deleted) for sent in tg.sent] == [("two", True)]


async def test_a_document_is_stored_with_its_bytes(tg: FakeTelegram, bot: Bot, room: Chat) -> None:
    message = await bot.send_document(room.id, BufferedInputFile(b"data", "view.json"), caption="the view")
    sent = tg.sent[0]

    assert sent.document
    assert (sent.document.name, sent.document.data, sent.text) == ("view.json", b"data", "the view")
    assert message.document
    assert message.document.file_name == "view.json"


async def test_drafts_are_previews_and_no_messages(tg: FakeTelegram, bot: Bot, room: Chat) -> None:
    await bot.send_message_draft(chat_id=room.id, draft_id=7, text="so far")

    assert [(draft.draft_id, draft.text) for draft in tg.drafts] == [(7, "so far")]
    assert tg.sent == []


async def test_waiting_for_a_message_that_does_not_come_ends(tg: FakeTelegram) -> None:
    with pytest.raises(TimeoutError):
        await tg.wait_sent(1, timeout=0.01)


async def test_methods_the_fake_does_not_know_answer_true(tg: FakeTelegram, bot: Bot, room: Chat) -> None:
    assert await bot.pin_chat_message(room.id, 1) is True
    assert tg.calls_of("pinChatMessage")[0].form["chat_id"] == str(room.id)


async def test_a_flood_limit_names_its_seconds_once(tg: FakeTelegram, bot: Bot, room: Chat) -> None:
    fault = tg.inject("sendMessage", RetryAfter(3))
    with pytest.raises(TelegramRetryAfter) as caught:
        await bot.send_message(room.id, "x")
    await bot.send_message(room.id, "x")

    assert (caught.value.retry_after, fault.hits, len(tg.sent)) == (3, 1, 1)


async def test_server_errors_come_as_json_or_as_a_proxys_page(tg: FakeTelegram, bot: Bot, room: Chat) -> None:
    tg.inject("sendMessage", ServerError(500))
    tg.inject("sendMessage", ServerError(html=True))
    with pytest.raises(TelegramServerError):
        await bot.send_message(room.id, "x")
    with pytest.raises(ClientDecodeError):
        await bot.send_message(room.id, "x")

    assert tg.sent == []


async def test_a_dropped_reply_has_stored_the_message(tg: FakeTelegram, bot: Bot, room: Chat) -> None:
    tg.inject("sendMessage", DropReply())
    with pytest.raises(TelegramNetworkError):
        await bot.send_message(room.id, "x")

    assert [sent.text for sent in tg.sent] == ["x"]


async def test_a_refused_connection_has_stored_nothing(tg: FakeTelegram, bot: Bot, room: Chat) -> None:
    tg.inject("sendMessage", Refuse(), times=2)
    for _ in range(2):
        with pytest.raises(TelegramNetworkError):
            await bot.send_message(room.id, "x")
    assert tg.sent == []
    await bot.send_message(room.id, "x")

    assert len(tg.sent) == 1


@pytest.mark.parametrize("after", [False, True])
async def test_a_slow_call_waits_before_its_effect_or_after_it(
    tg: FakeTelegram, bot: Bot, room: Chat, after: bool
) -> None:
    go = asyncio.Event()
    tg.inject("sendMessage", Slow(go, after=after))
    sending = asyncio.create_task(bot.send_message(room.id, "x"))
    await tg.wait_calls("sendMessage")
    if after:
        await tg.wait_sent(1)
    assert not sending.done()
    assert len(tg.sent) == after
    go.set()
    await sending

    assert len(tg.sent) == 1


async def test_a_slow_call_has_its_effect_although_its_caller_has_left(tg: FakeTelegram, bot: Bot, room: Chat) -> None:
    go = asyncio.Event()
    tg.inject("sendMessage", Slow(go))
    sending = asyncio.create_task(bot.send_message(room.id, "x"))
    await tg.wait_calls("sendMessage")
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    go.set()

    assert (await tg.wait_sent(1))[0].text == "x"


async def test_a_conflict_can_be_had_without_a_second_bot(tg: FakeTelegram, bot: Bot) -> None:
    tg.inject("getUpdates", Conflict409())
    with pytest.raises(TelegramConflictError, match="make sure that only one bot instance is running"):
        await received(bot)


async def test_any_other_refusal_can_be_injected_by_predicate_until_cancelled(
    tg: FakeTelegram, bot: Bot, room: Chat
) -> None:
    refusal = Rejects(400, "Bad Request: can't parse entities: x")
    fault = tg.inject("sendMessage", refusal, times=None, when=lambda call: "bad" in call.form["text"])
    for _ in range(2):
        with pytest.raises(TelegramBadRequest, match="can't parse entities"):
            await bot.send_message(room.id, "bad")
    await bot.send_message(room.id, "good")
    fault.cancel()
    await bot.send_message(room.id, "bad")

    assert [sent.text for sent in tg.sent] == ["good", "bad"]


async def test_an_outage_keeps_what_was_stored(tg: FakeTelegram, bot: Bot, ann: Person, room: Chat) -> None:
    polling = asyncio.create_task(bot.get_updates(timeout=50))
    await tg.wait_calls("getUpdates")
    await tg.down()
    with pytest.raises(TelegramNetworkError):
        await polling
    with pytest.raises(TelegramNetworkError):
        await bot.send_message(room.id, "x")
    room.says(ann, "while you were out")
    await tg.up()

    assert len(await received(bot)) == 1


async def test_a_wrong_token_is_unauthorized_and_a_misshapen_one_is_not_found(tg: FakeTelegram) -> None:
    async with connected(tg, "42:WRONG") as stranger:
        with pytest.raises(TelegramUnauthorizedError, match="Unauthorized"):
            await stranger.get_me()
    async with ClientSession() as web, web.get(f"{tg.url}/botnonsense/getMe") as answer:
        assert (answer.status, (await answer.json())["description"]) == (404, "Not Found")


async def test_a_person_who_blocks_the_bot_gets_nothing_until_they_unblock(
    tg: FakeTelegram, bot: Bot, room: Chat
) -> None:
    room.blocks()
    with pytest.raises(TelegramForbiddenError, match="Forbidden: bot was blocked by the user"):
        await bot.send_message(room.id, "x")
    room.unblocks()
    await bot.send_message(room.id, "x")

    assert [update.event_type for update in await received(bot)] == ["my_chat_member", "my_chat_member"]
