"""Application commands and interactions of the fake Discord, through the real SDK."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.platforms.discord import Channel, DropReply, FakeDiscord, Person
from tests.platforms.sdk_discord import Client, connected, discord, pointed

HANDOFF = {
    "name": "handoff",
    "description": "begins a new phase",
    "options": [{"name": "text", "description": "name and note", "type": 3}],
}
HELP = {"name": "help", "description": "what the bot understands"}


@pytest.fixture
def now() -> list[float]:
    return [1_800_000_000.0]


@pytest.fixture
async def fake(monkeypatch: pytest.MonkeyPatch, now: list[float]) -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord(clock=lambda: now[0]) as server:
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
        await sdk.http.bulk_upsert_global_commands(1, [HANDOFF, HELP])
        yield sdk


async def commanded(client: Client) -> "discord.Interaction[Client]":
    return (await client.until(lambda: client.commanded))[-1]


async def test_a_command_is_deferred_in_private_and_answered_later(
    fake: FakeDiscord, client: Client, room: Channel, ann: Person, now: list[float]
) -> None:
    used = room.commands(ann, "handoff", text="plan b")
    interaction = await commanded(client)
    assert interaction.data
    assert interaction.data["options"] == [{"name": "text", "type": 3, "value": "plan b"}]  # type: ignore[typeddict-item]
    assert (interaction.user.id, interaction.guild_id, interaction.channel_id) == (2, 100, 200)
    now[0] += 2
    await interaction.response.defer(ephemeral=True, thinking=True)
    assert (used.thinking, used.ephemeral, used.content, fake.sent) == (True, True, None, [])

    now[0] += 600
    await interaction.edit_original_response(content="a new phase")
    await interaction.followup.send("and more", ephemeral=True)
    await interaction.edit_original_response(content="a new phase!")

    assert [(one.type, one.ephemeral, one.after) for one in used.callbacks] == [(5, True, 2.0)]
    assert (used.thinking, used.content) == (False, "a new phase!")
    assert [message["content"] for message in used.followups] == ["and more"]
    told = [(sent.content, sent.interaction, sent.ephemeral, sent.edits) for sent in fake.sent]
    assert told == [("a new phase!", used.id, True, 1), ("and more", used.id, True, 0)]
    assert room.messages == {}


async def test_a_public_answer_stands_in_the_channel_until_it_is_deleted(
    fake: FakeDiscord, client: Client, room: Channel, ann: Person
) -> None:
    used = room.commands(ann, "help")
    interaction = await commanded(client)
    await interaction.response.send_message("help!")
    told = await interaction.original_response()
    assert [message["content"] for message in room.messages.values()] == ["help!"]
    assert (used.content, str(told.id)) == ("help!", fake.sent[0].message_id)

    await interaction.delete_original_response()
    assert (used.original, room.messages, fake.sent[0].deleted) == (None, {}, True)


async def test_the_first_followup_takes_the_place_of_the_deferred_answer(
    fake: FakeDiscord, client: Client, room: Channel, ann: Person
) -> None:
    used = room.commands(ann, "help")
    interaction = await commanded(client)
    await interaction.response.defer(ephemeral=True, thinking=True)
    await interaction.followup.send("here", ephemeral=False)

    assert (used.content, used.followups, fake.sent[0].ephemeral) == ("here", [], True)


async def test_too_late_and_twice_are_refused(client: Client, room: Channel, ann: Person, now: list[float]) -> None:
    room.commands(ann, "help")
    late = await commanded(client)
    now[0] += 3.5
    with pytest.raises(discord.NotFound) as unknown:
        await late.response.defer()
    room.commands(ann, "help")
    await client.until(lambda: len(client.commanded) == 2)
    interaction = client.commanded[1]
    with pytest.raises(discord.NotFound) as unanswered:
        await interaction.edit_original_response(content="before any answer")
    await interaction.response.send_message("once")
    interaction.response._response_type = None  # as another process would
    with pytest.raises(discord.HTTPException) as twice:
        await interaction.response.send_message("twice")
    now[0] += 901
    with pytest.raises(discord.HTTPException) as expired:
        await interaction.edit_original_response(content="too late")

    refused = [error.value.code for error in (unknown, unanswered, twice, expired)]
    assert refused == [10062, 10015, 40060, 50027]


async def test_a_callback_of_another_type_and_a_foreign_application_are_refused(
    fake: FakeDiscord, client: Client, room: Channel, ann: Person
) -> None:
    used = room.commands(ann, "help")
    callback = discord.http.Route("POST", f"/interactions/{used.id}/{used.token}/callback")
    with pytest.raises(discord.HTTPException) as wrong:
        await client.http.request(callback, json={"type": 9})
    await (await commanded(client)).response.defer()
    with pytest.raises(discord.NotFound) as foreign:
        await client.http.request(discord.http.Route("POST", f"/webhooks/7/{used.token}"), json={"content": "x"})

    assert (wrong.value.code, foreign.value.code) == (50035, 10015)


async def test_a_lost_answer_to_a_callback_is_answered_all_the_same(
    fake: FakeDiscord, client: Client, room: Channel, ann: Person
) -> None:
    fake.inject("POST /interactions/{id}/{token}/callback", DropReply())
    used = room.commands(ann, "help")
    interaction = await commanded(client)
    with pytest.raises(aiohttp.ClientError):
        await interaction.response.defer(ephemeral=True)

    assert used.thinking


async def test_a_command_in_a_dm_and_in_a_thread(fake: FakeDiscord, client: Client, room: Channel, ann: Person) -> None:
    thread = room.thread("aside")
    fake.private(ann).commands(ann, "help")
    thread.commands(ann, "help")
    await client.until(lambda: len(client.commanded) == 2)
    private, deep = client.commanded

    assert (private.guild_id, private.user.id) == (None, 2)
    assert isinstance(private.channel, discord.DMChannel)
    assert (deep.channel_id, deep.guild_id) == (int(thread.id), 100)


async def test_the_rights_of_a_person_come_with_the_command(
    fake: FakeDiscord, client: Client, room: Channel, ann: Person
) -> None:
    assert room.guild
    room.commands(ann, "help")
    room.guild.give(ann, room.guild.role("mods", 1 << 5))
    room.commands(ann, "help")
    room.commands(fake.owner, "help")
    await client.until(lambda: len(client.commanded) == 3)
    plain, mod, owner = [one.permissions for one in client.commanded]

    assert (plain.manage_guild, mod.manage_guild, mod.administrator, owner.administrator) == (False, True, False, True)


async def test_only_what_is_registered_can_be_used(client: Client, room: Channel, ann: Person) -> None:
    with pytest.raises(ValueError, match="not registered"):
        room.commands(ann, "nothing")
    with pytest.raises(ValueError, match="has the options"):
        room.commands(ann, "handoff", note="x")
    needed = HANDOFF | {
        "name": "search",
        "options": [{"name": "words", "description": "x", "type": 3, "required": True}],
    }
    await client.http.bulk_upsert_global_commands(1, [HANDOFF, needed])
    with pytest.raises(ValueError, match="has the options"):
        room.commands(ann, "search")
    with pytest.raises(ValueError, match="is no int"):
        room.commands(ann, "handoff", text=1)


async def test_commands_keep_their_ids_when_they_are_put_again(fake: FakeDiscord, client: Client) -> None:
    tree = discord.app_commands.CommandTree(client)
    first = {command.name: command.id for command in await tree.fetch_commands()}
    await client.http.bulk_upsert_global_commands(1, [HELP])
    second = {command.name: command.id for command in await tree.fetch_commands()}

    assert (set(first), second) == ({"handoff", "help"}, {"help": first["help"]})
    assert fake.commands_put == 2


@pytest.mark.parametrize(
    ("command", "field"),
    [
        ({"name": "Help", "description": "x"}, "0.name"),
        ({"name": "two words", "description": "x"}, "0.name"),
        ({"name": "n" * 33, "description": "x"}, "0.name"),
        ({"name": "help", "description": ""}, "0.description"),
        ({"name": "help", "description": "x" * 101}, "0.description"),
        (HELP | {"options": [{"name": "twice", "description": "x", "type": 3}] * 2}, "0.options"),
        (HELP | {"options": [{"name": f"o{n}", "description": "x", "type": 3} for n in range(26)]}, "0.options"),
        (
            HELP
            | {
                "options": [
                    {"name": "a", "description": "x", "type": 3},
                    {"name": "b", "description": "x", "type": 3, "required": True},
                ]
            },
            "0.options.1",
        ),
    ],
)
async def test_commands_that_discord_would_not_register(client: Client, command: dict[str, object], field: str) -> None:
    with pytest.raises(discord.HTTPException) as refused:
        await client.http.bulk_upsert_global_commands(1, [command])

    assert (refused.value.code, f"In {field}" in str(refused.value)) == (50035, True)


async def test_there_are_at_most_a_hundred_commands_with_names_of_their_own(client: Client) -> None:
    many = [HELP | {"name": f"c{number}"} for number in range(101)]
    for commands, code in ((many, 30032), ([HELP, HELP], 50035)):
        with pytest.raises(discord.HTTPException) as refused:
            await client.http.bulk_upsert_global_commands(1, commands)

        assert refused.value.code == code
