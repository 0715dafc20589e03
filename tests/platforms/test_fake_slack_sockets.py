"""How sockets of the fake Slack open, take turns and end."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession, WSMsgType, WSServerHandshakeError

from tests.platforms.slack import Channel, FakeSlack, Person
from tests.platforms.slack_bot import Bot, open_socket, refused, web_client

PATIENT = 60
"""Seconds: the SDK looks after its socket every `ping_interval`, and this machine may be busy."""


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
async def raw() -> AsyncIterator[ClientSession]:
    async with ClientSession() as session:
        yield session


async def test_a_ticket_opens_one_socket_once(slack: FakeSlack, raw: ClientSession) -> None:
    answer = await web_client(slack).apps_connections_open(app_token=slack.app_token)
    socket = await raw.ws_connect(answer["url"])
    hello = await socket.receive_json()

    assert (hello["type"], hello["num_connections"], hello["connection_info"]["app_id"]) == ("hello", 1, "A1")
    with pytest.raises(WSServerHandshakeError):
        await raw.ws_connect(answer["url"])


async def test_tokens_open_their_own_methods_only(slack: FakeSlack) -> None:
    client = web_client(slack)

    assert await refused(client.apps_connections_open(app_token="xapp-wrong")) == "invalid_auth"
    assert await refused(client.apps_connections_open(app_token=slack.bot_token)) == "not_allowed_token_type"
    assert await refused(web_client(slack, slack.app_token).auth_test()) == "not_allowed_token_type"
    assert await refused(web_client(slack, "xoxb-wrong").auth_test()) == "invalid_auth"


async def test_sockets_take_turns(slack: FakeSlack, raw: ClientSession, ann: Person, room: Channel) -> None:
    sockets = [await open_socket(slack, raw) for _ in range(2)]
    hellos = [(await socket.receive_json())["num_connections"] for socket in sockets]
    await slack.wait_connected(2)
    for number in range(4):
        room.says(ann, str(number))
    heard = [[(await socket.receive_json())["payload"]["event"]["text"] for _ in range(2)] for socket in sockets]

    assert hellos == [1, 2]
    assert heard == [["0", "2"], ["1", "3"]]


async def test_the_eleventh_socket_is_told_to_go(slack: FakeSlack, raw: ClientSession) -> None:
    sockets = [await open_socket(slack, raw) for _ in range(11)]
    await sockets[-1].receive_json()

    assert (await sockets[-1].receive_json())["reason"] == "too_many_websockets"
    assert len(await slack.wait_connected(10)) == 10


@pytest.mark.parametrize(
    ("moment", "frames"), [("before_hello", 0), ("after_hello", 1), ("before_envelope", 1), ("after_envelope", 2)]
)
async def test_a_socket_breaks_at_the_moment_asked_for(
    slack: FakeSlack, raw: ClientSession, ann: Person, room: Channel, moment: Any, frames: int
) -> None:
    slack.cut(moment)
    socket = await open_socket(slack, raw)
    room.says(ann, "hello")
    seen = [message async for message in socket]
    await slack.wait(lambda: not slack.connections[0].open)

    assert [message.type for message in seen] == [WSMsgType.TEXT] * frames
    assert len(slack.unacked) == 1
    assert len(slack.envelopes) == ("envelope" in moment)


async def test_a_lost_envelope_is_retried_through_the_next_socket(
    slack: FakeSlack, raw: ClientSession, ann: Person, room: Channel
) -> None:
    slack.cut("before_envelope")
    await open_socket(slack, raw)
    await slack.wait_connected()
    room.says(ann, "hello")
    await slack.wait(lambda: not slack.connections[0].open)
    async with Bot(slack) as bot:
        assert bot.events == []
        slack.expire_acks()
        await slack.wait_acked()

        assert [request.retry_attempt for request in bot.requests] == [1]


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "link_disabled", "too_many_websockets"])
async def test_a_bot_that_is_told_to_go_comes_back(slack: FakeSlack, ann: Person, room: Channel, reason: Any) -> None:
    async with Bot(slack) as bot:
        slack.disconnect(reason)
        await slack.wait(lambda: len(slack.connections) >= 2 and not slack.connections[0].open)
        await slack.wait_connected()
        room.says(ann, "still there?")
        await slack.wait_acked()

        assert [event["text"] for event in bot.events] == ["still there?"]
    assert len(slack.calls_of("apps.connections.open")) == len(slack.connections)


async def test_a_socket_that_was_told_to_go_gets_nothing_more_but_a_warned_one_does(
    slack: FakeSlack, raw: ClientSession, ann: Person, room: Channel
) -> None:
    socket = await open_socket(slack, raw)
    await slack.wait_connected()
    slack.disconnect("warning")
    room.says(ann, "one")
    slack.disconnect("refresh_requested")
    room.says(ann, "two")
    kinds = [(await socket.receive_json())["type"] for _ in range(4)]

    assert kinds == ["hello", "disconnect", "events_api", "disconnect"]
    assert [delivery.waits for delivery in slack.unacked] == [False, True]


async def test_a_bot_whose_socket_broke_comes_back(slack: FakeSlack, ann: Person, room: Channel) -> None:
    async with Bot(slack, ping_interval=1) as bot:
        slack.cut()
        await slack.wait(lambda: not slack.connections[0].open)
        room.says(ann, "in the gap")
        await slack.wait_acked(PATIENT)

        assert {request.retry_attempt for request in bot.requests} == {1}


async def test_a_muted_socket_takes_envelopes_and_brings_them_nowhere(
    slack: FakeSlack, ann: Person, room: Channel
) -> None:
    async with Bot(slack, ping_interval=1) as bot:
        slack.mute()
        room.says(ann, "hello?")
        assert len(slack.envelopes) == 1
        await slack.wait(lambda: len(slack.connections) >= 2, PATIENT)
        await slack.wait_connected(timeout=PATIENT)
        assert bot.events == []
        slack.expire_acks()
        await slack.wait_acked(PATIENT)

        assert bot.events[0]["text"] == "hello?"


async def test_an_outage_breaks_sockets_and_ends(slack: FakeSlack, ann: Person, room: Channel) -> None:
    async with Bot(slack, ping_interval=1) as bot:
        await slack.down()
        assert slack.sockets.open == []
        room.says(ann, "meanwhile")
        await slack.up()
        await slack.wait_acked(PATIENT)

        assert bot.events[0]["text"] == "meanwhile"


async def test_a_frame_can_be_anything(slack: FakeSlack, raw: ClientSession) -> None:
    socket = await open_socket(slack, raw)
    await slack.wait_connected()
    slack.push_frame("not json")
    await socket.receive_json()

    assert await socket.receive_str() == "not json"


async def test_pings_are_answered_until_a_socket_is_muted(slack: FakeSlack) -> None:
    async with ClientSession() as session:
        answer = await web_client(slack).apps_connections_open(app_token=slack.app_token)
        socket = await session.ws_connect(answer["url"], autoping=False)
        await socket.receive_json()
        await socket.ping(b"one")
        pong = await socket.receive()

        assert (pong.type, pong.data) == (WSMsgType.PONG, b"one")
        slack.mute()
        await socket.ping(b"two")
        await socket.send_str(json.dumps({"envelope_id": "x"}))
        slack.cut()
        assert (await socket.receive()).type is WSMsgType.CLOSED
    assert slack.acks == []


async def test_a_slash_command_that_is_not_acknowledged_is_not_tried_again(
    slack: FakeSlack, raw: ClientSession, ann: Person, room: Channel
) -> None:
    await open_socket(slack, raw)
    await slack.wait_connected()
    command = room.commands(ann, "/gateway")
    assert [delivery.command for delivery in slack.expire_acks()] == [command]

    assert (command.refused, len(slack.envelopes), slack.unacked) == ("operation_timeout", 1, [])


async def test_the_time_of_an_earlier_try_does_not_end_a_later_one(ann: Person) -> None:
    async with FakeSlack(ack_within=0.05) as slack:
        (delivery,) = slack.private(ann).says(ann, "hello").deliveries
        slack.expire_acks()
        slack.expire_acks()
        await slack.wait(lambda: delivery.attempt == 3)
        assert not delivery.gone
        await slack.wait(lambda: delivery.gone)
