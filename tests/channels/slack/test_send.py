"""Sending: what arrives, whom it pings, and what becomes of failures."""

import asyncio

import pytest

from channels.slack.adapter import SlackChannel
from channels.slack.render import LIMIT, REPEATED
from gateway.channel import Ambiguous, Part
from gateway.errors import Refused, Retryable
from gateway.message import Reply, Route
from tests.channels.slack.rig import ACCOUNT, Ear, Rig, WatchfulClock, live, reply_to, soon
from tests.platforms.slack import (
    Channel,
    DropReply,
    FakeSlack,
    Person,
    Refuse,
    Rejects,
    RetryAfter,
    ServerError,
    Slow,
)

HELLO = Part("hello", '[{"type": "rich_text_section", "elements": [{"type": "text", "text": "hello"}]}]')


async def send(
    channel: SlackChannel, reply: Reply, part: Part = HELLO, *, repeated: bool = False, index: int = 0
) -> str:
    return await channel.send(reply, part, index=index, of=1, repeated=repeated)


async def test_a_worker_sends_without_a_socket(slack: FakeSlack, rig: Rig, chat: Channel) -> None:
    async with rig.running(None) as channel:
        await soon(lambda: channel.can_send)
        ts = await send(channel, reply_to(chat.id))

        assert channel.account == ACCOUNT
        assert channel.health.state == "connected"
    assert slack.connections == []
    [sent] = slack.sent
    assert (sent.text, sent.ts, sent.thread_ts) == ("hello", ts, None)
    assert sent.metadata == {"event_type": "gateway_reply", "event_payload": {"part": f"slack/{ACCOUNT}/{chat.id}:1#0"}}


async def test_a_worker_needs_neither_app_token_nor_secret(slack: FakeSlack, rig: Rig, chat: Channel) -> None:
    async with rig.running(None, app_token=None) as channel:
        await soon(lambda: channel.can_send)
        await send(channel, reply_to(chat.id))


async def test_a_reply_hangs_on_the_root_of_its_thread(
    slack: FakeSlack, rig: Rig, ear: Ear, room: Channel, ann: Person
) -> None:
    async with rig.connected(ear) as channel:
        room.says(ann, "question", mention=True)
        message = await ear.message()
        await send(channel, reply_to(room.id, thread=message.route.thread, answers=message.reply_to))

    assert slack.sent[0].thread_ts == message.reply_to
    assert not slack.sent[0].broadcast


async def test_c82_nobody_is_pinged_and_all_is_shown(slack: FakeSlack, rig: Rig, chat: Channel) -> None:
    vile = "@everyone @here <@&1> <!channel> <@U1> `<!here>`\n\n```\n<!everyone> <@U1>\n```\n\n<!subteam^S1> & <b>"
    async with rig.running(None) as channel:
        await soon(lambda: channel.can_send)
        for at, part in enumerate(channel.render(vile)):
            await send(channel, reply_to(chat.id), part, index=at)

    assert slack.pings == []
    assert [call.form["link_names"].lower() for call in slack.calls_of("chat.postMessage")] == ["false"]
    assert "<" not in slack.sent[0].text


@pytest.mark.parametrize("length", [2999, 3000, 3001, 12000, 12001, 13300, 40001])
async def test_c79_every_length_arrives_whole_and_in_no_more_messages_than_we_sent(
    slack: FakeSlack, rig: Rig, chat: Channel, length: int
) -> None:
    text = "".join(f"{number} " for number in range(length))[: length - 1] + "."
    async with rig.running(None) as channel:
        await soon(lambda: channel.can_send)
        parts = channel.render(text)
        for at, part in enumerate(parts):
            await send(channel, reply_to(chat.id), part, index=at)

    assert len(slack.sent) == len(parts)
    assert "".join(sent.text for sent in slack.sent).replace(" ", "") == text.replace(" ", "")
    assert all(len(sent.text) <= LIMIT for sent in slack.sent)


async def test_blocks_that_slack_does_not_take_are_sent_as_text(slack: FakeSlack, rig: Rig, chat: Channel) -> None:
    slack.inject("chat.postMessage", Rejects(200, "invalid_blocks"))
    async with rig.running(None) as channel:
        await soon(lambda: channel.can_send)
        await send(channel, reply_to(chat.id))

    assert [(sent.text, sent.blocks) for sent in slack.sent] == [("hello", ())]


@pytest.mark.parametrize(
    ("fault", "error", "after"),
    [
        (RetryAfter(7), Retryable, 7.0),
        (Rejects(200, "ratelimited"), Retryable, None),
        (Rejects(200, "token_revoked"), Retryable, 60.0),
        (Rejects(404, ""), Retryable, None),
        (Rejects(200, "channel_not_found"), Refused, None),
        (Rejects(200, "is_archived"), Refused, None),
        (Rejects(200, "not_in_channel"), Refused, None),
        (Rejects(200, "no_permission"), Refused, None),
        (Rejects(200, "account_inactive"), Refused, None),
        (Rejects(200, "missing_scope", {"needed": "chat:write"}), Refused, None),
        (Rejects(200, "internal_error"), Ambiguous, None),
        (Rejects(200, "fatal_error"), Ambiguous, None),
        (ServerError(502, html=True), Ambiguous, None),
        (ServerError(503), Ambiguous, None),
        (Refuse(), Ambiguous, None),
        (DropReply(), Ambiguous, None),
    ],
    ids=repr,
)
async def test_a_failure_is_told_by_what_to_do_about_it_and_nothing_is_sent_again(
    slack: FakeSlack, rig: Rig, chat: Channel, fault: object, error: type[Exception], after: float | None
) -> None:
    async with rig.running(None) as channel:
        await soon(lambda: channel.can_send)
        slack.inject("chat.postMessage", fault)  # type: ignore[arg-type]
        with pytest.raises(error) as raised:
            await send(channel, reply_to(chat.id))

    assert getattr(raised.value, "after", None) == after
    assert len(slack.calls_of("chat.postMessage")) == 1
    assert slack.bot_token not in repr(raised.value) + str(raised.value.__cause__)


async def test_an_answer_that_does_not_come_in_time_is_ambiguous(slack: FakeSlack, rig: Rig, chat: Channel) -> None:
    never = asyncio.Event()
    slack.inject("chat.postMessage", Slow(never))
    async with rig.running(None, deadline=0.5) as channel:
        await soon(lambda: channel.can_send)
        with pytest.raises(Ambiguous):
            await send(channel, reply_to(chat.id))


async def test_where_nobody_listens_nothing_was_sent(slack: FakeSlack, rig: Rig, chat: Channel) -> None:
    async with rig.running(None) as channel:
        await soon(lambda: channel.can_send)
        await slack.down()
        with pytest.raises((Ambiguous, Retryable)):  # on the connection that was open
            await send(channel, reply_to(chat.id))
        with pytest.raises(Retryable):
            await send(channel, reply_to(chat.id))


@pytest.mark.parametrize("in_thread", [False, True])
async def test_a_part_whose_answer_was_lost_is_found_and_not_sent_again(
    slack: FakeSlack, rig: Rig, room: Channel, chat: Channel, ann: Person, in_thread: bool
) -> None:
    place = room if in_thread else chat
    question = place.says(ann, "question")
    reply = reply_to(place.id, thread=question.ts if in_thread else None, answers=question.ts)
    slack.inject("chat.postMessage", DropReply())
    async with rig.running(None) as channel:
        await soon(lambda: channel.can_send)
        with pytest.raises(Ambiguous):
            await send(channel, reply, index=1)
        for _ in range(250):
            place.says(ann, "noise", thread=question if in_thread else None)
        ts = await send(channel, reply, index=1, repeated=True)
        other = await send(channel, reply, index=2, repeated=True)

    assert [sent.ts for sent in slack.sent] == [ts, other]
    assert not any(sent.text.startswith(REPEATED.strip()) for sent in slack.sent)


async def test_a_part_that_never_arrived_is_sent_at_the_second_try(slack: FakeSlack, rig: Rig, chat: Channel) -> None:
    slack.inject("chat.postMessage", ServerError())
    async with rig.running(None) as channel:
        await soon(lambda: channel.can_send)
        with pytest.raises(Ambiguous):
            await send(channel, reply_to(chat.id))
        await send(channel, reply_to(chat.id), repeated=True)

    assert [sent.text for sent in slack.sent] == ["hello"]


async def test_where_the_app_may_not_read_back_the_copy_says_so(slack: FakeSlack, rig: Rig, chat: Channel) -> None:
    slack.inject("conversations.history", Rejects(200, "missing_scope"))
    async with rig.running(None) as channel:
        await soon(lambda: channel.can_send)
        await send(channel, reply_to(chat.id), repeated=True)

    assert slack.sent[0].text == f"{REPEATED}hello"
    assert "(possibly repeated)" in str(slack.sent[0].blocks[0])


async def test_reading_back_that_fails_sends_nothing(slack: FakeSlack, rig: Rig, chat: Channel) -> None:
    slack.inject("conversations.history", ServerError())
    async with rig.running(None) as channel:
        await soon(lambda: channel.can_send)
        with pytest.raises(Retryable):
            await send(channel, reply_to(chat.id), repeated=True)

    assert slack.sent == []


async def test_being_at_work_is_shown_in_threads(
    slack: FakeSlack, rig: Rig, room: Channel, chat: Channel, ann: Person
) -> None:
    root = room.says(ann, "question")
    async with rig.running(None) as channel:
        await soon(lambda: channel.can_send)
        await channel.typing(Route("slack", ACCOUNT, chat.id))
        await channel.typing(Route("slack", ACCOUNT, room.id, root.ts))

    assert [(status.channel, status.thread_ts, status.status) for status in slack.statuses] == [
        (room.id, root.ts, "is thinking...")
    ]


async def test_a_status_that_is_refused_is_not_tried_again_for_a_while(
    slack: FakeSlack, rig: Rig, room: Channel, ann: Person, clock: WatchfulClock
) -> None:
    route = Route("slack", ACCOUNT, room.id, room.says(ann, "question").ts)
    slack.inject("assistant.threads.setStatus", Rejects(200, "unknown_method"))
    async with rig.running(None, clock=clock) as channel:
        await soon(lambda: channel.can_send)
        for _ in range(3):
            await channel.typing(route)
        assert len(slack.calls_of("assistant.threads.setStatus")) == 1
        clock.advance(600)
        slack.inject("assistant.threads.setStatus", ServerError())
        await channel.typing(route)
        await channel.typing(route)

    assert len(slack.statuses) == 1


async def test_after_the_end_nothing_is_sent(rig: Rig, chat: Channel) -> None:
    channel = rig.channel()
    async with live(channel, None):
        await soon(lambda: channel.can_send)

    with pytest.raises(Retryable):
        await send(channel, reply_to(chat.id))
