"""What the fake Discord refuses, and the faults that it injects, as the real SDK sees them."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from tests.platforms.discord import (
    Channel,
    DropReply,
    FakeDiscord,
    Person,
    Refuse,
    Rejects,
    RetryAfter,
    ServerError,
    Slow,
)
from tests.platforms.sdk_discord import Client, connected, discord, pointed

POST = "POST /channels/{channel}/messages"


@pytest.fixture
async def fake(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as server:
        pointed(monkeypatch, server)
        yield server


@pytest.fixture
def ann(fake: FakeDiscord) -> Person:
    return fake.person(2, "Ann")


@pytest.fixture
def room(fake: FakeDiscord, ann: Person) -> Channel:
    return fake.guild(100, "Friends", members=[ann]).text("general", 200)


@pytest.fixture
async def client(fake: FakeDiscord, room: Channel) -> AsyncIterator[Client]:
    async with connected(fake) as sdk:
        yield sdk


@pytest.fixture
def to(client: Client) -> discord.PartialMessageable:
    return client.get_partial_messageable(200)


async def code(sending: Any) -> int:
    with pytest.raises(discord.HTTPException) as refused:
        await sending
    return refused.value.code


async def test_a_text_has_at_most_2000_code_points(fake: FakeDiscord, to: discord.PartialMessageable) -> None:
    await to.send("😀" * 2000)
    with pytest.raises(discord.HTTPException, match="In content: Must be 2000 or fewer in length") as refused:
        await to.send("😀" * 2001)

    assert (refused.value.status, refused.value.code, len(fake.sent)) == (400, 50035, 1)


async def test_blank_texts_long_nonces_and_half_characters_are_refused(to: discord.PartialMessageable) -> None:
    assert await code(to.send(" \n ")) == 50006
    assert await code(to.send("a", nonce="n" * 26)) == 50035
    assert await code(to.send("\ud83d")) == 50109
    both = {"content": "a", "allowed_mentions": {"parse": ["users"], "users": ["2"]}}
    sending = to._state.http.request(discord.http.Route("POST", "/channels/200/messages"), json=both)
    assert await code(sending) == 50035


async def test_a_reply_to_what_is_gone_is_refused_or_sent_plainly(
    fake: FakeDiscord, to: discord.PartialMessageable, room: Channel, ann: Person
) -> None:
    gone = room.says(ann, "gone")
    room.deletes(gone)
    strict = discord.MessageReference(message_id=int(gone.id), channel_id=200)
    gentle = discord.MessageReference(message_id=int(gone.id), channel_id=200, fail_if_not_exists=False)
    joined = discord.MessageReference(message_id=int(room.joins(ann).id), channel_id=200)

    assert await code(to.send("a", reference=strict)) == 50035
    assert (await to.send("b", reference=gentle)).reference is None
    with pytest.raises(discord.HTTPException, match="Cannot reply to a system message"):
        await to.send("c", reference=joined)


async def test_channels_that_do_not_take_messages(
    fake: FakeDiscord, client: Client, to: discord.PartialMessageable, room: Channel, ann: Person
) -> None:
    assert room.guild
    forum = room.guild.forum("help")
    dm = fake.private(ann)
    dm.refuses = 50007
    assert await code(client.get_partial_messageable(999).send("a")) == 10003
    assert await code(client.get_partial_messageable(int(forum.id)).send("a")) == 50008
    assert await code(client.get_partial_messageable(int(dm.id)).send("a")) == 50007

    room.refuses = 50013
    assert await code(to.send("a")) == 50013
    assert [message async for message in to.history()] == []
    room.refuses = 50001
    assert await code(to.fetch_message(1)) == 50001


async def test_a_thread_wakes_up_unless_it_is_locked(
    fake: FakeDiscord, client: Client, room: Channel, ann: Person
) -> None:
    thread = room.thread("aside")
    channel = client.get_partial_messageable(int(thread.id))
    message = await channel.send("first")
    thread.closes()
    assert await code(message.edit(content="no")) == 50083
    await channel.send("wakes it")
    assert not thread.archived

    thread.closes(locked=True)
    assert await code(channel.send("no")) == 160005


async def test_messages_of_others_are_not_the_bots_to_change(
    to: discord.PartialMessageable, room: Channel, ann: Person
) -> None:
    said = int(room.says(ann, "mine").id)
    assert await code(to.get_partial_message(said).edit(content="yours")) == 50005
    assert await code(to.get_partial_message(said).delete()) == 50013
    assert await code(to.get_partial_message(1).delete()) == 10008


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 101}, {"after": 1, "before": 2}, {"after": "x"}])
async def test_pages_of_history_have_bounds(client: Client, room: Channel, query: dict[str, Any]) -> None:
    asking = client.http.request(discord.http.Route("GET", "/channels/200/messages"), params=query)

    assert await code(asking) == 50035


async def test_json_has_exactly_its_content_type_and_headers_of_a_bucket(fake: FakeDiscord, room: Channel) -> None:
    async with aiohttp.ClientSession(headers={"Authorization": f"Bot {fake.token}"}) as http:
        async with http.get(f"{fake.url}/channels/200") as response:
            headers = response.headers
            assert headers["Content-Type"] == "application/json"
            assert {f"X-RateLimit-{name}" for name in ("Limit", "Remaining", "Reset", "Reset-After", "Bucket")} <= {
                *headers
            }
        async with http.get(f"{fake.url}/nothing") as response:
            assert (response.status, await response.json()) == (404, {"message": "404: Not Found", "code": 0})
    async with aiohttp.ClientSession() as http, http.get(f"{fake.url}/channels/200") as response:
        assert (response.status, await response.json()) == (401, {"message": "401: Unauthorized", "code": 0})


async def test_a_429_and_a_500_are_tried_again_by_the_sdk(fake: FakeDiscord, to: discord.PartialMessageable) -> None:
    fake.inject("/channels/200/messages", ServerError(500))
    fake.inject(POST, RetryAfter(0.01), times=2)  # type: ignore[arg-type]
    await to.send("at last")

    assert [call.body["content"] for call in fake.calls_of(POST)] == ["at last"] * 4
    assert len({call.body["nonce"] for call in fake.calls_of(POST)}) == 1
    assert [sent.content for sent in fake.sent] == ["at last"]


async def test_a_lost_answer_leaves_the_message_and_a_cut_call_leaves_none(
    fake: FakeDiscord, to: discord.PartialMessageable
) -> None:
    fake.inject(POST, DropReply())
    fake.inject(POST, Refuse())
    for text in ("arrived", "lost"):
        with pytest.raises((aiohttp.ClientError, OSError)):
            await to.send(text, nonce=text)
    again = await to.send("arrived", nonce="arrived")

    assert [sent.content for sent in fake.sent] == ["arrived"]
    assert again.id == int(fake.sent[0].message_id)


async def test_a_fault_can_be_any_refusal_a_page_or_a_delay(fake: FakeDiscord, to: discord.PartialMessageable) -> None:
    fake.inject(POST, Rejects(403, "Missing Access", {"code": 50001}), when=lambda call: call.body["content"] == "a")
    fake.inject("GET /channels/{channel}", ServerError(503, html=True))
    assert await code(to.send("a")) == 50001
    with pytest.raises(discord.DiscordServerError):
        await to._state.http.get_channel(200)

    gate = asyncio.Event()
    fake.inject(POST, Slow(gate, after=True))
    sending = asyncio.ensure_future(to.send("slow"))
    await fake.wait_sent(1)
    assert not sending.done()
    gate.set()
    await sending


async def test_an_injection_for_ever_ends_when_it_is_cancelled(
    fake: FakeDiscord, to: discord.PartialMessageable
) -> None:
    away = fake.inject(POST, Rejects(403, "Missing Permissions", {"code": 50013}), times=None)
    assert [await code(to.send("a")) for _ in range(2)] == [50013, 50013]
    away.cancel()
    await to.send("a")

    assert away.hits == 2
