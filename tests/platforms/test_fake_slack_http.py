"""Events and commands that the fake Slack posts to the bot's own server, signed."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request

from tests.platforms.server import LocalServer
from tests.platforms.slack import Channel, FakeSlack, Person
from tests.platforms.slack_bot import bolt


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


class BotServer(LocalServer):
    """The bot's own server, where Slack posts to; `answers` come first, then Bolt does, once `goes` is set."""

    def __init__(self, slack: FakeSlack) -> None:
        super().__init__()
        self.slack = slack
        self.events: list[dict[str, Any]] = []
        self.commands: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[web.Response] = []
        self.goes = asyncio.Event()
        self.goes.set()
        self.app = bolt(slack, self.events, self.commands)

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/slack/events", self._serve)]

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.slack.bell.ring()
        await self.goes.wait()
        if self.answers:
            return self.answers.pop(0)
        return await to_aiohttp_response(await self.app.async_dispatch(await to_bolt_request(request)))


@pytest.fixture
async def server(slack: FakeSlack) -> AsyncIterator[BotServer]:
    async with BotServer(slack) as running:
        slack.deliver_to(f"{running.origin}/slack/events")
        yield running


async def test_an_address_is_verified(slack: FakeSlack, server: BotServer) -> None:
    post = await slack.deliver_to(f"{server.origin}/slack/events").verify()

    assert (post.status, json.loads(post.body)["challenge"]) == (200, "challenge-1")


async def test_events_and_commands_are_posted_and_signed(
    slack: FakeSlack, server: BotServer, ann: Person, room: Channel
) -> None:
    said = room.says(ann, "hello", mention=True)
    command = room.commands(ann, "/gateway", "status & more")
    await slack.wait_acked()

    assert {event["type"] for event in server.events} == {"message", "app_mention"}
    assert {ack.event_id for ack in slack.acks} == {*said.event_ids, ""}
    assert server.commands[0]["text"] == "status & more"
    assert command.acks == [{"text": "got status & more"}]
    assert {post.status for post in slack.posts} == {200}
    assert all("x-slack-retry-num" not in headers for headers in server.headers)


@pytest.mark.parametrize(
    ("signature", "status"), [("bad", 401), ("stale", 401), ("missing", 401), ("not_integer", 500)]
)
async def test_a_wrong_signature_is_seen(
    slack: FakeSlack, server: BotServer, ann: Person, room: Channel, signature: Any, status: int
) -> None:
    hook = slack.deliver_to(f"{server.origin}/slack/events", signature)
    room.says(ann, "forged")
    await slack.wait(lambda: slack.posts)
    assert [post.status for post in slack.posts] == [status]
    assert (server.events, len(slack.unacked)) == ([], 1)

    hook.signature = "good"
    slack.expire_acks()
    await slack.wait_acked()
    headers = server.headers[-1]
    assert (headers["x-slack-retry-num"], headers["x-slack-retry-reason"]) == ("1", "http_error")
    assert server.events[0]["text"] == "forged"


async def test_a_bot_may_want_no_retry(slack: FakeSlack, server: BotServer, ann: Person, room: Channel) -> None:
    server.answers.append(web.Response(status=500, headers={"x-slack-no-retry": "1"}))
    said = room.says(ann, "hello")
    await slack.wait(lambda: said.deliveries[0].gone)

    assert slack.expire_acks() == []


async def test_a_bot_that_is_away_is_tried_again(
    slack: FakeSlack, server: BotServer, ann: Person, room: Channel
) -> None:
    await server.down()
    room.says(ann, "hello")
    await slack.wait(lambda: slack.posts)
    assert [(post.status, post.body) for post in slack.posts] == [(0, "connection_failed")]
    await server.up()
    slack.expire_acks()
    await slack.wait_acked()

    assert server.events[0]["text"] == "hello"


async def test_a_bot_that_is_slow_hears_it_again(
    slack: FakeSlack, server: BotServer, ann: Person, room: Channel
) -> None:
    server.goes.clear()
    room.says(ann, "hello")
    await slack.wait(lambda: server.headers)
    slack.expire_acks()
    await slack.wait(lambda: len(server.headers) == 2)
    server.goes.set()
    await slack.wait(lambda: len(slack.acks) == 2)

    assert server.headers[1]["x-slack-retry-reason"] == "http_timeout"
    assert [event["text"] for event in server.events] == ["hello", "hello"]


async def test_slack_hangs_up_when_the_time_is_over(ann: Person) -> None:
    async with FakeSlack(ack_within=0.05) as slack, BotServer(slack) as server:
        server.goes.clear()
        slack.deliver_to(f"{server.origin}/slack/events")
        said = slack.private(ann).says(ann, "hello")
        await slack.wait(lambda: len(slack.posts) == 4 and said.deliveries[0].gone)
        server.goes.set()

    assert {(post.status, post.body) for post in slack.posts} == {(0, "http_timeout")}


async def test_an_outage_of_slack_ends_its_posts_and_retries(
    slack: FakeSlack, server: BotServer, ann: Person, room: Channel
) -> None:
    server.goes.clear()
    room.says(ann, "hello")
    await slack.wait(lambda: server.headers)
    await slack.down()

    assert slack.hook is not None
    assert (slack.hook.running, slack.deliveries.timers, slack.posts) == (set(), set(), [])
    server.goes.set()
