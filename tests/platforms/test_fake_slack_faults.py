"""What may go wrong between a bot and the fake Slack's Web API."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

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
from tests.platforms.slack_bot import refused, web_client


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
def client(slack: FakeSlack) -> AsyncWebClient:
    return web_client(slack)


async def test_a_rate_limit_says_how_long(slack: FakeSlack, client: AsyncWebClient, room: Channel) -> None:
    slack.inject("chat.postMessage", RetryAfter(7), when=lambda call: call.form["text"] == "x")
    await client.chat_postMessage(channel="C1", text="y")
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel="C1", text="x")

    assert (caught.value.response["error"], caught.value.response.status_code) == ("ratelimited", 429)
    assert caught.value.response.headers["Retry-After"] == "7"
    assert [sent.text for sent in slack.sent] == ["y"]


@pytest.mark.parametrize("fault", [ServerError(500), ServerError(503, html=True), Rejects(200, "edit_window_closed")])
async def test_a_failure_has_no_effect(
    slack: FakeSlack, client: AsyncWebClient, room: Channel, fault: ServerError | Rejects
) -> None:
    slack.inject("chat.postMessage", fault)
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel="C1", text="x")

    assert slack.sent == []
    assert caught.value.response.status_code == fault.status


async def test_an_answer_may_be_lost_after_the_effect_or_before(
    slack: FakeSlack, client: AsyncWebClient, room: Channel
) -> None:
    slack.inject("chat.postMessage", Refuse())
    slack.inject("chat.postMessage", DropReply())
    effects = []
    for _ in range(2):
        with pytest.raises(ClientError):
            await client.chat_postMessage(channel="C1", text="x")
        effects.append(len(slack.sent))

    assert effects == [0, 1]


async def test_an_answer_may_be_slow(slack: FakeSlack, client: AsyncWebClient, room: Channel) -> None:
    slack.inject("chat.postMessage", Slow(0.01))
    slack.inject("chat.postMessage", Slow(0.01, after=True))
    for _ in range(2):
        await client.chat_postMessage(channel="C1", text="x")

    assert len(await slack.wait_sent(2)) == 2


async def test_opening_a_socket_can_be_refused(slack: FakeSlack, client: AsyncWebClient) -> None:
    slack.inject("apps.connections.open", Rejects(200, "internal_error"))
    slack.inject("apps.connections.open", Refuse())

    assert await refused(client.apps_connections_open(app_token=slack.app_token)) == "internal_error"
    with pytest.raises(ClientError):
        await client.apps_connections_open(app_token=slack.app_token)
    assert len(await slack.wait_calls("apps.connections.open", 2)) == 2
    assert slack.sockets.issued == 0


async def test_a_call_that_waits_ends_with_the_server(slack: FakeSlack, client: AsyncWebClient, room: Channel) -> None:
    slack.inject("chat.postMessage", Slow(asyncio.Event()), times=None)
    posting = asyncio.create_task(client.chat_postMessage(channel="C1", text="x"))
    await slack.wait_calls("chat.postMessage")
    await slack.down()
    with pytest.raises(ClientError):
        await posting

    assert slack.sent == []
