"""Slack without Socket Mode: its events come to the gateway's own web server, under whatever name a proxy has."""

from aiohttp import ClientSession

from tests.platforms.openai import FakeOpenAI
from tests.platforms.slack import FakeSlack
from tests.support.gateway import Home


async def test_events_come_by_http_signed_and_are_answered() -> None:
    """C32: 200 only after the durable write; the page's guard is not for requests that prove whose they are."""
    async with FakeSlack() as slack, FakeOpenAI() as ai:
        settings = {"slack__app_token": None, "slack__signing_secret": slack.signing_secret, "slack__access": "open"}
        async with Home(None, ai, slack=slack, **settings) as home:
            gateway = await (await home.start()).connected("slack")
            hook = slack.deliver_to(f"{gateway.origin}/slack/events")
            assert (await hook.verify()).body == "challenge-1"

            zoe = slack.person("UZOE", "Zoe")
            channel = slack.channel("C1", "friends", members=[zoe])
            root = channel.says(zoe, "hello", mention=True)
            sent = await slack.wait_sent(lambda s: s.thread_ts == root.ts)
            assert sent.text == "echo: hello"
            command = slack.private(zoe).commands(zoe, "/gateway", "status")
            await slack.wait_sent(lambda s: "Nothing is running" in s.text)
            assert command.refused == ""

            hook.signature = "bad"
            channel.says(zoe, "forged", mention=True)
            await slack.wait(lambda: [post for post in slack.posts if post.status == 401])
            assert "forged" not in str([request.messages for request in ai.requests])
            assert slack.connections == []


async def test_a_proxys_name_is_answered_on_the_signed_path_alone() -> None:
    async with FakeSlack() as slack, FakeOpenAI() as ai:
        settings = {"slack__app_token": None, "slack__signing_secret": slack.signing_secret}
        async with Home(None, ai, slack=slack, **settings) as home:
            gateway = await (await home.start()).connected("slack")
            foreign = {"Host": "bot.example.org", "Origin": "https://elsewhere.example.org"}
            async with ClientSession() as web:
                async with web.post(f"{gateway.origin}/slack/events", data=b"{}", headers=foreign) as answer:
                    assert answer.status == 401, "unsigned, so refused by its signature and not by its name"
                async with web.get(f"{gateway.origin}/healthz", headers=foreign) as answer:
                    assert answer.status == 403


async def test_a_bot_token_alone_is_refused_in_a_line_that_says_what_to_set() -> None:
    async with FakeSlack() as slack, Home(None, None, slack=slack, slack__app_token=None) as home:
        told = await home.run("run")
        assert told.status == 2
        assert "slack.app_token" in told.err
        assert "slack.signing_secret" in told.err
