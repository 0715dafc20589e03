"""One process holds a bot's connection; all others send."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.channel import Health
from gateway.errors import LeaseLost
from tests.channels.discord.rig import Ear, Rig, reply_to, sends
from tests.platforms.discord import Channel, FakeDiscord, Person


async def test_standby_sends_and_does_not_listen_until_it_is_granted(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, ann: Person
) -> None:
    free, asked = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def holder(account: str) -> AsyncIterator[None]:
        assert account == "1"
        asked.set()
        await free.wait()
        yield

    async with rig.running(ear, holder=holder) as channel:
        await asked.wait()
        assert channel.health.state == "standby"
        assert channel.can_send
        await rig.sent(channel, reply_to(general.id, "from a standby"))
        assert len(sends(dc)) == 1
        assert not dc.identifies
        free.set()
        await dc.wait_session()
        general.says(ann, "hello", mention=True)
        assert set(await ear.texts(1)) == {"hello"}


async def test_a_lost_account_ends_the_connection_and_is_waited_for_again(
    rig: Rig, ear: Ear, dc: FakeDiscord, private: Channel, ann: Person
) -> None:
    """What is said meanwhile is another process's; what that one missed is in the histories (takeover)."""
    lost, asked, again = asyncio.Event(), asyncio.Event(), asyncio.Event()
    held = 0

    @asynccontextmanager
    async def holder(account: str) -> AsyncIterator[None]:
        nonlocal held
        held += 1
        if held > 1:
            asked.set()
            await again.wait()
            yield
            return
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_raise_when(lost))
                yield
        except* LeaseLost as error:
            raise error.exceptions[0] from None

    async with rig.running(ear, holder=holder) as channel:
        await dc.wait_session()
        private.says(ann, "one")
        await ear.texts(1)
        lost.set()
        await asked.wait()
        assert channel.health == Health("standby", "another process holds this bot's connection")
        assert dc.closes[-1].code == 1000
        private.says(ann, "two")
        again.set()
        assert await ear.texts(2) == ["one", "two"]
    assert len(dc.identifies) == 2


async def test_a_worker_sends_without_a_gateway_connection(rig: Rig, dc: FakeDiscord, general: Channel) -> None:
    async with rig.running(None) as channel:
        await rig.until_told(channel, "connected")
        await rig.sent(channel, reply_to(general.id, "from a worker"))
    assert [sent.content for sent in dc.sent] == ["from a worker"]
    assert not dc.identifies


async def test_a_worker_with_a_wrong_token_says_so(rig: Rig) -> None:
    async with rig.running(None, token="wrong") as channel:
        assert "wrong token" in (await rig.until_told(channel, "off")).detail


async def test_two_bots_in_one_process_have_each_their_own_discord(rig: Rig, ear: Ear, ann: Person) -> None:
    async with FakeDiscord("another", username="other_bot") as other, rig.connected(ear):
        changes = {"token": "another", "api_base": other.url, "gateway_url": other.gateway_url}
        mine = other.private(other.person(1, "Zoe"))
        async with rig.running(ear, **changes):
            await other.wait_session()
            mine.says(other.person(2, "Zed"), "over there")
            assert await ear.texts(1) == ["over there"]
        assert len(rig.dc.identifies) == len(other.identifies) == 1


async def _raise_when(event: asyncio.Event) -> None:
    await event.wait()
    raise LeaseLost("somebody else holds it")
