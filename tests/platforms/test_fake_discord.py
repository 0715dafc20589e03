"""People, channels and messages of the fake Discord, seen through the real SDK."""

from collections.abc import AsyncIterator

import pytest

from tests.platforms.discord import FakeDiscord, Guild, Person
from tests.platforms.sdk_discord import Client, connected, discord, pointed


@pytest.fixture
async def fake(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as server:
        pointed(monkeypatch, server)
        yield server


@pytest.fixture
def ann(fake: FakeDiscord) -> Person:
    return fake.person(2, "Ann")


@pytest.fixture
def guild(fake: FakeDiscord, ann: Person) -> Guild:
    return fake.guild(100, "Friends", members=[ann])


@pytest.fixture
async def client(fake: FakeDiscord, guild: Guild) -> AsyncIterator[Client]:
    guild.text("general", 200)
    async with connected(fake) as sdk:
        yield sdk


async def test_a_message_in_a_channel_a_thread_a_forum_post_and_a_dm(
    fake: FakeDiscord, client: Client, guild: Guild, ann: Person
) -> None:
    general = fake.world.channels["200"]
    general.says(ann, "in general", mention=True)
    general.thread("aside").says(ann, "in a thread")
    post = guild.forum("help").post("how?", ann, "in a post")
    fake.private(ann).says(ann, "in private")
    heard = {message.content: message for message in await client.hears(5)}

    assert [message.type.name for message in heard.values()][1] == "thread_created"
    assert heard["<@1> in general"].mentions == [client.user]
    assert isinstance(heard["<@1> in general"].author, discord.Member)
    assert isinstance(heard["in a thread"].channel, discord.Thread)
    assert heard["in a thread"].channel.parent_id == 200
    assert heard["in a post"].id == heard["in a post"].channel.id == int(post.id)
    assert isinstance(heard["in private"].channel, discord.DMChannel)
    assert heard["in private"].guild is None


async def test_what_was_there_before_the_session_is_read_from_history(fake: FakeDiscord, ann: Person) -> None:
    general = fake.guild(100, "Friends").text("general", 200)
    root = general.says(ann, "root")
    assert general.thread("aside", root).id == root.id
    said = [general.says(ann, f"number {number}") for number in range(250)]
    async with connected(fake) as client:
        await client.wait_until_ready()
        channel = client.get_channel(200)
        assert isinstance(channel, discord.TextChannel)
        after = [message.content async for message in channel.history(after=discord.Object(said[9].id), limit=None)]
        last = [message.content async for message in channel.history(limit=2)]
        first = [m.type.name async for m in channel.threads[0].history(oldest_first=True)]
        around = [m.content async for m in channel.history(around=discord.Object(said[5].id), limit=3)]

        assert client.heard == []
    assert after == [f"number {number}" for number in range(10, 250)]
    assert last == ["number 249", "number 248"]
    assert first == ["thread_starter_message"]
    assert around == ["number 6", "number 5", "number 4"]


async def test_a_person_replies_to_the_bot_with_and_without_calling_it(
    fake: FakeDiscord, client: Client, ann: Person
) -> None:
    general = fake.world.channels["200"]
    await client.get_partial_messageable(200).send("question?")
    question = (await fake.wait_sent(1))[0]
    general.says(ann, "answer", reply_to=question)
    general.says(ann, "quiet answer", reply_to=question, ping=False)
    general.says(ann, "hey", role_mention=True)
    loud, quiet, role = await client.hears(3)

    for message in (loud, quiet):
        assert message.type is discord.MessageType.reply
        assert message.reference
        assert isinstance(message.reference.resolved, discord.Message)
        assert message.reference.resolved.author == client.user
    assert [[user.id for user in message.mentions] for message in (loud, quiet, role)] == [[1], [], []]
    assert role.content == f"<@&{fake.bot.role_id}> hey"
    assert [mentioned.is_bot_managed() for mentioned in role.role_mentions] == [True]


async def test_edits_deletions_pins_joins_webhooks_and_other_bots(
    fake: FakeDiscord, client: Client, guild: Guild, ann: Person
) -> None:
    general = fake.world.channels["200"]
    said = general.says(ann, "frist")
    general.edits(said, "first")
    general.pins(ann, said)
    general.joins(fake.person(3, "Bob"))
    general.webhook("news", "from outside")
    general.says(fake.person(4, "Robot", is_bot=True), "beep")
    general.deletes(said)
    _, pin, join, webhook, robot = await client.hears(5)
    await client.until(lambda: len(client.changes) == 3)

    assert client.changes == [f"edit {said.id} first", f"edit {said.id} first", f"delete {said.id}"]
    assert (pin.type, pin.reference and pin.reference.message_id) == (discord.MessageType.pins_add, int(said.id))
    assert join.type is discord.MessageType.new_member
    assert (webhook.webhook_id, webhook.author.bot) == (webhook.author.id, True)
    assert (robot.webhook_id, robot.author.bot) == (None, True)


async def test_the_same_message_may_come_twice(fake: FakeDiscord, client: Client, ann: Person) -> None:
    general = fake.world.channels["200"]
    general.redeliver(general.says(ann, "once"))
    once, again = await client.hears(2)

    assert (once.id, once.content) == (again.id, again.content)


async def test_attachments_can_be_fetched(fake: FakeDiscord, client: Client, ann: Person) -> None:
    fake.private(ann).says(ann, attachments=[("a.txt", b"text")])
    message = (await client.hears())[0]

    assert message.content == ""
    assert (message.attachments[0].filename, await message.attachments[0].read()) == ("a.txt", b"text")


async def test_the_bot_answers_quotes_edits_and_deletes(fake: FakeDiscord, client: Client, ann: Person) -> None:
    room = fake.private(ann)
    room.says(ann, "hi")
    message = (await client.hears())[0]
    reply = await message.reply("  hello  ", mention_author=False)
    await reply.edit(content="hello!")
    files = await message.channel.send(file=discord.File(__file__, "test.py"))
    await files.delete()
    async with message.channel.typing():
        pass
    answer, upload = fake.sent

    assert (answer.content, answer.edits, answer.reply_to, answer.deleted) == ("hello!", 1, str(message.id), False)
    assert (answer.channel_id, answer.message_id) == (room.id, str(reply.id))
    assert (upload.files[0].name, upload.deleted) == ("test.py", True)
    assert [shown.channel_id for shown in fake.typing] == [room.id]
    assert [stored["content"] for stored in room.messages.values()] == ["hi", "hello!"]


async def test_a_nonce_within_minutes_brings_back_the_earlier_message(
    monkeypatch: pytest.MonkeyPatch, ann: Person
) -> None:
    now = [1_800_000_000.0]
    async with FakeDiscord(clock=lambda: now[0]) as fake:
        pointed(monkeypatch, fake)
        room = fake.private(ann)
        async with connected(fake) as client:
            channel = client.get_partial_messageable(int(room.id))
            first = await channel.send("a", nonce="part-1")
            again = await channel.send("a", nonce="part-1")
            other = await channel.send("b", nonce="part-2")
            now[0] += 600
            late = await channel.send("a", nonce="part-1")

    assert (first.id, first.content, first.nonce) == (again.id, again.content, again.nonce)
    assert len({first.id, other.id, late.id}) == 3
    assert [(sent.content, sent.nonce) for sent in fake.sent] == [("a", "part-1"), ("b", "part-2"), ("a", "part-1")]
    assert all(sent.enforce_nonce for sent in fake.sent)


async def test_nobody_is_called_unless_allowed_mentions_says_so(
    fake: FakeDiscord, client: Client, guild: Guild, ann: Person
) -> None:
    role = guild.role("team")
    channel = client.get_partial_messageable(200)
    text = f"<@2> <@&{role.id}> @everyone"
    await channel.send(text)
    assert (fake.pings, fake.sent[0].allowed_mentions) == ([], {"parse": []})

    question = discord.MessageReference(message_id=int(fake.world.channels["200"].says(ann, "?").id), channel_id=200)
    await channel.send("quiet", reference=question)
    assert fake.pings == []

    await channel.send("loud", reference=question, mention_author=True)
    await channel.send(text, allowed_mentions=discord.AllowedMentions(users=[discord.Object(2)], everyone=False))
    await channel.send(f"`<@2>` ```{text}```", allowed_mentions=discord.AllowedMentions.all())
    await client.http.request(discord.http.Route("POST", "/channels/200/messages"), json={"content": text})

    assert [(ping.kind, ping.id) for ping in fake.pings] == [
        ("user", "2"),
        ("user", "2"),
        ("user", "2"),
        ("role", role.id),
        ("everyone", "100"),
    ]


async def test_two_bots_have_each_their_own_dms(fake: FakeDiscord, client: Client, ann: Person) -> None:
    other = fake.add_bot("second", "other_bot")
    async with connected(fake, "second") as second:
        fake.private(ann).says(ann, "to the first")
        fake.private(ann, other).says(ann, "to the second")
        heard = [(await one.hears())[0].content for one in (client, second)]
        with pytest.raises(discord.Forbidden) as refused:
            await second.fetch_channel(int(fake.private(ann).id))

    assert heard == ["to the first", "to the second"]
    assert refused.value.code == 50001


async def test_members_roles_and_permissions(fake: FakeDiscord, client: Client, guild: Guild, ann: Person) -> None:
    guild.give(ann, guild.role("admins", 1 << 3))
    seen = await client.fetch_guild(100)
    member = await seen.fetch_member(2)
    with pytest.raises(discord.NotFound) as missing:
        await seen.fetch_member(int(fake.person(5, "Eve").id))

    assert (member.guild_permissions.administrator, seen.owner_id) == (True, 900)
    assert missing.value.code == 10007
    assert [channel.name for channel in await seen.fetch_channels()] == ["general"]
    assert (await client.application_info()).owner.id == 900


async def test_active_threads_and_dms_are_found_by_rest(
    fake: FakeDiscord, client: Client, guild: Guild, ann: Person
) -> None:
    await client.wait_until_ready()
    thread = fake.world.channels["200"].thread("aside")
    fake.world.channels["200"].thread("old").closes()
    found = await client.get_guild(100).active_threads()  # type: ignore[union-attr]
    dm = await (await client.fetch_user(2)).create_dm()

    assert [one.id for one in found] == [int(thread.id)]
    assert dm.id == int(fake.private(ann).id)
