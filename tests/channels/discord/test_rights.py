"""Whom Discord holds for an admin: by what comes with their messages, else by asking (facts 2.4)."""

import pytest

from channels.discord.guilds import AdminRule
from gateway.channel import KnowsAdmins, ShowsTyping
from gateway.errors import Retryable
from gateway.message import Route
from tests.channels.discord.rig import Ear, Rig
from tests.platforms.discord import Channel, FakeDiscord, Guild, Person, ServerError

ADMINISTRATOR, MANAGE_GUILD, KICK = 1 << 3, 1 << 5, 1 << 1


def place(channel: Channel) -> Route:
    return Route("discord", "1", channel.id)


@pytest.mark.parametrize(("permissions", "is_admin"), [(ADMINISTRATOR, True), (MANAGE_GUILD, True), (KICK, False)])
@pytest.mark.parametrize("asked", [False, True])
async def test_who_may_manage_the_server_is_an_admin_of_its_channels(
    rig: Rig, ear: Ear, dc: FakeDiscord, guild: Guild, general: Channel, ann: Person,
    permissions: int, is_admin: bool, asked: bool,
) -> None:  # fmt: skip
    guild.give(ann, guild.role("some", permissions))
    async with rig.connected(ear, platform_admins=True) as channel:
        if asked:
            assert channel.admin(place(general), ann.id) is None
        else:
            general.says(ann, "hello", mention=True)
            await ear.texts(1)
            assert channel.admin(place(general), ann.id) is is_admin
        assert await channel.ask_admin(place(general), ann.id) is is_admin
        assert isinstance(channel, KnowsAdmins)
        assert isinstance(channel, ShowsTyping)


async def test_the_owner_and_a_role_of_the_settings_count(
    rig: Rig, ear: Ear, dc: FakeDiscord, guild: Guild, general: Channel, ann: Person, bob: Person
) -> None:
    """Where the platform's own admins do not count, the roles still do; a role may be given at any time."""
    mods = guild.role("mods", 0, id=300)
    guild.give(ann, mods)
    async with rig.connected(ear, admin_roles=["300"]) as channel:
        assert await channel.ask_admin(place(general), ann.id)
        assert not await channel.ask_admin(place(general), bob.id)
        assert not await channel.ask_admin(place(general), guild.owner.id)
        guild.give(bob, mods)
        general.says(bob, "hello", mention=True)
        await ear.texts(1)
        assert channel.admin(place(general), bob.id) is True
    async with rig.connected(ear, platform_admins=True) as channel:
        assert await channel.ask_admin(place(general.thread("plans")), guild.owner.id)
        assert not await channel.ask_admin(place(general), ann.id)


async def test_a_role_that_changes_is_known_from_the_gateway(
    rig: Rig, ear: Ear, dc: FakeDiscord, guild: Guild, general: Channel, ann: Person
) -> None:
    role = guild.role("some", 0)
    guild.give(ann, role)
    async with rig.connected(ear, platform_admins=True) as channel:
        role.permissions = ADMINISTRATOR
        dc.world.publish("GUILD_ROLE_UPDATE", {"guild_id": guild.id, "role": role.wire}, guild=guild)
        general.says(ann, "hello", mention=True)
        await ear.texts(1)
        assert channel.admin(place(general), ann.id) is True
        dc.world.publish("GUILD_ROLE_DELETE", {"guild_id": guild.id, "role_id": role.id}, guild=guild)
        general.says(ann, "hello", mention=True)
        await ear.texts(2)
        assert channel.admin(place(general), ann.id) is False


async def test_a_command_tells_what_its_person_may(
    rig: Rig, ear: Ear, guild: Guild, general: Channel, ann: Person
) -> None:
    guild.give(ann, guild.role("some", MANAGE_GUILD))
    async with rig.connected(ear, platform_admins=True) as channel:
        await rig.registered()
        general.commands(ann, "status")
        await ear.texts(1)
        assert channel.admin(place(general), ann.id) is True


async def test_in_private_and_among_strangers_nobody_is_an_admin(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, private: Channel, ann: Person
) -> None:
    async with rig.connected(ear, platform_admins=True) as channel:
        assert not await channel.ask_admin(place(private), ann.id)
        assert not await channel.ask_admin(place(general), dc.person(5, "Stranger").id)
        assert not await channel.ask_admin(Route("discord", "1", "404404"), ann.id)


async def test_where_nobody_can_be_one_discord_is_not_asked(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, ann: Person
) -> None:
    async with rig.connected(ear) as channel:
        assert channel.admin(place(general), ann.id) is False
        assert not await channel.ask_admin(place(general), ann.id)
    assert not dc.calls_of("GET /channels/{id}")


async def test_a_worker_asks_as_well_and_says_when_it_cannot(
    rig: Rig, dc: FakeDiscord, guild: Guild, general: Channel, ann: Person
) -> None:
    guild.give(ann, guild.role("some", ADMINISTRATOR))
    async with rig.running(None, platform_admins=True) as worker:
        await rig.until_told(worker, "connected")
        dc.inject("GET /guilds/{id}", ServerError(500))
        with pytest.raises(Retryable):
            await worker.ask_admin(place(general), ann.id)
        assert await worker.ask_admin(place(general), ann.id)


def test_a_rule_that_names_nobody_is_known_as_such() -> None:
    assert not AdminRule(False, frozenset()).names_somebody
    assert AdminRule(True, frozenset()).names_somebody
    assert AdminRule(False, frozenset({"1"})).names_somebody
