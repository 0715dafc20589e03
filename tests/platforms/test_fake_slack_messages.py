"""What the fake Slack stores and refuses of a bot, seen through the real client."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.platforms.slack import Channel, FakeSlack, Person
from tests.platforms.slack_bot import refused, web_client

Json = dict[str, Any]


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


def section(text: str) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def posts(text: str = "x", channel: str = "C1", **more: Any) -> Callable[[AsyncWebClient], Awaitable[Any]]:
    return lambda client: client.chat_postMessage(channel=channel, text=text, **more)


def blocks(*items: Json) -> Callable[[AsyncWebClient], Awaitable[Any]]:
    return posts(blocks=list(items))


TABLE = {"type": "table", "rows": [[{"type": "raw_text", "text": "a"}]]}

REFUSALS: dict[str, tuple[Callable[[AsyncWebClient], Awaitable[Any]], str]] = {
    "nothing": (lambda client: client.api_call("chat.postMessage", json={"channel": "C1"}), "no_text"),
    "a blank text": (
        lambda client: client.api_call("chat.postMessage", json={"channel": "C1", "text": " \n\t"}),
        "no_text",
    ),
    "40001 characters": (posts("x" * 40_001), "msg_too_long"),
    "12001 of markdown": (
        lambda client: client.chat_postMessage(channel="C1", markdown_text="x" * 12_001),
        "msg_too_long",
    ),
    "markdown beside a text": (posts("x", markdown_text="y"), "markdown_text_conflict"),
    "a section of 3001": (blocks(section("x" * 3001)), "invalid_blocks"),
    "an empty section": (blocks(section("")), "invalid_blocks"),
    "a section of nothing": (blocks({"type": "section"}), "invalid_blocks"),
    "eleven fields": (blocks({"type": "section", "fields": [section("x")["text"]] * 11}), "invalid_blocks"),
    "a header of 151": (
        blocks({"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}),
        "invalid_blocks",
    ),
    "a header in mrkdwn": (blocks({"type": "header", "text": {"type": "mrkdwn", "text": "x"}}), "invalid_blocks"),
    "eleven elements": (blocks({"type": "context", "elements": [section("x")["text"]] * 11}), "invalid_blocks"),
    "26 actions": (blocks({"type": "actions", "elements": [{"type": "button"}] * 26}), "invalid_blocks"),
    "a block without a type": (blocks({}), "invalid_blocks"),
    "a long block id": (blocks(section("x") | {"block_id": "i" * 256}), "invalid_blocks"),
    "one block id twice": (blocks(*[section("x") | {"block_id": "i"}] * 2), "invalid_blocks"),
    "51 blocks": (blocks(*[section("x")] * 51), "invalid_blocks"),
    "blocks that are no list": (posts(blocks='{"type": "section"}'), "invalid_blocks_format"),
    "blocks that are no JSON": (posts(blocks="["), "invalid_blocks_format"),
    "13201 characters in blocks": (blocks(*[section("x" * 2641)] * 5), "msg_blocks_too_long"),
    "12001 in markdown blocks": (blocks(*[{"type": "markdown", "text": "x" * 6001}] * 2), "msg_too_long"),
    "101 rows": (blocks(TABLE | {"rows": TABLE["rows"] * 101}), "invalid_blocks"),  # type: ignore[operator]
    "21 columns": (blocks(TABLE | {"rows": [[{"type": "raw_text", "text": "a"}] * 21]}), "invalid_blocks"),
    "two tables": (blocks(TABLE, TABLE), "invalid_attachments"),
    "an unknown channel": (posts(channel="C9"), "channel_not_found"),
    "an unknown user": (posts(channel="U9"), "channel_not_found"),
    "a channel without the bot": (posts(channel="C2"), "not_in_channel"),
    "a private channel without the bot": (posts(channel="G2"), "channel_not_found"),
    "an archive": (posts(channel="C3"), "is_archived"),
    "an unknown thread": (posts(thread_ts="1.000001"), "thread_not_found"),
    "metadata without a payload": (posts(metadata={"event_type": "x"}), "invalid_metadata_format"),
    "an edit of nothing": (lambda client: client.chat_update(channel="C1", ts="1.1", text="x"), "message_not_found"),
    "a deletion of nothing": (lambda client: client.chat_delete(channel="C1", ts="1.1"), "message_not_found"),
    "an unknown person": (lambda client: client.users_info(user="U9"), "user_not_found"),
    "a status without a thread": (
        lambda client: client.api_call("assistant.threads.setStatus", json={"channel_id": "D1", "status": "thinks"}),
        "invalid_arguments",
    ),
    "a status in an unknown thread": (
        lambda client: client.assistant_threads_setStatus(channel_id="C1", thread_ts="1.1", status="thinks"),
        "invalid_thread_ts",
    ),
    "a status with eleven lines": (
        lambda client: client.assistant_threads_setStatus(
            channel_id="C1", thread_ts="1.1", status="thinks", loading_messages=["x"] * 11
        ),
        "invalid_arguments",
    ),
    "a conversation with nobody": (lambda client: client.conversations_open(users=""), "users_list_not_supplied"),
    "a conversation with a stranger": (lambda client: client.conversations_open(users="U1,U9"), "user_not_found"),
    "an unknown method": (lambda client: client.api_call("chat.shout"), "unknown_method"),
}


@pytest.mark.parametrize("case", REFUSALS)
async def test_slack_refuses(slack: FakeSlack, client: AsyncWebClient, room: Channel, case: str) -> None:
    slack.channel("C2", "away", bot_is_member=False)
    slack.group("G2", "secret", bot_is_member=False)
    slack.channel("C3", "old").is_archived = True
    request, error = REFUSALS[case]

    assert await refused(request(client)) == error
    assert (slack.sent, slack.statuses) == ([], [])


@pytest.mark.parametrize(
    "request_",
    [
        posts("x" * 4000),
        blocks(section("x" * 3000)),
        blocks(*[section("x" * 2640)] * 5),
        blocks(*[section("x")] * 50),
        blocks(*[{"type": "markdown", "text": "x" * 6000}] * 2),
        blocks({"type": "header", "text": {"type": "plain_text", "text": "x" * 150}}),
        blocks(TABLE),
        lambda client: client.chat_postMessage(channel="C1", markdown_text="x" * 12_000),
    ],
)
async def test_what_just_fits_is_one_message(
    slack: FakeSlack, client: AsyncWebClient, room: Channel, request_: Callable[[AsyncWebClient], Awaitable[Any]]
) -> None:
    await request_(client)

    assert len(slack.sent) == 1


async def test_more_than_4000_characters_become_several_messages(
    slack: FakeSlack, client: AsyncWebClient, ann: Person, room: Channel
) -> None:
    root = room.says(ann, "root")
    answer = await client.chat_postMessage(channel="C1", text="x" * 4000 + "y", thread_ts=root.ts)

    assert [sent.text for sent in slack.sent] == ["x" * 4000, "y"]
    assert {sent.thread_ts for sent in slack.sent} == {root.ts}
    assert answer["ts"] == slack.sent[0].ts
    assert await refused(client.chat_update(channel="C1", ts=answer["ts"], text="x" * 4001)) == "msg_too_long"


async def test_a_reply_must_name_a_root(slack: FakeSlack, client: AsyncWebClient, ann: Person, room: Channel) -> None:
    root = room.says(ann, "root")
    reply = room.says(ann, "reply", thread=root)

    assert await refused(client.chat_postMessage(channel="C1", text="x", thread_ts=reply.ts)) == "thread_not_found"
    answer = await client.chat_postMessage(channel="C1", text="x", thread_ts=root.ts, reply_broadcast=True)
    assert (slack.sent[0].thread_ts, slack.sent[0].broadcast) == (root.ts, True)
    assert answer["message"]["subtype"] == "thread_broadcast"
    assert answer["message"]["parent_user_id"] == "U1"


async def test_messages_are_edited_and_deleted(
    slack: FakeSlack, client: AsyncWebClient, ann: Person, room: Channel
) -> None:
    metadata = {"event_type": "part", "event_payload": {"id": "p1"}}
    first = await client.chat_postMessage(channel="C1", text="frist", blocks=[section("frist")], metadata=metadata)
    await client.chat_update(channel="C1", ts=first["ts"], text="first")
    edited, kept = slack.sent[0], room.messages[first["ts"]]
    await client.chat_delete(channel="C1", ts=first["ts"])
    persons = room.says(ann, "mine")

    assert (edited.text, edited.blocks, edited.metadata, edited.edits) == ("first", (), metadata, 1)
    assert (kept["text"], "blocks" in kept, kept["edited"]["user"]) == ("first", False, "UBOT")
    assert slack.sent[0].deleted
    assert await refused(client.chat_update(channel="C1", ts=first["ts"], text="x")) == "message_not_found"
    assert await refused(client.chat_update(channel="C1", ts=persons.ts, text="x")) == "cant_update_message"
    assert await refused(client.chat_delete(channel="C1", ts=persons.ts)) == "cant_delete_message"


async def test_a_post_to_a_person_is_a_direct_message(slack: FakeSlack, client: AsyncWebClient, ann: Person) -> None:
    answer = await client.chat_postMessage(channel="U1", text="hi")
    opened = await client.conversations_open(users="U1")

    assert answer["channel"] == opened["channel"]["id"] == slack.sent[0].channel == "D1"


@pytest.mark.parametrize(
    ("more", "who"),
    [
        ({"text": "<!channel> <!here|here> <!everyone>"}, ["channel", "here", "everyone"]),
        ({"text": "<@U1> <@W2|bob> <!subteam^S1> <!subteam^S2|@all>"}, ["U1", "W2", "S1", "S2"]),
        ({"text": "&lt;!channel&gt; @channel @ann <#C1> <https://a.b>"}, []),
        ({"text": "@channel @ann", "parse": "full"}, ["channel", "U1"]),
        ({"text": "@here", "link_names": True}, ["here"]),
        ({"text": "x", "blocks": [section("<!here>")]}, ["here"]),
        ({"text": "x", "blocks": [{"type": "markdown", "text": "<@U1>"}]}, ["U1"]),
        ({"text": "x", "blocks": [{"type": "header", "text": {"type": "plain_text", "text": "<!here>"}}]}, []),
        (
            {"text": "x", "blocks": [{"type": "rich_text", "elements": [{"type": "broadcast", "range": "channel"}]}]},
            ["channel"],
        ),
    ],
)
async def test_it_is_known_whom_a_message_notifies(
    slack: FakeSlack, client: AsyncWebClient, ann: Person, room: Channel, more: Json, who: list[str]
) -> None:
    await client.chat_postMessage(channel="C1", **more)

    assert [ping.who for ping in slack.pings] == who


async def test_an_edit_notifies_whom_it_adds(slack: FakeSlack, client: AsyncWebClient, room: Channel) -> None:
    answer = await client.chat_postMessage(channel="C1", text="<@U1>")
    await client.chat_update(channel="C1", ts=answer["ts"], text="<@U1> <!here>")

    assert [ping.who for ping in slack.pings] == ["U1", "here"]


async def test_metadata_goes_when_it_is_replaced_by_nothing(
    slack: FakeSlack, client: AsyncWebClient, room: Channel
) -> None:
    metadata = {"event_type": "part", "event_payload": {"id": "p1"}}
    answer = await client.chat_postMessage(channel="C1", text="x", metadata=metadata)
    await client.chat_update(channel="C1", ts=answer["ts"], text="y", metadata={})

    assert slack.sent[0].metadata is None


async def test_a_conversation_of_several_is_opened(slack: FakeSlack, client: AsyncWebClient, ann: Person) -> None:
    slack.person("U2", "Bob")
    opened = (await client.conversations_open(users="U1,U2"))["channel"]["id"]
    again = (await client.conversations_open(users="U2,U1"))["channel"]["id"]

    assert opened == again
    assert slack.world.channels[opened].kind == "mpim"


async def test_a_status_is_kept(slack: FakeSlack, client: AsyncWebClient, ann: Person) -> None:
    root = slack.private(ann).says(ann, "hi")
    await client.assistant_threads_setStatus(
        channel_id="D1", thread_ts=root.ts, status="thinks", loading_messages=["a", "b"]
    )
    status = slack.statuses[0]

    assert (status.channel, status.thread_ts, status.status) == ("D1", root.ts, "thinks")
    assert status.loading_messages == ("a", "b")


async def test_who_the_bot_is_and_who_people_are(slack: FakeSlack, client: AsyncWebClient, ann: Person) -> None:
    slack.person("U2", "Olga", is_owner=True)
    me = await client.auth_test()
    olga = (await client.users_info(user="U2"))["user"]

    assert (me["user_id"], me["bot_id"], me["team_id"]) == ("UBOT", "BBOT", "T1")
    assert "chat:write" in me.headers["x-oauth-scopes"]
    assert (olga["is_admin"], olga["is_owner"]) == (True, True)
    assert not (await client.users_info(user="U1"))["user"]["is_admin"]


async def test_a_missing_scope_is_named(slack: FakeSlack, client: AsyncWebClient, ann: Person) -> None:
    slack.methods.scopes.remove("users:read")
    with pytest.raises(SlackApiError) as caught:
        await client.users_info(user="U1")

    assert (caught.value.response["error"], caught.value.response["needed"]) == ("missing_scope", "users:read")


async def test_times_grow_in_a_conversation_though_the_clock_stands(ann: Person) -> None:
    async with FakeSlack(clock=lambda: 1_700_000_000.0) as slack:
        first, second = slack.channel("C1", "one", [ann]), slack.channel("C2", "two", [ann])
        stamps = [first.says(ann, str(number)).ts for number in range(3)]

        assert stamps == sorted(set(stamps))
        assert second.says(ann, "x").ts == stamps[0]
