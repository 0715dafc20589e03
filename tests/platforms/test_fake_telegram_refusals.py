"""What the fake Bot API refuses, and in which words, seen through the real SDK."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import (
    TelegramBadRequest,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramServerError,
)
from aiogram.types import BotCommand, BotCommandScopeChat, BufferedInputFile, MessageEntity, ReplyParameters
from aiohttp import ClientSession

from tests.platforms.telegram import FakeTelegram

pytestmark = pytest.mark.asyncio(loop_scope="module")

ANN, GROUP, FORUM = 1001, -100500, -100600
TOPIC, CLOSED = 10, 20


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def tg() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram() as server:
        ann = server.person(ANN, "Ann", "ann")
        server.person(1002, "Bob")
        server.private(ann).says(ann, "hello")
        server.group(GROUP, "Friends", members=[ann]).says(ann, "hello")
        forum = server.forum(FORUM, "Forum", [TOPIC, CLOSED, 30], members=[ann])
        forum.close_topic(CLOSED)
        forum.delete_topic(30)
        yield server


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def bot(tg: FakeTelegram) -> AsyncIterator[Bot]:
    async with Bot(tg.token, session=AiohttpSession(api=TelegramAPIServer.from_base(tg.url))).context() as sdk:
        yield sdk


def says(text: str, *entities: tuple[str, int, int], chat: int = ANN, **more: Any) -> Callable[[Bot], Awaitable[Any]]:
    marks = [MessageEntity(type=kind, offset=offset, length=length) for kind, offset, length in entities]
    return lambda bot: bot.send_message(chat, text, entities=marks or None, **more)


def in_thread(thread: int, chat: int = FORUM) -> Callable[[Bot], Awaitable[Any]]:
    return says("x", chat=chat, message_thread_id=thread)


def document(data: bytes, caption: str | None = None) -> Callable[[Bot], Awaitable[Any]]:
    return lambda bot: bot.send_document(ANN, BufferedInputFile(data, "a.txt"), caption=caption)


def commands(*names: str, description: str = "does it") -> Callable[[Bot], Awaitable[Any]]:
    return lambda bot: bot.set_my_commands([BotCommand(command=name, description=description) for name in names])


REFUSALS: dict[str, tuple[Callable[[Bot], Awaitable[Any]], str]] = {
    "an empty text": (says(""), "message text is empty"),
    "a text of white space": (says(" \n\t "), "text must be non-empty"),
    "4097 characters": (says("x" * 4097), "message is too long"),
    "4097 emoji": (says("😀" * 4097), "message is too long"),
    "an entity before the text": (says("hi", ("bold", -1, 1)), "receive an entity with incorrect offset -1"),
    "an entity of negative length": (says("hi", ("bold", 0, -1)), "receive an entity with incorrect length -1"),
    "an entity after the text": (
        says("hi", ("bold", 3, 1)),
        "entity begins after the end of the text at UTF-16 offset 3",
    ),
    "an entity over the end": (
        says("aba caba", ("bold", 3, 6)),
        "entity beginning at UTF-16 offset 3 ends after the end of the text at UTF-16 offset 9",
    ),
    "an entity that begins inside an emoji": (
        says("😀 hi", ("bold", 1, 2)),
        "entity begins in a middle of a UTF-16 symbol at byte offset 4",
    ),
    "an entity that ends inside an emoji": (
        says("😀 hi", ("bold", 0, 1)),
        "entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at byte offset 4",
    ),
    "entities that overlap": (
        says("hello", ("bold", 0, 3), ("italic", 2, 3)),
        "can't parse entities: ENTITY_BOUNDS_INVALID",
    ),
    "an unknown chat": (says("x", chat=-1), "chat not found"),
    "an unknown topic": (in_thread(999), "message thread not found"),
    "a deleted topic": (in_thread(30), "message thread not found"),
    "general by its number": (in_thread(1), "message thread not found"),
    "a thread where there are no topics": (in_thread(1, GROUP), "message thread not found"),
    "a closed topic": (in_thread(CLOSED), "TOPIC_CLOSED"),
    "typing in an unknown topic": (
        lambda bot: bot.send_chat_action(FORUM, "typing", message_thread_id=999),
        "message thread not found",
    ),
    "a reply to nothing": (
        says("x", reply_parameters=ReplyParameters(message_id=99)),
        "message to be replied not found",
    ),
    "a quote that was never said": (
        says("x", reply_parameters=ReplyParameters(message_id=1, quote="bye")),
        "QUOTE_TEXT_INVALID",
    ),
    "an edit of nothing": (
        lambda bot: bot.edit_message_text("x", chat_id=ANN, message_id=99),
        "message to edit not found",
    ),
    "an edit of a person's message": (
        lambda bot: bot.edit_message_text("x", chat_id=ANN, message_id=1),
        "message can't be edited",
    ),
    "a deletion of nothing": (lambda bot: bot.delete_message(ANN, 99), "message to delete not found"),
    "a deletion of a member's message": (lambda bot: bot.delete_message(GROUP, 1), "message can't be deleted"),
    "a draft in a group": (
        lambda bot: bot.send_message_draft(chat_id=GROUP, draft_id=1, text="x"),
        "TEXTDRAFT_PEER_INVALID",
    ),
    "a draft that is too long": (
        lambda bot: bot.send_message_draft(chat_id=ANN, draft_id=1, text="x" * 4097),
        "message is too long",
    ),
    "an empty file": (document(b""), "file must be non-empty"),
    "no file": (lambda bot: bot.send_document(ANN, "unknown"), "there is no document in the request"),
    "a caption over 1024": (document(b"x", "x" * 1025), "message caption is too long"),
    "a command with a capital": (commands("ok", "Help"), "BOT_COMMAND_INVALID"),
    "a command with a hyphen": (commands("a-b"), "BOT_COMMAND_INVALID"),
    "a command of 33 letters": (commands("a" * 33), "BOT_COMMAND_INVALID"),
    "a command without description": (commands("help", description=" "), "command description must be non-empty"),
    "a description of 257": (
        commands("help", description="x" * 257),
        "command description length must not exceed 256",
    ),
    "101 commands": (commands(*(f"c{number}" for number in range(101))), "BOT_COMMANDS_TOO_MUCH"),
    "commands for an unknown chat": (
        lambda bot: bot.set_my_commands([], scope=BotCommandScopeChat(chat_id=-1)),
        "chat not found",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
async def test_telegram_refuses(tg: FakeTelegram, bot: Bot, case: str) -> None:
    request, words = REFUSALS[case]
    before = list(tg.sent), list(tg.drafts), dict(tg.bot.commands)
    with pytest.raises(TelegramBadRequest) as caught:
        await request(bot)

    assert caught.value.message == f"Bad Request: {words}"
    assert (tg.sent, tg.drafts, tg.bot.commands) == before


async def test_an_edit_that_changes_nothing_is_refused(bot: Bot) -> None:
    bold = MessageEntity(type="bold", offset=0, length=2)
    message = await bot.send_message(ANN, "same", entities=[bold])
    with pytest.raises(TelegramBadRequest, match="message is not modified: specified new message content and reply"):
        await bot.edit_message_text("same ", chat_id=ANN, message_id=message.message_id, entities=[bold])
    await bot.edit_message_text("same", chat_id=ANN, message_id=message.message_id)


async def test_a_person_who_never_started_the_bot_cannot_be_written_to(bot: Bot) -> None:
    with pytest.raises(TelegramForbiddenError, match="Forbidden: bot can't initiate conversation with a user"):
        await bot.send_message(1002, "x")


async def test_deleted_accounts_and_groups_that_threw_the_bot_out_are_forbidden(tg: FakeTelegram, bot: Bot) -> None:
    gone = tg.private(tg.person(1003, "Gone"))
    gone.deactivates()
    with pytest.raises(TelegramForbiddenError, match="Forbidden: user is deactivated"):
        await bot.send_message(gone.id, "x")
    for chat_id, kind in ((-7, "group"), (-1007, "supergroup")):
        tg.group(chat_id, "Out", members=[tg.person(ANN, "Ann")]).kicks()
        with pytest.raises(TelegramForbiddenError, match=f"Forbidden: bot was kicked from the {kind} chat"):
            await bot.send_message(chat_id, "x")
        with pytest.raises(TelegramForbiddenError):
            await bot.send_chat_action(chat_id, "typing")


async def test_a_group_that_moved_names_its_new_id(tg: FakeTelegram, bot: Bot) -> None:
    old = tg.group(-8, "Moving", members=[tg.person(ANN, "Ann")])
    old.migrates(-1008)
    with pytest.raises(TelegramMigrateToChat) as caught:
        await bot.send_message(-8, "x")
    await bot.send_message(-1008, "x")
    told = [update.message for update in await bot.get_updates(offset=-2, timeout=0) if update.message]

    assert caught.value.migrate_to_chat_id == -1008
    assert [(m.chat.id, m.migrate_to_chat_id, m.migrate_from_chat_id) for m in told] == [
        (-8, -1008, None),
        (-1008, None, -8),
    ]


async def test_a_reply_to_nothing_goes_out_where_that_was_allowed(tg: FakeTelegram, bot: Bot) -> None:
    await bot.send_message(ANN, "x", reply_parameters=ReplyParameters(message_id=99, allow_sending_without_reply=True))

    assert tg.sent[-1].reply_to is None


async def test_a_quote_of_what_was_said_is_kept(tg: FakeTelegram, bot: Bot) -> None:
    await bot.send_message(ANN, "x", reply_parameters=ReplyParameters(message_id=1, quote="ell"))

    assert (tg.sent[-1].reply_to, tg.sent[-1].quote) == (1, "ell")


async def test_typing_in_general_by_its_number_is_taken(bot: Bot) -> None:
    assert await bot.send_chat_action(FORUM, "typing", message_thread_id=1)


@pytest.mark.parametrize("text", ["x" * 4096, "😀" * 4096])
async def test_4096_characters_fit_whatever_their_size(tg: FakeTelegram, bot: Bot, text: str) -> None:
    await bot.send_message(ANN, text)

    assert tg.sent[-1].text == text


async def test_the_text_is_trimmed_and_cleaned_and_entities_move_along(tg: FakeTelegram, bot: Bot) -> None:
    marks = [MessageEntity(type="bold", offset=5, length=4), MessageEntity(type="italic", offset=6, length=0)]
    await bot.send_message(ANN, "\n a\r\tbold \n ", entities=marks)
    sent = tg.sent[-1]

    assert sent.text == "a bold"
    assert [(entity.kind, entity.of(sent.text)) for entity in sent.entities] == [("bold", "bold")]


async def test_white_space_inside_the_first_entity_stays(tg: FakeTelegram, bot: Bot) -> None:
    await bot.send_message(ANN, "  \n  x = 1", entities=[MessageEntity(type="pre", offset=3, length=7)])

    assert tg.sent[-1].text == "  x = 1"


async def test_code_contains_nothing_else_and_only_100_entities_are_kept(tg: FakeTelegram, bot: Bot) -> None:
    code = [MessageEntity(type="code", offset=0, length=4), MessageEntity(type="bold", offset=1, length=2)]
    await bot.send_message(ANN, "code", entities=code)
    assert [entity.kind for entity in tg.sent[-1].entities] == ["code"]

    many = [MessageEntity(type="bold", offset=2 * at, length=1) for at in range(101)]
    await bot.send_message(ANN, "x " * 101, entities=many)
    assert len(tg.sent[-1].entities) == 100


async def test_overlaps_pass_where_the_fake_is_told_to_be_as_lenient_as_the_server() -> None:
    async with FakeTelegram(strict_entities=False) as tg:
        tg.private(tg.person(ANN, "Ann"))
        session = AiohttpSession(api=TelegramAPIServer.from_base(tg.url))
        marks = [MessageEntity(type="bold", offset=0, length=3), MessageEntity(type="italic", offset=2, length=3)]
        async with Bot(tg.token, session=session).context() as bot:
            await bot.send_message(ANN, "hello", entities=marks)

        assert len(tg.sent[0].entities) == 2


async def test_parse_modes_are_not_played(bot: Bot) -> None:
    with pytest.raises(TelegramServerError, match="send entities"):
        await bot.send_message(ANN, "*x*", parse_mode="MarkdownV2")


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (b"chat_id=1001&text=%ED%A0%80", "strings must be encoded in UTF-8"),
        (b'{"chat_id": 1001, "text": "\\ud83d"}', "strings must be encoded in UTF-8"),
        (b"chat_id=1001&text=x&entities=%5B", "can't parse entities: Can't parse JSON object"),
        (b'chat_id=1001&text=x&entities=[{"type":"bold"}]', "can't parse MessageEntity: Can't find field \"offset\""),
        (
            b'chat_id=1001&text=x&entities=[{"type":"bold","offset":"0","length":1}]',
            'can\'t parse MessageEntity: Field "offset" must be of type Number',
        ),
        (b"text=x", "chat_id is empty"),
    ],
)
async def test_what_no_sdk_would_send_is_refused_too(tg: FakeTelegram, form: bytes, words: str) -> None:
    kind = "application/json" if form.startswith(b"{") else "application/x-www-form-urlencoded"
    async with (
        ClientSession() as web,
        web.post(f"{tg.url}/bot{tg.token}/sendMessage", data=form, headers={"Content-Type": kind}) as answer,
    ):
        body = await answer.json()

    assert (answer.status, body["description"]) == (400, f"Bad Request: {words}")


async def test_commands_are_kept_by_scope_and_language(bot: Bot) -> None:
    command = BotCommand(command="help", description="helps")
    scope = BotCommandScopeChat(chat_id=GROUP)
    await bot.set_my_commands([command], scope=scope)

    assert [known.command for known in await bot.get_my_commands(scope=scope)] == ["help"]
    assert await bot.get_my_commands() == []
    await bot.delete_my_commands(scope=scope)
    assert await bot.get_my_commands(scope=scope) == []
