"""When a session is given up, and how often one is begun: Discord counts those, and resets a token for too many."""

import pytest

from gateway.errors import Retryable
from tests.channels.discord.rig import Ear, Rig, WatchfulClock
from tests.platforms.discord import Channel, FakeDiscord, Person


async def test_a_session_that_cannot_be_resumed_from_is_given_up(
    rig: Rig, ear: Ear, dc: FakeDiscord, private: Channel, ann: Person
) -> None:
    """Its address may be gone for good; the history has what it knew."""
    async with rig.connected(ear):
        private.says(ann, "one")
        await ear.texts(1)
        for _ in range(4):
            dc.disconnect_at("resume")
        dc.disconnect(4000)
        private.says(ann, "two")
        await ear.texts(2)
    assert [message.text for message in ear.heard][:2] == ["one", "two"]
    assert (len(dc.identifies), len(dc.resumes)) == (2, 0)


async def test_a_gateway_that_drops_every_connection_is_asked_rarely(
    rig: Rig, ear: Ear, dc: FakeDiscord, clock: WatchfulClock
) -> None:
    for _ in range(13):
        dc.disconnect_at("identify", after=True)
    async with rig.running(ear):
        await dc.wait(lambda: len(dc.identifies) >= 14)
    waits = [seconds for seconds, _ in clock.waits]
    assert all(seconds <= 30 for seconds in waits[:10])
    assert waits[10:13] == [90.0] * 3


async def test_a_frame_that_the_sdk_cannot_read_ends_no_more_than_the_connection(
    rig: Rig, ear: Ear, dc: FakeDiscord, clock: WatchfulClock, private: Channel, ann: Person
) -> None:
    """It would come again with a RESUME, so the session goes with it."""
    async with rig.connected(ear) as channel:
        private.says(ann, "one")
        await ear.texts(1)
        for socket in dc.gateway.sockets:
            socket.push({"op": 0, "t": "READY", "s": 99, "d": {}})
        private.says(ann, "two")
        await ear.texts(2)
        await rig.until_told(channel, "connected")
    assert (len(dc.identifies), len(dc.resumes)) == (2, 0)
    assert "cannot be read" in clock.waits[0][1].detail


@pytest.mark.parametrize("code", [4010, 4011, 4012, 4013, 4014, 4004])
async def test_a_close_for_good_says_what_to_do(rig: Rig, ear: Ear, dc: FakeDiscord, code: int) -> None:
    async with rig.connected(ear) as channel:
        dc.disconnect(code)
        health = await rig.until_told(channel, "off")
    assert len(health.detail) > 40
    assert str(code) not in health.detail


async def test_a_close_that_nobody_documented_is_tried_again(rig: Rig, ear: Ear, dc: FakeDiscord) -> None:
    from channels.discord.failures import of_closing

    assert isinstance(of_closing(4999), Retryable)
    assert isinstance(of_closing(None), Retryable)
