"""The gateway connection over the real SDK: cuts at every frame, zombies, dead sessions, standby, fatal closes."""

import asyncio
import threading
from collections.abc import Mapping

import pytest

from channels.lanes import LanesFull
from gateway.errors import Retryable
from tests.channels.discord.rig import Ear, Rig, WatchfulClock, reply_to
from tests.platforms.discord import Channel, FakeDiscord, Person, Refuse, Rejects, RetryAfter, ServerError

FRAMES = ["hello", "identify", "ready", "guild_create", "message", "heartbeat", "heartbeat_ack"]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("after", [False, True])
async def test_a_cut_at_any_frame_loses_nothing_and_keeps_the_order(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, private: Channel, ann: Person, frame: str, after: bool
) -> None:
    """RESUME brings what was missed; where the cut was before a session, its histories do."""
    async with rig.connected(ear):
        private.says(ann, "known")
        await ear.texts(1)
    ear.heard.clear()
    cut = dc.disconnect_at(frame, after=after)
    async with rig.running(ear):
        if frame == "message":
            await dc.wait_session(2)
        else:
            await dc.wait(lambda: cut.hits)
        for number in range(3):
            general.says(ann, f"{number}", mention=True)
            private.says(ann, f"{number}")
        await dc.wait(lambda: cut.hits)
        await ear.places_say("0", "1", "2")
    for place in (general, private):
        told = [message.text for message in ear.heard if message.route.conversation == place.id]
        assert list(dict.fromkeys(told)) == ["0", "1", "2"]


@pytest.mark.parametrize("frame", ["resume", "resumed"])
@pytest.mark.parametrize("after", [False, True])
async def test_a_cut_in_mid_resume_is_resumed_again(
    rig: Rig, ear: Ear, dc: FakeDiscord, private: Channel, ann: Person, frame: str, after: bool
) -> None:
    async with rig.connected(ear) as channel:
        cut = dc.disconnect_at(frame, after=after)
        dc.disconnect(4000)
        private.says(ann, "while away")
        await dc.wait(lambda: cut.hits)
        private.says(ann, "and again")
        await ear.calls(2)
        await rig.until_told(channel, "connected")
        private.says(ann, "here")
        await ear.calls(3)
    assert list(dict.fromkeys(message.text for message in ear.heard)) == ["while away", "and again", "here"]


async def test_c31_resume_brings_what_was_missed_and_doubles_have_the_same_id(
    rig: Rig, ear: Ear, dc: FakeDiscord, private: Channel, ann: Person
) -> None:
    async with rig.connected(ear):
        said = private.says(ann, "one")
        await ear.texts(1)
        dc.disconnect(4000)
        private.says(ann, "two")
        private.redeliver(said)
        assert await ear.texts(3) == ["one", "two", "one"]
    assert ear.heard[0].id == ear.heard[2].id == f"discord/1/{said.id}"
    assert (len(dc.identifies), [resume.taken for resume in dc.resumes]) == (1, [True])


@pytest.mark.parametrize("how", ["reconnect", "invalid but resumable"])
async def test_when_discord_asks_to_connect_again_the_session_goes_on(
    rig: Rig, ear: Ear, dc: FakeDiscord, private: Channel, ann: Person, how: str
) -> None:
    async with rig.connected(ear) as channel:
        if how == "reconnect":
            dc.reconnect()
        else:
            dc.invalidate(resumable=True)
        await dc.wait(lambda: dc.resumes)
        private.says(ann, "hello")
        await ear.texts(1)
        await rig.until_told(channel, "connected")
    assert (len(dc.identifies), len(dc.resumes)) == (1, 1)


async def test_a_dead_session_becomes_a_new_one_and_the_histories_fill_the_gap(
    rig: Rig, ear: Ear, dc: FakeDiscord, clock: WatchfulClock, general: Channel, private: Channel, ann: Person
) -> None:
    """Its socket is gone for longer than Discord keeps a session (F11, within one process)."""
    async with rig.connected(ear):
        private.says(ann, "one")
        await ear.texts(1)
        for session in dc.world.sessions:
            session.ended = True
        dc.disconnect(4000)
        private.says(ann, "two")
        general.says(ann, "three", mention=True)
        assert sorted(await ear.texts(3)) == ["one", "three", "two"]
    assert (len(dc.identifies), [resume.taken for resume in dc.resumes]) == (2, [False])
    ((waited, health),) = clock.waits
    assert 1 <= waited <= 5
    assert health.detail == "connecting to Discord again"


async def test_a_zombie_connection_is_noticed_and_resumed(
    rig: Rig, ear: Ear, dc: FakeDiscord, private: Channel, ann: Person
) -> None:
    """It stays open and says nothing: the SDK hears no more and closes it."""
    dc.gateway.heartbeat_interval = 0.2
    async with rig.connected(ear) as channel:
        for thread in _hearts():
            thread.heartbeat_timeout = 0.3
        dc.mute()
        private.says(ann, "nobody hears it")
        assert await ear.texts(1) == ["nobody hears it"]
        await rig.until_told(channel, "connected")
    assert [resume.taken for resume in dc.resumes] == [True]


async def test_an_outage_is_waited_for_with_growing_patience(
    rig: Rig, ear: Ear, dc: FakeDiscord, clock: WatchfulClock, private: Channel, ann: Person
) -> None:
    """The SDK's own first connect would end with an AttributeError (facts 5.4)."""
    await dc.down()
    async with rig.running(ear) as channel:
        await clock.until(lambda waits: len(waits) >= 8)
        assert channel.health.state == "degraded"
        assert "cannot be reached" in channel.health.detail
        assert clock.waits[0][0] == 1
        assert clock.waits[7][0] >= 15
        assert not channel.can_send
        await dc.up()
        await dc.wait_session()
        private.says(ann, "hello")
        assert await ear.texts(1) == ["hello"]
        await rig.until_told(channel, "connected")
        assert channel.can_send


async def test_an_outage_in_mid_session_is_survived(
    rig: Rig, ear: Ear, dc: FakeDiscord, private: Channel, ann: Person
) -> None:
    async with rig.connected(ear):
        await dc.down()
        private.says(ann, "while all was down")
        await dc.up()
        assert await ear.texts(1) == ["while all was down"]


@pytest.mark.parametrize(
    ("fault", "detail", "seconds"),
    [
        (RetryAfter(17), "Discord asks to wait", 17.0),
        (ServerError(502, html=True), "Discord was asked and failed (502)", 1.0),
        (Refuse(), "Discord was asked and did not answer (ServerDisconnectedError)", 1.0),
        (Rejects(403, "Forbidden"), "Discord says: Forbidden (0)", 60.0),
    ],
)
async def test_trouble_at_the_start_is_told_as_it_is(
    rig: Rig, ear: Ear, dc: FakeDiscord, clock: WatchfulClock, fault: object, detail: str, seconds: float
) -> None:
    dc.inject("GET /users/@me", fault, times=1 + isinstance(fault, Refuse))  # aiohttp asks once more, a question alone
    async with rig.running(ear):
        await dc.wait_session()
    ((waited, health),) = clock.waits
    assert (waited, health.detail.removeprefix("not connected: ")) == (seconds, detail)


async def test_a_wrong_token_switches_the_channel_off_and_is_tried_rarely(
    rig: Rig, ear: Ear, dc: FakeDiscord, clock: WatchfulClock
) -> None:
    async with rig.running(ear, token="some.wrong.token") as channel:
        await clock.until(lambda waits: len(waits) >= 3)
        assert channel.health.state == "off"
        assert "wrong token" in channel.health.detail
        assert "some.wrong.token" not in channel.health.detail
        assert (channel.account, channel.can_send) == ("", False)
    assert {(seconds, health.state) for seconds, health in clock.waits} == {(60.0, "off")}
    assert not dc.identifies


async def test_c38_a_missing_intent_is_told_with_the_switch_to_use(
    rig: Rig, ear: Ear, dc: FakeDiscord, clock: WatchfulClock, private: Channel, ann: Person
) -> None:
    """Close code 4014; it is tried again, and goes on when the switch was used."""
    dc.bot.message_content = False
    async with rig.running(ear) as channel:
        await clock.until(lambda waits: len(waits) >= 2)
        assert channel.health.state == "off"
        assert "switch on MESSAGE CONTENT INTENT under Bot in the developer portal" in channel.health.detail
        assert "discord.message_content to false" in channel.health.detail
        assert clock.waits[0][0] == 60
        dc.bot.message_content = True
        await dc.wait_session()
        private.says(ann, "hello")
        assert await ear.texts(1) == ["hello"]


async def test_c38_without_the_intent_mentions_and_private_messages_work(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, private: Channel, ann: Person
) -> None:
    """A reply that does not mention comes empty; the health says why, and what people may do."""
    dc.bot.message_content = False
    async with rig.connected(ear, message_content=False) as channel:
        general.says(ann, "nothing of this is seen")
        general.says(ann, "a mention", mention=True)
        private.says(ann, "in private")
        assert sorted(await ear.texts(2)) == ["a mention", "in private"]
        assert channel.health.detail == "@gateway_bot"
        await rig.sent(channel, reply_to(general.id, "an answer"))
        general.says(ann, "a reply", reply_to=dc.sent[0], ping=False)
        general.says(ann, "the last", mention=True)
        await ear.texts(3)
        assert channel.health.state == "connected"
        assert "MESSAGE CONTENT INTENT" in channel.health.detail


async def test_c38_empty_messages_in_spite_of_the_intent_are_told(
    rig: Rig, ear: Ear, general: Channel, private: Channel, ann: Person
) -> None:
    async with rig.connected(ear) as channel:
        for _ in range(3):
            general.says(ann, "")
        private.says(ann, "hello")
        assert (await rig.until_told(channel, "degraded")).detail.startswith("messages in servers come without")
        general.says(ann, "seen again")
        await rig.until_told(channel, "connected")


async def test_too_much_that_waits_is_left_to_the_histories(
    rig: Rig, dc: FakeDiscord, clock: WatchfulClock, private: Channel, ann: Person
) -> None:
    """Nothing that Discord told is dropped: the connection ends, and its session is not resumed past it."""
    rig.channel()  # loads the SDK
    from channels.discord.gateway import GatewayConnection

    told: list[str] = []

    def take(event: str, raw: Mapping[str, object]) -> None:
        if event == "MESSAGE_CREATE":
            if len(told) == 2:
                raise LanesFull("10000 messages wait to be taken in")
            told.append(str(raw["content"]))

    connection = GatewayConnection(
        dc.token, dc.gateway_url, message_content=True, take=take, tell=lambda health: None, clock=clock
    )
    running = asyncio.create_task(connection.run())
    await dc.wait_session()
    for number in range(4):
        private.says(ann, f"{number}")
    with pytest.raises(Retryable, match="10000 messages wait"):
        await running
    told.clear()
    again = asyncio.create_task(connection.run())
    await dc.wait_session(2)
    again.cancel()
    await asyncio.gather(again, return_exceptions=True)
    assert (told, dc.resumes) == ([], [])


def _hearts() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "keep-alive" in thread.name]
