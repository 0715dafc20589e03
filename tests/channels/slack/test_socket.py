"""Receiving over Socket Mode: every place, acks, order, and the ways in which sockets end."""

import asyncio

import pytest

from gateway.channel import Health
from gateway.errors import LeaseLost, Retryable
from gateway.message import IncomingMessage
from tests.channels.slack.rig import ACCOUNT, Ear, Rig, WatchfulClock
from tests.platforms.slack import Channel, FakeSlack, Person


async def test_a_private_message_comes_in_and_is_acknowledged(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    async with rig.connected(ear) as channel:
        said = chat.says(ann, "hello &amp; welcome")
        await slack.wait_acked()
        message = await ear.message()

        assert channel.account == ACCOUNT
        assert channel.health == Health("connected")

    assert message.id == f"slack/{ACCOUNT}/{chat.id}:{said.ts}"
    assert (message.text, message.author.id, message.author.name) == ("hello & welcome", "U1", "Ann")
    assert str(message.session) == f"slack/{ACCOUNT}/{chat.id}"
    assert (message.private, message.reply_to) == (True, said.ts)


async def test_places_are_sessions_of_their_own(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, room: Channel, ann: Person
) -> None:
    secret, several = slack.group("G1", "secret", [ann]), slack.mpim("G2", [ann])
    async with rig.connected(ear):
        top = chat.says(ann, "dm")
        await ear.texts(1)
        chat.says(ann, "dm thread", thread=top)
        await ear.texts(2)
        roots = [place.says(ann, "root", mention=True) for place in (room, secret, several)]
        await ear.texts(5)
        room.says(ann, "in the thread", mention=True, thread=roots[0])
        await ear.texts(6)

    places = {message.text: str(message.route).removeprefix(f"slack/{ACCOUNT}/") for message in ear.heard}
    assert places["dm"] == chat.id
    assert places["dm thread"] == f"{chat.id}/t={top.ts}"
    assert places["in the thread"] == f"{room.id}/t={roots[0].ts}"
    found = {str(m.route).removeprefix(f"slack/{ACCOUNT}/") for m in ear.heard if m.text == "root"}
    assert found == {f"{said.channel.id}/t={said.ts}" for said in roots}
    assert {m.text for m in ear.heard if m.private} == {"dm", "dm thread"}


@pytest.mark.parametrize("mention_first", [False, True])
async def test_c20_a_mention_that_comes_as_two_events_is_one_message(
    slack: FakeSlack, rig: Rig, ear: Ear, room: Channel, ann: Person, mention_first: bool
) -> None:
    slack.world.mention_first = mention_first
    away = slack.channel("C2", "away", [ann], bot_is_member=False)
    async with rig.connected(ear):
        room.says(ann, "hello", mention=True)
        away.says(ann, "from outside", mention=True)
        await slack.wait_acked()

    assert sorted(message.text for message in ear.heard) == ["from outside", "hello"]
    assert [message.text for message in ear.again] == ["hello"]


async def test_f12_messages_of_a_channel_keep_their_order(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    ear.opened.clear()
    ear.fails = [Retryable("redis is away"), Retryable("redis is away")]
    async with rig.connected(ear):
        for number in range(30):
            chat.says(ann, str(number))
        await ear.calls(1)
        ear.opened.set()
        await ear.texts(30)
        await slack.wait_acked()

    assert [message.text for message in ear.heard] == [str(number) for number in range(30)]


async def test_conversations_do_not_wait_for_each_other(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, room: Channel, ann: Person
) -> None:
    held, release = asyncio.Event(), asyncio.Event()

    async def receive(message: IncomingMessage) -> None:
        if message.private:
            held.set()
            await release.wait()
        await ear(message)

    async with rig.connected(receive):
        chat.says(ann, "slow")
        await held.wait()
        room.says(ann, "quick", mention=True)
        assert await ear.texts(1) == ["quick"]
        release.set()
        await ear.texts(2)


async def test_c32_slack_is_told_only_what_was_received(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    """While it cannot be made durable there is no ack, Slack delivers again, and one message comes of it."""
    ear.opened.clear()
    async with rig.connected(ear):
        said = chat.says(ann, "hello")
        await ear.calls(1)
        assert not slack.acks
        slack.expire_acks()
        ear.opened.set()
        await slack.wait_acked()
        await ear.bell.until(lambda: ear.again, 20)

    assert slack.acks[0].event_id == said.event_ids[0]
    assert [message.text for message in ear.heard] == ["hello"]


async def test_what_could_not_be_received_is_not_acknowledged_and_comes_again(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    ear.fails = [LeaseLost("taken over")]
    async with rig.connected(ear):
        chat.says(ann, "hello")
        await ear.calls(1)
        slack.expire_acks()
        await slack.wait_acked()

    assert [ack.attempt for ack in slack.acks] == [1]
    assert [message.text for message in ear.heard] == ["hello"]


@pytest.mark.parametrize("retry", [0, 1, 2, 3])
async def test_c19_a_retry_alone_is_a_message_and_a_second_copy_is_none(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person, retry: int
) -> None:
    async with rig.connected(ear):
        said = chat.says(ann, "hello", sends=False)
        slack.redeliver(said, retry)
        await slack.wait_acked()
        slack.redeliver(said, 3)
        await slack.wait_acked()

    assert (len(ear.heard), len(ear.again)) == (1, 1)


async def test_trouble_is_said_while_it_lasts(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person, clock: WatchfulClock
) -> None:
    ear.fails = [Retryable("redis is away")]
    async with rig.connected(ear, clock=clock) as channel:
        chat.says(ann, "hello")
        await slack.wait_acked()

        assert await clock.trouble("degraded") == "messages wait to be taken in: redis is away"
        assert channel.health.state == "connected"


async def test_events_nobody_asked_for_are_acknowledged(slack: FakeSlack, rig: Rig, ear: Ear) -> None:
    async with rig.connected(ear):
        slack.push_raw({"type": "reaction_added", "user": "U1", "item": {}, "reaction": "x", "event_ts": "1.1"})
        slack.push_raw({"type": "something_of_the_future"})
        await slack.wait_acked()

    assert ear.called == 0


async def test_an_unreadable_event_is_set_aside_and_those_behind_it_come_in(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    async with rig.connected(ear):
        slack.push_raw({"type": "message", "channel": chat.id, "user": ["U1"], "text": "?", "ts": "1700000000.000100"})
        slack.push_raw({"type": "message", "channel": 7})
        slack.push_frame("no json")
        chat.says(ann, "hello")
        await slack.wait_acked()

    assert [message.text for message in ear.heard] == ["hello"]
    assert len(list(rig.poison.iterdir())) == 2


async def test_the_channel_is_well_when_the_last_message_waits_no_more(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, room: Channel, ann: Person
) -> None:
    """Whoever is in trouble second finds the channel degraded already, and must not leave it so."""
    ear.fails = [Retryable("redis is away")] * 4
    async with rig.connected(ear) as channel:
        chat.says(ann, "one")
        room.says(ann, "two", mention=True)
        await slack.wait_acked()
        assert channel.health == Health("connected")
