"""Sessions of the fake gateway: what breaks, what is replayed, what is not."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.platforms.discord import Channel, FakeDiscord, Person
from tests.platforms.sdk_discord import Client, connected, discord, pointed

IDENTIFY = {"op": 2, "d": {"token": "discord-token", "intents": 1, "properties": {}}}


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


def texts(client: Client) -> list[str]:
    return [message.content for message in client.heard]


@pytest.mark.parametrize("code", [None, 1000, 4000, 4009])
async def test_what_is_said_while_the_socket_is_gone_is_replayed(
    fake: FakeDiscord, client: Client, room: Channel, ann: Person, code: int | None
) -> None:
    room.says(ann, "before")
    await client.hears()
    fake.disconnect(code)
    room.says(ann, "meanwhile")
    await client.hears(2)
    room.says(ann, "after")
    await client.hears(3)

    assert texts(client) == ["before", "meanwhile", "after"]
    assert [(resume.session_id, resume.taken) for resume in fake.resumes] == [("session1", True)]
    assert [(end.code, end.by_client) for end in fake.closes] == [(code or 1006, False)]
    assert len(fake.identifies) == 1


async def test_a_client_asked_to_reconnect_resumes(
    fake: FakeDiscord, client: Client, room: Channel, ann: Person
) -> None:
    fake.reconnect()
    await fake.wait(lambda: fake.resumes)
    room.says(ann, "here")
    await client.hears()

    assert (texts(client), len(fake.identifies)) == (["here"], 1)
    assert fake.closes[0].by_client


async def test_an_invalid_session_begins_anew_and_hears_nothing_of_the_gap(
    fake: FakeDiscord, client: Client, room: Channel, ann: Person
) -> None:
    fake.invalidate()
    room.says(ann, "in the gap")
    await fake.wait_session(2)
    room.says(ann, "after")
    await client.hears()

    assert texts(client) == ["after"]
    assert (fake.resumes, len(fake.identifies)) == ([], 2)


async def test_a_session_given_up_too_long_ago_cannot_be_resumed(
    fake: FakeDiscord, client: Client, room: Channel, ann: Person
) -> None:
    fake.gateway.session_life = -1
    fake.disconnect()
    room.says(ann, "in the gap")
    await fake.wait_session(2)
    room.says(ann, "after")
    await client.hears()

    assert texts(client) == ["after"]
    assert [resume.taken for resume in fake.resumes] == [False]


async def test_a_zombie_is_noticed_and_what_it_missed_is_replayed(
    fake: FakeDiscord, room: Channel, ann: Person
) -> None:
    fake.gateway.heartbeat_interval = 0.05
    async with connected(fake, heartbeat_timeout=0.3) as client:
        fake.mute()
        room.says(ann, "into the void")
        await client.hears()

        assert texts(client) == ["into the void"]
    assert fake.resumes[0].taken


@pytest.mark.parametrize(
    ("frame", "after"),
    [("message", False), ("message", True), ("heartbeat", False), ("heartbeat_ack", False), ("resumed", False)],
)
async def test_a_cut_at_any_frame_of_a_session_loses_no_message(
    fake: FakeDiscord, room: Channel, ann: Person, frame: str, after: bool
) -> None:
    fake.gateway.heartbeat_interval = 0.05
    async with connected(fake) as client:
        cut = fake.disconnect_at(frame, after=after)
        room.says(ann, "one")
        fake.disconnect()
        room.says(ann, "two")
        await client.hears(2)
        await fake.wait(lambda: cut.hits)

        assert texts(client) == ["one", "two"]
    assert len(fake.identifies) == 1


@pytest.mark.parametrize("frame", ["guild_create", "ready", "identify"])
async def test_a_cut_while_a_session_begins_is_survived(
    fake: FakeDiscord, room: Channel, ann: Person, frame: str
) -> None:
    cut = fake.disconnect_at(frame)
    async with connected(fake) as client:
        await fake.wait(lambda: fake.resumes)
        if frame == "ready":
            await fake.wait_session(2)
        room.says(ann, "here")
        await client.hears()

        assert texts(client) == ["here"]
    assert cut.hits == 1


async def test_an_outage_of_all_is_survived(fake: FakeDiscord, client: Client, room: Channel, ann: Person) -> None:
    await fake.down()
    room.says(ann, "meanwhile")
    await fake.up()
    await client.hears()

    assert texts(client) == ["meanwhile"]


async def test_a_client_that_says_goodbye_gives_its_session_up(fake: FakeDiscord, room: Channel, ann: Person) -> None:
    """By hand: the SDK's `Client.close` ends with 4000, a session that might be resumed."""
    async with aiohttp.ClientSession() as http, http.ws_connect(fake.gateway_url) as ws:
        await ws.send_json(IDENTIFY)
        await fake.wait_session()
        await ws.close(code=1000)
        await fake.wait(lambda: fake.closes)
        room.thread("that nobody hears of", by=ann)
        async with http.ws_connect(fake.gateway_url) as late:
            await late.receive_json()
            await late.send_json({"op": 6, "d": {"token": fake.token, "session_id": "session1", "seq": 2}})
            assert await late.receive_json() == {"op": 9, "d": False}

    assert next((end.code, end.by_client, end.session_id) for end in fake.closes) == (1000, True, "session1")
    assert [frame["t"] for frame in fake.world.sessions[0].frames] == ["READY", "GUILD_CREATE"]


async def test_a_wrong_token_and_an_intent_that_is_off_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeDiscord(message_content=False) as fake:
        pointed(monkeypatch, fake)
        with pytest.raises(discord.LoginFailure):
            async with connected(fake, "wrong"):
                pass
        with pytest.raises(discord.PrivilegedIntentsRequired):
            async with connected(fake):
                pass

        assert [end.code for end in fake.closes] == [4014]


async def test_without_the_content_intent_a_guilds_text_is_empty_unless_the_bot_is_meant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with FakeDiscord(message_content=False) as fake:
        pointed(monkeypatch, fake)
        ann = fake.person(2, "Ann")
        room = fake.guild(100, "Friends", members=[ann]).text("general", 200)
        async with connected(fake, intents=discord.Intents.default()) as client:
            said = room.says(ann, "gossip", attachments=[("a.txt", b"x")])
            room.says(ann, "you", mention=True)
            room.says(ann, "role", role_mention=True)
            fake.private(ann).says(ann, "private")
            heard = await client.hears(4)
            fetched = await client.get_partial_messageable(200).fetch_message(int(said.id))
            info = await client.application_info()

    assert [message.content for message in heard] == ["", "<@1> you", "", "private"]
    assert (heard[0].attachments, fetched.content, fetched.attachments) == ([], "", [])
    assert [role.id for role in heard[2].role_mentions] == [int(fake.bot.role_id)]
    assert not info.flags.gateway_message_content_limited


async def test_the_intent_that_is_on_shows_in_the_applications_flags(client: Client) -> None:
    assert (await client.application_info()).flags.gateway_message_content_limited


async def test_only_the_events_of_its_intents_reach_a_session(fake: FakeDiscord, room: Channel, ann: Person) -> None:
    async with connected(fake, intents=discord.Intents(guilds=True, dm_messages=True)) as client:
        room.says(ann, "in the guild")
        fake.private(ann).says(ann, "in private")
        await client.hears()

        assert texts(client) == ["in private"]


async def test_a_guild_a_channel_and_a_thread_may_come_and_go(fake: FakeDiscord, client: Client, ann: Person) -> None:
    other = fake.guild(300, "Late", members=[ann]).text("late", 400)
    thread = other.thread("aside")
    thread.says(ann, "deep")
    assert isinstance((await client.hears(2))[1].channel, discord.Thread)

    other.disappears()
    fake.private(ann).says(ann, "done")
    await client.hears(3)
    assert client.get_channel(400) is None


@pytest.mark.parametrize(
    ("code", "frames"),
    [
        (4002, ["no json"]),
        (4002, [{"op": 99, "d": None}]),
        (4003, [{"op": 3, "d": {}}]),
        (4004, [{"op": 2, "d": {"token": "wrong"}}]),
        (4004, [{"op": 6, "d": {"token": "wrong", "session_id": "session1", "seq": 1}}]),
        (4005, [IDENTIFY, IDENTIFY]),
        (4007, [IDENTIFY, {"op": 6, "d": {"token": "discord-token", "session_id": "session1", "seq": 9}}]),
        (4013, [{"op": 2, "d": {"token": "discord-token", "intents": 1 << 30}}]),
    ],
)
async def test_what_the_gateway_refuses_closes_the_socket_with_its_code(
    fake: FakeDiscord, code: int, frames: list[object]
) -> None:
    async with aiohttp.ClientSession() as http, http.ws_connect(fake.gateway_url) as ws:
        for frame in frames:
            await (ws.send_str(frame) if isinstance(frame, str) else ws.send_json(frame))
        while (await ws.receive()).type is aiohttp.WSMsgType.TEXT:
            pass

        assert ws.close_code == code


async def test_a_malformed_message_ends_the_sdks_client(fake: FakeDiscord, room: Channel, ann: Person) -> None:
    """What the product must survive: one bad event stops `Client.start` (facts 0)."""
    with pytest.raises(TypeError):
        async with connected(fake) as client:
            room.says(ann, "x", raw={"author": None})
            await client.hears(1)


async def test_a_first_connection_cut_before_hello_ends_the_sdks_client(fake: FakeDiscord) -> None:
    """What the product must survive, too: `Client.start` asks a socket that it never had for its sequence."""
    fake.disconnect_at("hello")
    with pytest.raises(AttributeError):
        async with connected(fake):
            pass


async def test_each_shard_hears_its_own_guilds(fake: FakeDiscord, ann: Person) -> None:
    """By hand: the number of a guild's shard is its id without the last 22 bits, by the count of shards."""
    rooms = [fake.guild(number << 22, f"guild {number}").text("general") for number in (2, 3)]
    async with aiohttp.ClientSession(headers={"Authorization": f"Bot {fake.token}"}) as http:
        async with http.get(f"{fake.url}/gateway/bot") as response:
            url = (await response.json())["url"]
        async with http.ws_connect(url) as zero, http.ws_connect(url) as one:
            for number, ws in enumerate((zero, one)):
                await ws.send_json({"op": 2, "d": {"token": fake.token, "intents": 4609, "shard": [number, 2]}})
                await fake.wait_session(number + 1)
            for room in rooms:
                room.says(ann, "to one shard")
            fake.private(ann).says(ann, "to shard 0")

    heard = [[frame["d"].get("guild_id") for frame in session.frames[2:]] for session in fake.world.sessions]
    assert url == fake.gateway_url
    assert heard == [[str(2 << 22), None], [str(3 << 22)]]
