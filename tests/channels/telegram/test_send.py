import asyncio
from typing import Any

import pytest

from channels.telegram import build
from channels.telegram.adapter import TelegramChannel
from channels.telegram.render import LIMIT, REPEATED
from gateway.channel import Ambiguous, Channel, ShowsTyping
from gateway.errors import Refused, Retryable
from gateway.message import Reply, Route
from tests.channels.telegram.checker import marks
from tests.channels.telegram.rig import Ear, Rig, reply_to
from tests.platforms.telegram import (
    Chat,
    DropReply,
    Entity,
    FakeTelegram,
    Person,
    Refuse,
    Rejects,
    RetryAfter,
    ServerError,
    Slow,
)


@pytest.fixture
def group(tg: FakeTelegram, ann: Person) -> Chat:
    return tg.group(-1001234567890, "Team", [ann])


@pytest.fixture
def channel(rig: Rig) -> TelegramChannel:
    return rig.channel()


async def say(channel: TelegramChannel, reply: Reply, text: str, *, repeated: bool = False) -> list[str]:
    parts = channel.render(text)
    return [
        await channel.send(reply, part, index=index, of=len(parts), repeated=repeated)
        for index, part in enumerate(parts)
    ]


def test_it_is_a_channel_that_shows_typing(channel: TelegramChannel) -> None:
    as_port: Channel = channel
    assert isinstance(channel, ShowsTyping)
    assert (as_port.name, as_port.account, as_port.can_send) == ("telegram", "42", True)
    assert as_port.health.state == "starting"


@pytest.mark.parametrize("token", ["", "abc", "42", "42:", ":x", "x:y", "42:a b", "４２:x"])
def test_a_token_that_is_none_is_refused_and_not_shown(rig: Rig, token: str) -> None:
    with pytest.raises(Refused) as refused:
        build(token=token, poison_folder=rig.poison)
    assert len(token) < 3 or token not in str(refused.value)


async def test_a_reply_arrives_with_its_marks(tg: FakeTelegram, channel: TelegramChannel, chat: Chat) -> None:
    (sent_id,) = await say(channel, reply_to(1001, answers="5"), "**Hi** `x` 😀 @bob")
    (sent,) = tg.sent
    assert sent_id == str(sent.message_id)
    assert sent.text == "Hi x 😀 @\u200bbob"
    assert sent.entities == (Entity("bold", 0, 2), Entity("code", 3, 1))
    assert sent.pings == ()
    assert not {"parse_mode", "reply_parameters"} & tg.calls[0].form.keys()


async def test_in_a_group_the_first_part_quotes_the_question(
    tg: FakeTelegram, channel: TelegramChannel, group: Chat, ann: Person
) -> None:
    question = group.says(ann, "hello")["message"]["message_id"]
    await say(channel, reply_to(group.id, answers=str(question)), "word " * 1000)
    assert [sent.reply_to for sent in tg.sent] == [question, None]


@pytest.mark.parametrize("answers", [None, "0", "x", "²"])
async def test_what_cannot_be_quoted_is_answered_all_the_same(
    tg: FakeTelegram, channel: TelegramChannel, group: Chat, answers: str | None
) -> None:
    await say(channel, reply_to(group.id, answers=answers), "hi")
    assert "reply_parameters" not in tg.calls[0].form


async def test_a_question_that_was_deleted_is_answered_without_quote(
    tg: FakeTelegram, channel: TelegramChannel, group: Chat, ann: Person
) -> None:
    question = group.says(ann, "hello")
    group.deletes(question)
    reply = reply_to(group.id, answers=str(question["message"]["message_id"]))
    await say(channel, reply, "hi")
    tg.inject("sendMessage", Rejects(400, "Bad Request: message to be replied not found"))
    await say(channel, reply, "again")
    assert [(sent.text, sent.reply_to) for sent in tg.sent] == [("hi", None), ("again", None)]
    assert "reply_parameters" not in tg.calls[-1].form


async def test_a_reply_goes_to_its_topic_and_general_has_none(
    tg: FakeTelegram, channel: TelegramChannel, ann: Person
) -> None:
    forum = tg.forum(-1002, "Forum", [7], [ann])
    for thread in (7, 1, None):
        await say(channel, reply_to(forum.id, thread=thread), "hi")
    assert [sent.thread_id for sent in tg.sent] == [7, None, None]


async def test_five_thousand_emoji_arrive_in_order(tg: FakeTelegram, channel: TelegramChannel, chat: Chat) -> None:
    await say(channel, reply_to(1001), "😀" * 5000)
    assert "".join(sent.text for sent in tg.sent) == "😀" * 5000
    assert all(len(sent.text.encode("utf-16-le")) // 2 <= LIMIT for sent in tg.sent)


async def test_a_repeated_part_says_so_and_keeps_its_marks(
    tg: FakeTelegram, channel: TelegramChannel, chat: Chat
) -> None:
    await say(channel, reply_to(1001), "😀" * 2000 + " **" + "x" * 6000 + "**", repeated=True)
    for sent, part in zip(tg.sent, channel.render("😀" * 2000 + " **" + "x" * 6000 + "**"), strict=True):
        assert sent.text.startswith(REPEATED)
        assert [entity.of(sent.text) for entity in sent.entities] == [mark.words for mark in marks(part)]


async def test_entities_that_are_refused_leave_plain_text_that_calls_nobody(
    tg: FakeTelegram, channel: TelegramChannel, chat: Chat
) -> None:
    tg.inject("sendMessage", Rejects(400, "Bad Request: can't parse entities: odd"))
    await say(channel, reply_to(1001), "**hi** `@bob`")
    assert [(sent.text, sent.entities, sent.pings) for sent in tg.sent] == [("hi \uff20bob", (), ())]


async def test_what_is_refused_for_good_is_not_tried_for_ever(
    tg: FakeTelegram, channel: TelegramChannel, chat: Chat
) -> None:
    tg.inject("sendMessage", Rejects(400, "Bad Request: can't parse entities: odd"), times=None)
    with pytest.raises(Refused):
        await say(channel, reply_to(1001, answers="5"), "**hi**")
    assert len(tg.calls) == 2


@pytest.mark.parametrize(
    ("fault", "outcome", "stored"),
    [
        (DropReply(), Ambiguous, 1),
        (Refuse(), Ambiguous, 0),
        (ServerError(500), Ambiguous, 0),
        (ServerError(502), Ambiguous, 0),
        (ServerError(502, html=True), Ambiguous, 0),
        (RetryAfter(30), Retryable, 0),
        (Rejects(429, "Too Many Requests: slow down"), Retryable, 0),
        (Rejects(401, "Unauthorized"), Retryable, 0),
        (Rejects(400, "Bad Request: message is too long"), Refused, 0),
        (Rejects(403, "Forbidden: bot is not a member of the group chat"), Refused, 0),
        (Rejects(413, "Request Entity Too Large"), Refused, 0),
        (Rejects(418, "Odd"), Refused, 0),
    ],
)
async def test_each_failure_says_what_became_of_the_message(
    tg: FakeTelegram, channel: TelegramChannel, chat: Chat, fault: Any, outcome: type[Exception], stored: int
) -> None:
    tg.inject("sendMessage", fault)
    with pytest.raises(outcome) as raised:
        await say(channel, reply_to(1001), "Here is your answer")
    assert type(raised.value) is outcome
    assert len(tg.sent) == stored
    assert len(tg.calls) == 1
    assert "TEST" not in str(raised.value)


async def test_telegram_is_waited_for_as_long_as_it_asks(
    tg: FakeTelegram, channel: TelegramChannel, chat: Chat
) -> None:
    tg.inject("sendMessage", RetryAfter(30))
    with pytest.raises(Retryable) as later:
        await say(channel, reply_to(1001), "hi")
    assert later.value.after == 30


async def test_a_refused_connection_is_tried_again_and_the_message_arrives_once(
    tg: FakeTelegram, channel: TelegramChannel, chat: Chat
) -> None:
    await tg.down()
    with pytest.raises(Retryable):
        await say(channel, reply_to(1001), "hi")
    await tg.up()
    await say(channel, reply_to(1001), "hi")
    assert [sent.text for sent in tg.sent] == ["hi"]


async def test_an_answer_that_takes_too_long_is_unknown(tg: FakeTelegram, rig: Rig, chat: Chat) -> None:
    never = asyncio.Event()
    tg.inject("sendMessage", Slow(never, after=True))
    with pytest.raises(Ambiguous):
        await say(rig.channel(deadline=0.5), reply_to(1001), "hi")
    assert len(tg.sent) == 1


async def test_people_and_places_that_are_gone_are_refused(
    tg: FakeTelegram, channel: TelegramChannel, chat: Chat, group: Chat, ann: Person
) -> None:
    forum = tg.forum(-1002, "Forum", [7, 9], [ann])
    forum.delete_topic(7)
    forum.close_topic(9)
    chat.blocks()
    group.migrates(-1009999999999)
    for reply in (
        reply_to(1001),
        reply_to(5555),
        reply_to(group.id),
        reply_to(forum.id, thread=7),
        reply_to(forum.id, thread=9),
    ):
        with pytest.raises(Refused):
            await say(channel, reply, "hi")
    assert tg.sent == []


async def test_typing_is_shown_in_the_topic_and_its_failure_is_nobodys_business(
    tg: FakeTelegram, channel: TelegramChannel, chat: Chat, ann: Person
) -> None:
    forum = tg.forum(-1002, "Forum", [7], [ann])
    await channel.typing(reply_to(forum.id, thread=7).route)
    assert tg.calls[-1].form == {"chat_id": "-1002", "action": "typing", "message_thread_id": "7"}
    tg.inject("sendChatAction", RetryAfter(9))
    await channel.typing(reply_to(1001).route)
    await channel.typing(Route("telegram", "42", "nowhere"))
    await tg.down()
    await channel.typing(reply_to(1001).route)


async def test_a_channel_that_stopped_receiving_can_still_send(
    tg: FakeTelegram, rig: Rig, ear: Ear, chat: Chat
) -> None:
    async with rig.running(ear) as channel:
        await tg.wait_calls("getUpdates")
    await say(channel, reply_to(1001), "last words")
    assert [sent.text for sent in tg.sent] == ["last words"]
