"""Receiving over HTTP: signatures, the challenge, and answers that say what was taken."""

import json
import time
from urllib.parse import urlencode

import pytest
from aiohttp import ClientSession

from gateway.channel import Health
from gateway.errors import Retryable
from tests.channels.slack.rig import ACCOUNT, Ear, Gateway, Rig, soon
from tests.platforms.slack import Channel, FakeSlack, Person
from tests.platforms.slack_http import Signature


async def test_messages_come_in_over_http_and_no_socket_is_opened(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, room: Channel, ann: Person
) -> None:
    async with rig.hooked(ear) as channel:
        chat.says(ann, "hello")
        room.says(ann, "you there", mention=True)
        await slack.wait_acked()

        assert channel.health == Health("connected", "waits for events at /slack/events")
    assert sorted(message.text for message in ear.heard) == ["hello", "you there"]
    assert (slack.connections, slack.calls_of("apps.connections.open")) == ([], [])
    assert {post.status for post in slack.posts} == {200}


async def test_f12_messages_posted_one_after_the_other_keep_their_order(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    ear.fails = [Retryable("redis is away")]
    async with rig.hooked(ear):
        for number in range(10):
            chat.says(ann, str(number))
            await slack.wait(lambda n=number: len(slack.posts) > n)

    assert [message.text for message in ear.heard] == [str(number) for number in range(10)]


@pytest.mark.parametrize("signature", ["bad", "stale", "not_integer", "missing"])
async def test_what_is_not_signed_well_is_refused(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person, signature: Signature
) -> None:
    async with rig.hooked(ear):
        assert slack.hook is not None
        slack.hook.signature = signature
        chat.says(ann, "hello")
        await slack.wait(lambda: slack.posts)

    assert [post.status for post in slack.posts] == [401]
    assert ear.called == 0


async def test_a_signature_of_strange_letters_is_a_bad_one(rig: Rig, ear: Ear) -> None:
    async with Gateway(rig.channel(app_token=None, signing_secret="s")) as gateway, ClientSession() as web:
        headers = {"X-Slack-Request-Timestamp": str(int(time.time())), "X-Slack-Signature": "v0=\u00e9"}
        async with web.post(f"{gateway.origin}/slack/events", data=b"{}", headers=headers) as answer:
            assert answer.status == 401


async def test_slacks_challenge_is_answered(slack: FakeSlack, rig: Rig, ear: Ear) -> None:
    async with rig.hooked(ear):
        assert slack.hook is not None
        post = await slack.hook.verify()

    assert (post.status, post.body) == (200, "challenge-1")


async def test_c32_what_is_not_received_in_time_is_not_taken_and_comes_again(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    ear.opened.clear()
    async with rig.hooked(ear):
        chat.says(ann, "hello")
        await slack.wait(lambda: slack.posts)
        assert slack.posts[0].status == 503
        ear.opened.set()
        slack.expire_acks()
        await slack.wait_acked()

    assert [post.status for post in slack.posts] == [503, 200]
    assert (len(ear.heard), len(ear.again)) == (1, 1)


async def test_before_the_account_is_known_nothing_is_taken(
    slack: FakeSlack, rig: Rig, chat: Channel, ann: Person
) -> None:
    channel = rig.channel(app_token=None, signing_secret=slack.signing_secret)
    async with Gateway(channel) as gateway:
        slack.deliver_to(f"{gateway.origin}/slack/events")
        chat.says(ann, "hello")
        await slack.wait(lambda: slack.posts)

    assert slack.posts[0].status == 503


async def test_a_slash_command_comes_as_a_form(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    """Bolt takes a form that contains the word payload for an empty one."""
    async with rig.hooked(ear):
        chat.commands(ann, "/gateway", "search the payload")
        await slack.wait_acked()

    assert [message.text for message in ear.heard] == ["/search the payload"]


async def test_interactivity_is_acknowledged(slack: FakeSlack, rig: Rig, ear: Ear) -> None:
    async with rig.hooked(ear), ClientSession() as web:
        assert slack.hook is not None
        for body, status in (
            (urlencode({"payload": json.dumps({"type": "block_actions", "user": {"id": "U1"}})}), 200),
            (urlencode({"ssl_check": "1", "token": "t"}), 200),
            (urlencode({"payload": "no json"}), 400),
            (urlencode({"payload": "[]"}), 400),
        ):
            headers = {"Content-Type": "application/x-www-form-urlencoded", **slack.hook._signed(body)}
            async with web.post(slack.hook.url, data=body, headers=headers) as answer:
                assert answer.status == status


async def test_with_a_socket_there_are_no_routes(slack: FakeSlack, rig: Rig) -> None:
    assert rig.channel(signing_secret=slack.signing_secret).routes() == []


async def test_a_worker_in_http_mode_only_sends(slack: FakeSlack, rig: Rig) -> None:
    async with rig.running(None, app_token=None, signing_secret=slack.signing_secret) as channel:
        await soon(lambda: channel.can_send)
        assert (channel.account, channel.health.detail) == (ACCOUNT, "sends alone")
