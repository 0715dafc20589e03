"""Events, acks and retries of the fake Slack, as the real Bolt gets them."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from tests.platforms.slack import Channel, FakeSlack, File, Person
from tests.platforms.slack_bot import Bot


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as server:
        yield server


@pytest.fixture
def ann(slack: FakeSlack) -> Person:
    return slack.person("U1", "Ann")


@pytest.fixture
def room(slack: FakeSlack, ann: Person) -> Channel:
    return slack.channel("C1", "general", [ann])


@pytest.fixture
async def bot(slack: FakeSlack) -> AsyncIterator[Bot]:
    async with Bot(slack) as connected:
        yield connected


async def test_a_bot_is_greeted_and_hears_a_channel(slack: FakeSlack, bot: Bot, ann: Person, room: Channel) -> None:
    said = room.says(ann, "hello")
    await slack.wait_acked()
    event = bot.events[0]

    assert (bot.hellos[0]["num_connections"], bot.hellos[0]["connection_info"]) == (1, {"app_id": "A1"})
    assert (event["type"], event["text"], event["user"]) == ("message", "hello", "U1")
    assert (event["channel"], event["channel_type"], event["ts"], event["team"]) == ("C1", "channel", said.ts, "T1")
    assert "thread_ts" not in event
    assert event["client_msg_id"]
    assert bot.requests[0].payload["authorizations"][0]["user_id"] == slack.bot_user


@pytest.mark.parametrize("kind", ["im", "group", "mpim"])
async def test_every_kind_of_conversation_has_its_name(slack: FakeSlack, bot: Bot, ann: Person, kind: str) -> None:
    rooms = {"im": slack.private(ann), "group": slack.group("G1", "secret", [ann]), "mpim": slack.mpim("G2", [ann])}
    rooms[kind].says(ann, "hi")
    await slack.wait_acked()

    assert (bot.events[0]["channel"], bot.events[0]["channel_type"]) == (rooms[kind].id, kind)
    assert slack.private(ann).id == "D1"


@pytest.mark.parametrize("mention_first", [False, True])
async def test_a_mention_is_two_events_with_one_ts(
    slack: FakeSlack, bot: Bot, ann: Person, room: Channel, mention_first: bool
) -> None:
    slack.world.mention_first = mention_first
    said = room.says(ann, "hello", mention=True)
    await slack.wait_acked()
    kinds = [envelope.delivery.event["type"] for envelope in slack.envelopes]

    assert kinds == (["app_mention", "message"] if mention_first else ["message", "app_mention"])
    assert {event["ts"] for event in bot.events} == {said.ts}
    assert {event["text"] for event in bot.events} == {"<@UBOT> hello"}
    assert len(set(said.event_ids)) == 2
    assert ["channel_type" in event for event in bot.events if event["type"] == "app_mention"] == [False]


async def test_a_mention_where_the_bot_is_no_member_comes_alone(slack: FakeSlack, bot: Bot, ann: Person) -> None:
    away = slack.channel("C2", "away", [ann], bot_is_member=False)
    away.says(ann, "chatter")
    away.says(ann, "hello", mention=True)
    await slack.wait_acked()

    assert [event["type"] for event in bot.events] == ["app_mention"]


async def test_a_direct_message_is_never_a_mention_event(slack: FakeSlack, bot: Bot, ann: Person) -> None:
    slack.private(ann).says(ann, "hello", mention=True)
    await slack.wait_acked()

    assert [event["type"] for event in bot.events] == ["message"]


async def test_a_reply_names_its_root_and_a_broadcast_comes_twice(
    slack: FakeSlack, bot: Bot, ann: Person, room: Channel
) -> None:
    root = room.says(ann, "root")
    reply = room.says(ann, "reply", thread=root)
    room.says(ann, "to all", thread=reply, broadcast=True)
    await slack.wait_acked()
    by_text = {event["text"]: event for event in bot.events}

    assert (by_text["reply"]["thread_ts"], by_text["reply"]["parent_user_id"]) == (root.ts, "U1")
    twins = [event for event in bot.events if event["text"] == "to all"]
    assert {event.get("subtype") for event in twins} == {"thread_broadcast", None}
    assert {(event["ts"], event["thread_ts"]) for event in twins} == {(twins[0]["ts"], root.ts)}


async def test_edits_and_deletions_are_messages_about_messages(
    slack: FakeSlack, bot: Bot, ann: Person, room: Channel
) -> None:
    said = room.says(ann, "frist")
    room.edits(ann, said, "first")
    room.deletes(said)
    await slack.wait_acked()
    changed, deleted = (
        next(event for event in bot.events if event.get("subtype") == kind)
        for kind in ("message_changed", "message_deleted")
    )

    assert (changed["message"]["text"], changed["previous_message"]["text"]) == ("first", "frist")
    assert changed["message"]["ts"] == said.ts != changed["ts"]
    assert changed["message"]["edited"]["user"] == "U1"
    assert "user" not in changed
    assert (deleted["deleted_ts"], deleted["previous_message"]["text"]) == (said.ts, "first")


async def test_joins_topics_and_other_bots_are_told(slack: FakeSlack, bot: Bot, ann: Person, room: Channel) -> None:
    robot = slack.person("U9", "Robot", is_bot=True)
    room.joins(slack.person("U2", "Bob"))
    room.sets_topic(ann, "news")
    room.says(robot, "beep")
    room.says(robot, "old beep", subtype="bot_message")
    await slack.wait_acked()
    told = {(event["type"], event.get("subtype"), event.get("bot_id")) for event in bot.events}

    assert told == {
        ("message", "channel_join", None),
        ("member_joined_channel", None, None),
        ("message", "channel_topic", None),
        ("message", None, "B9"),
        ("message", "bot_message", "B9"),
    }


async def test_the_bots_own_message_comes_back_to_it(slack: FakeSlack, bot: Bot, room: Channel) -> None:
    await bot.client.chat_postMessage(channel="C1", text="I am <@UBOT>")
    await slack.wait_acked()
    (echo,) = [request.payload["event"] for request in bot.requests]

    assert (echo["type"], echo["user"], echo["bot_id"]) == ("message", "UBOT", "BBOT")
    assert echo["ts"] == slack.sent[0].ts
    assert bot.events == []


async def test_a_removed_bot_hears_nothing_until_it_is_invited(
    slack: FakeSlack, bot: Bot, ann: Person, room: Channel
) -> None:
    room.removes_bot()
    room.says(ann, "secret")
    room.invites_bot()
    room.leaves(ann)
    room.archives()
    await slack.wait_acked()
    told = {(event["type"], event.get("subtype"), event.get("user")) for event in bot.events}

    assert told == {
        ("channel_left", None, None),
        ("member_joined_channel", None, "UBOT"),
        ("message", "channel_leave", "U1"),
        ("channel_archive", None, None),
    }


async def test_files_are_fetched_with_the_token(slack: FakeSlack, bot: Bot, ann: Person, room: Channel) -> None:
    room.says(ann, "look", files=[File("a.txt", b"text"), File("audio_message.m4a", b"voice")])
    await slack.wait_acked()
    event = bot.events[0]
    address = event["files"][0]["url_private_download"]
    async with ClientSession() as web:
        async with web.get(address, headers={"Authorization": f"Bearer {slack.bot_token}"}) as answer:
            content = await answer.read()
        async with web.get(address) as answer:
            page = answer.content_type

    assert (event["subtype"], [file.get("subtype") for file in event["files"]]) == ("file_share", [None, "slack_audio"])
    assert (content, page) == (b"text", "text/html")


async def test_a_failing_bot_is_tried_again_three_times_and_given_up(
    slack: FakeSlack, ann: Person, room: Channel
) -> None:
    """F20: without acks the event is gone after its third retry; history alone has it."""
    async with Bot(slack, fails=True) as bot:
        said = room.says(ann, "hello")
        for attempt in range(4):
            await slack.wait(lambda count=attempt + 1: len(bot.events) == count)
            assert len(slack.expire_acks()) == 1
        assert (slack.unacked, slack.acks, slack.expire_acks()) == ([], [], [])
        history = await bot.client.conversations_history(channel="C1")

    assert [(r.retry_attempt, r.retry_reason) for r in bot.requests] == [(0, ""), *((n, "timeout") for n in (1, 2, 3))]
    assert {request.payload["event_id"] for request in bot.requests} == set(said.event_ids)
    assert said.deliveries[0].gone
    assert [message["ts"] for message in history["messages"]] == [said.ts]


async def test_retries_come_by_themselves_when_the_time_is_over(ann: Person) -> None:
    async with FakeSlack(ack_within=0.01) as slack:
        room = slack.channel("C1", "general", [ann])
        async with Bot(slack, fails=True) as bot:
            room.says(ann, "hello")
            await slack.wait(lambda: not slack.unacked and len(bot.requests) == 4)

    assert [envelope.attempt for envelope in slack.envelopes] == [0, 1, 2, 3]


async def test_any_retry_can_be_the_only_one_that_arrives(
    slack: FakeSlack, bot: Bot, ann: Person, room: Channel
) -> None:
    said = room.says(ann, "hello", mention=True, sends=False)
    assert len(slack.unacked) == 2
    slack.redeliver(said, retry=2)
    await slack.wait_acked()

    assert {request.retry_attempt for request in bot.requests} == {2}
    assert {request.payload["event_id"] for request in bot.requests} == set(said.event_ids)


async def test_an_envelope_can_come_twice(slack: FakeSlack, bot: Bot, ann: Person, room: Channel) -> None:
    said = room.says(ann, "hello")
    await slack.wait_acked()
    slack.redeliver(said)
    await slack.wait_acked()

    assert [ack.event_id for ack in slack.acks] == [*said.event_ids, *said.event_ids]
    assert slack.acks[0].envelope_id == slack.acks[1].envelope_id
    assert [event["ts"] for event in bot.events] == [said.ts, said.ts]


async def test_what_happens_while_no_socket_is_open_comes_as_a_retry(
    slack: FakeSlack, ann: Person, room: Channel
) -> None:
    room.says(ann, "early")
    assert slack.envelopes == []
    async with Bot(slack) as bot:
        await slack.wait_acked()

    assert [(request.retry_attempt, request.payload["event"]["text"]) for request in bot.requests] == [(1, "early")]


async def test_a_slash_command_is_answered_by_its_ack_and_its_url(
    slack: FakeSlack, bot: Bot, ann: Person, room: Channel
) -> None:
    command = room.commands(ann, "/gateway", "status")
    await slack.wait_acked()
    payload = bot.commands[0]
    async with ClientSession() as web:
        statuses = []
        for number in range(6):
            async with web.post(payload["response_url"], json={"text": str(number)}) as answer:
                statuses.append(answer.status)

    assert command.acks == [{"text": "got status"}]
    assert (payload["command"], payload["channel_id"], payload["user_id"]) == ("/gateway", "C1", "U1")
    assert "thread_ts" not in payload
    assert statuses == [200] * 5 + [404]
    assert [response["text"] for response in command.responses] == list("01234")


async def test_a_response_url_lives_half_an_hour(ann: Person) -> None:
    now = 1_700_000_000.0
    async with FakeSlack(clock=lambda: now) as slack, Bot(slack), ClientSession() as web:
        command = slack.private(ann).commands(ann, "/gateway")
        await slack.wait_acked()
        now += 1801
        async with web.post(command.response_url, json={"text": "late"}) as answer:
            body = await answer.json()

    assert (body["error"], command.responses) == ("expired_url", [])


async def test_a_slash_command_that_nobody_takes_is_told_to_its_person(
    slack: FakeSlack, ann: Person, room: Channel
) -> None:
    root = room.says(ann, "root")
    in_thread = room.commands(ann, "/gateway", thread=root)
    unconnected = room.commands(ann, "/gateway")

    assert in_thread.refused == "/gateway is not supported in threads. Sorry!"
    assert in_thread.delivery is None
    assert unconnected.refused == "dispatch_failed"
    assert unconnected.delivery not in slack.unacked


async def test_any_event_can_be_pushed(slack: FakeSlack, bot: Bot) -> None:
    slack.push_raw({"type": "reaction_added", "user": "U1", "reaction": "x", "item": {}})
    await slack.wait_acked()

    assert [event["type"] for event in bot.events] == ["reaction_added"]
