"""Reading back from the fake Slack: history, threads, lists, and their pages."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession
from slack_sdk.web.async_client import AsyncWebClient

from tests.platforms.slack import Channel, FakeSlack, Person
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


def texts(answer: Any) -> list[str]:
    return [message["text"] for message in answer["messages"]]


async def pages(method: Any, key: str, **arguments: Any) -> list[list[Any]]:
    """Every page of a list, by its cursors."""
    found, cursor = [], ""
    while True:
        answer = await method(**arguments, **({"cursor": cursor} if cursor else {}))
        found.append(answer[key])
        cursor = answer.get("response_metadata", {}).get("next_cursor", "")
        if not cursor:
            return found


async def test_history_has_roots_and_broadcasts_newest_first(
    client: AsyncWebClient, ann: Person, room: Channel
) -> None:
    root = room.says(ann, "root")
    room.says(ann, "reply", thread=root)
    room.says(ann, "to all", thread=root, broadcast=True)
    room.says(ann, "last")
    answer = await client.conversations_history(channel="C1")

    assert texts(answer) == ["last", "to all", "root"]
    assert answer["messages"][2]["reply_count"] == 2
    assert answer["messages"][2]["thread_ts"] == root.ts
    assert not answer["has_more"]


async def test_history_has_what_was_edited_and_not_what_was_deleted(
    client: AsyncWebClient, ann: Person, room: Channel
) -> None:
    first, second, root = (room.says(ann, text) for text in ("frist", "oops", "root"))
    room.says(ann, "reply", thread=root)
    room.edits(ann, first, "first")
    room.deletes(second)
    room.deletes(root)

    assert texts(await client.conversations_history(channel="C1")) == ["This message was deleted.", "first"]
    assert texts(await client.conversations_replies(channel="C1", ts=root.ts))[1:] == ["reply"]


@pytest.mark.parametrize(
    ("bounds", "seen"),
    [
        ({}, "43210"),
        ({"oldest": 1}, "432"),
        ({"oldest": 1, "inclusive": True}, "4321"),
        ({"latest": 3}, "210"),
        ({"latest": 3, "inclusive": True}, "3210"),
        ({"oldest": 1, "latest": 3}, "2"),
    ],
)
async def test_history_has_the_time_between(
    client: AsyncWebClient, ann: Person, room: Channel, bounds: dict[str, Any], seen: str
) -> None:
    stamps = [room.says(ann, str(number)).ts for number in range(5)]
    named = {name: value if name == "inclusive" else stamps[value] for name, value in bounds.items()}

    assert texts(await client.conversations_history(channel="C1", **named)) == list(seen)


async def test_history_comes_in_pages(client: AsyncWebClient, ann: Person, room: Channel) -> None:
    stamps = [room.says(ann, str(number)).ts for number in range(6)]
    found = await pages(client.conversations_history, "messages", channel="C1", limit=2, oldest=stamps[0])

    assert [[message["text"] for message in page] for page in found] == [["5", "4"], ["3", "2"], ["1"]]


async def test_a_thread_comes_oldest_first_with_its_root_on_every_page(
    client: AsyncWebClient, ann: Person, room: Channel
) -> None:
    root = room.says(ann, "root")
    replies = [room.says(ann, str(number), thread=root) for number in range(5)]
    found = await pages(client.conversations_replies, "messages", channel="C1", ts=root.ts, limit=2)

    assert [[message["text"] for message in page] for page in found] == [
        ["root", "0", "1"],
        ["root", "2", "3"],
        ["root", "4"],
    ]
    since = await client.conversations_replies(channel="C1", ts=root.ts, oldest=replies[2].ts)
    assert texts(since) == ["root", "3", "4"]
    assert texts(await client.conversations_replies(channel="C1", ts=replies[1].ts)) == ["1"]


async def test_metadata_is_read_back_when_asked_for(client: AsyncWebClient, ann: Person, room: Channel) -> None:
    root = room.says(ann, "root")
    metadata = {"event_type": "part", "event_payload": {"id": "p1"}}
    await client.chat_postMessage(channel="C1", text="x", thread_ts=root.ts, metadata=metadata)
    asked = await client.conversations_replies(channel="C1", ts=root.ts, include_all_metadata=True)
    unasked = await client.conversations_replies(channel="C1", ts=root.ts)

    assert asked["messages"][1]["metadata"] == metadata
    assert "metadata" not in unasked["messages"][1]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"channel": "C9"}, "channel_not_found"),
        ({"channel": "C2"}, "not_in_channel"),
        ({"channel": "G2"}, "channel_not_found"),
        ({"channel": "C1", "cursor": "nonsense"}, "invalid_cursor"),
        ({"channel": "C1", "cursor": "dXNlcjox"}, "invalid_cursor"),
        ({"channel": "C1", "limit": 0}, "invalid_limit"),
        ({"channel": "C1", "oldest": "yesterday"}, "invalid_ts_oldest"),
    ],
)
async def test_readings_are_refused(
    slack: FakeSlack, client: AsyncWebClient, room: Channel, arguments: dict[str, Any], error: str
) -> None:
    slack.channel("C2", "away", bot_is_member=False)
    slack.group("G2", "secret", bot_is_member=False)

    assert await refused(client.conversations_history(**arguments)) == error


async def test_a_thread_that_is_not_there_is_refused(client: AsyncWebClient, room: Channel) -> None:
    assert await refused(client.conversations_replies(channel="C1", ts="1.1")) == "thread_not_found"


async def test_a_history_needs_its_kinds_scope(slack: FakeSlack, client: AsyncWebClient, ann: Person) -> None:
    slack.methods.scopes.remove("im:history")
    slack.private(ann)

    assert await refused(client.conversations_history(channel="D1")) == "missing_scope"


async def test_the_bots_conversations_are_listed_by_kind_and_page(
    slack: FakeSlack, client: AsyncWebClient, ann: Person, room: Channel
) -> None:
    slack.private(ann)
    slack.group("G1", "secret", [ann])
    slack.mpim("G3", [ann])
    slack.channel("C2", "away", bot_is_member=False)
    slack.channel("C3", "old").is_archived = True
    kinds = "public_channel,private_channel,mpim,im"
    found = await pages(client.users_conversations, "channels", types=kinds, limit=2)
    public = await client.users_conversations(exclude_archived=True)

    assert [[room["id"] for room in page] for page in found] == [["C1", "D1"], ["G1", "G3"], ["C3"]]
    assert [room["id"] for room in public["channels"]] == ["C1"]


async def test_a_conversation_describes_itself(
    slack: FakeSlack, client: AsyncWebClient, ann: Person, room: Channel
) -> None:
    room.sets_topic(ann, "news")
    slack.private(ann)
    channel = (await client.conversations_info(channel="C1"))["channel"]
    private = (await client.conversations_info(channel="D1"))["channel"]
    members = await client.conversations_members(channel="C1")

    assert (channel["name"], channel["is_member"], channel["topic"]["value"]) == ("general", True, "news")
    assert (private["is_im"], private["user"]) == (True, "U1")
    assert members["members"] == ["U1", "UBOT"]


async def test_bodies_may_be_forms_and_json_and_nothing_else(slack: FakeSlack, ann: Person, room: Channel) -> None:
    async with ClientSession(headers={"Authorization": f"Bearer {slack.bot_token}"}) as web:

        async def post(**body: Any) -> Any:
            async with web.post(f"{slack.url}chat.postMessage", **body) as answer:
                return await answer.json()

        assert (await post(data={"channel": "C1", "text": "form"}))["ok"]
        assert (await post(json={"channel": "C1", "text": "json"}))["ok"]
        broken = await post(data=b"{", headers={"Content-Type": "application/json"})

    assert [sent.text for sent in slack.sent] == ["form", "json"]
    assert (broken["ok"], broken["error"]) == (False, "invalid_json")


async def test_a_call_without_a_token_is_refused(slack: FakeSlack) -> None:
    async with ClientSession() as web, web.post(f"{slack.url}auth.test") as answer:
        assert (await answer.json())["error"] == "not_authed"
