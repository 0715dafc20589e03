"""Every place, in order, told once, and nothing that is not for the bot."""

import asyncio
import threading

import pytest

from gateway.channel import Health
from gateway.errors import Retryable
from gateway.message import SessionKey
from tests.channels.discord.rig import Ear, Rig, WatchfulClock, reply_to
from tests.platforms.discord import Channel, FakeDiscord, Guild, Person


async def test_every_place_is_a_session_of_its_own(
    rig: Rig, ear: Ear, guild: Guild, general: Channel, private: Channel, ann: Person
) -> None:
    """A thread and a post of a forum are channels: what is said there stays there (C59)."""
    async with rig.connected(ear) as channel:
        thread, post = general.thread("plans"), guild.forum("questions").post("how", ann, "first", mention=True)
        general.says(ann, "in the channel", mention=True)
        thread.says(ann, "in the thread", mention=True)
        private.says(ann, "in private")
        await ear.texts(4)
        assert channel.account == "1"
        assert channel.health == Health("connected", "@gateway_bot")
    found = {message.text: (str(message.session), message.private) for message in ear.heard}
    assert found == {
        "first": (f"discord/1/{post.id}", False),
        "in the channel": ("discord/1/200", False),
        "in the thread": (f"discord/1/{thread.id}", False),
        "in private": (f"discord/1/{private.id}", True),
    }
    assert all(message.session == SessionKey.parse(str(message.route)) for message in ear.heard)


async def test_in_a_server_it_hears_what_addresses_it_alone(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, ann: Person, bob: Person
) -> None:
    """Mention, role, reply (also one that does not ping) and command; not @everyone, bots, webhooks, the system."""
    async with rig.connected(ear) as channel:
        await rig.sent(channel, reply_to(general.id, "I am here"))
        said = dc.sent[0]
        general.says(ann, "just talk")
        general.says(ann, "@everyone look")
        general.says(ann, "hi bot", mention=True)
        general.says(ann, "hi role", role_mention=True)
        general.says(ann, "as a reply", reply_to=said, ping=False)
        general.says(ann, "to bob", reply_to=general.says(bob, "what?"))
        general.says(ann, "/status")
        general.says(ann, "/etc/hosts")
        general.says(ann, "/shrug all right")
        general.says(dc.person(70, "Other", is_bot=True), "I am a bot", mention=True)
        general.says(dc.person(1, "gateway_bot", is_bot=True), "I am you", mention=True)
        general.webhook("Hook", f"<@{dc.bot.id}> hello")
        general.joins(bob)
        general.says(ann, "the last", mention=True)
        assert (await ear.texts(5))[-1] == "the last"
    assert [message.text for message in ear.heard] == ["hi bot", "hi role", "as a reply", "/status", "the last"]


async def test_an_edit_is_no_second_message(rig: Rig, ear: Ear, private: Channel, ann: Person) -> None:
    """C35: what changes is told to nobody yet."""
    async with rig.connected(ear):
        said = private.says(ann, "delete a")
        private.edits(said, "delete b")
        private.deletes(said)
        private.says(ann, "next")
        assert await ear.texts(2) == ["delete a", "next"]


async def test_f12_messages_of_a_place_are_handed_over_in_their_order(
    rig: Rig, ear: Ear, private: Channel, general: Channel, ann: Person
) -> None:
    """The first waits for a Redis that is away; those behind it wait too, those of other places do not."""
    ear.opened.clear()
    async with rig.connected(ear):
        for number in range(20):
            private.says(ann, f"{number}", attachments=[("a.png", b"x")] if not number else [])
        await ear.calls(1)
        general.says(ann, "elsewhere", mention=True)
        await ear.calls(2)
        ear.opened.set()
        await ear.texts(21)
    told = [message.text.partition("\n")[0] for message in ear.heard if message.private]
    assert told == [str(number) for number in range(20)]
    assert ear.heard[0].text == "0\n[document: a.png]"


async def test_what_cannot_be_made_durable_waits_and_is_tried_again(
    rig: Rig, ear: Ear, clock: WatchfulClock, private: Channel, ann: Person
) -> None:
    ear.fails = [Retryable("Redis is away")] * 3
    async with rig.connected(ear) as channel:
        private.says(ann, "one")
        private.says(ann, "two")
        assert await ear.texts(2) == ["one", "two"]
        assert (await rig.until_told(channel, "connected")).state == "connected"
    assert ear.called == 5
    assert [health.detail for _, health in clock.waits] == ["messages wait to be taken in: Redis is away"] * 3


async def test_a_message_that_nobody_can_read_is_set_aside_and_those_behind_it_come(
    rig: Rig, ear: Ear, dc: FakeDiscord, private: Channel, ann: Person
) -> None:
    """The SDK's own parsers would end the client at the first of these (facts 5.4)."""
    async with rig.connected(ear):
        bad = private.says(ann, "no author", raw={"author": None})
        private.says(ann, "no type", raw={"type": "odd"})
        private.says(ann, "no time", raw={"timestamp": "yesterday"})
        dc.world.publish("MESSAGE_CREATE", {"nothing": "at all"}, private)
        dc.world.publish("GUILD_CREATE", {"id": 5}, private)
        dc.world.publish("INTERACTION_CREATE", {"type": 2, "data": {"type": 1}}, private)
        private.says(ann, "hello")
        assert await ear.texts(1) == ["hello"]
    assert len(dc.identifies) == 1
    names = {path.name for path in rig.poison.iterdir()}
    assert f"{bad.id}.json" in names
    assert len(names) == 4


async def test_a_fault_of_ours_does_not_hold_up_those_behind(rig: Rig, ear: Ear, private: Channel, ann: Person) -> None:
    ear.fails = [ValueError("a bug")] * 3
    async with rig.connected(ear):
        bad = private.says(ann, "one")
        private.says(ann, "two")
        assert await ear.texts(1) == ["two"]
    assert [path.name for path in rig.poison.iterdir()] == [f"{bad.id}.json"]


async def test_what_was_said_aside_comes_with_the_next_question(
    rig: Rig, ear: Ear, general: Channel, ann: Person, bob: Person
) -> None:
    """Once, also where the message must be tried again."""
    ear.fails = [Retryable("not now")]
    async with rig.connected(ear, group_context=2):
        for text in ("one", "two", "three"):
            general.says(bob, text)
        general.says(ann, "what was it?", mention=True)
        general.says(ann, "and now?", mention=True)
        await ear.texts(2)
    assert [[(q.name, q.text) for q in m.quotes] for m in ear.heard] == [[("Bob", "two"), ("Bob", "three")], []]


@pytest.mark.parametrize("content", [True, False])
async def test_the_intents_are_no_more_than_what_is_asked_for(
    rig: Rig, ear: Ear, dc: FakeDiscord, content: bool
) -> None:
    async with rig.connected(ear, message_content=content):
        pass
    assert dc.identifies[0].intents == 1 << 0 | 1 << 9 | 1 << 12 | (1 << 15 if content else 0)


async def test_a_stop_closes_everything_and_leaves_no_thread(rig: Rig, ear: Ear, dc: FakeDiscord) -> None:
    async with rig.connected(ear):
        pass
    assert [(closed.code, closed.by_client) for closed in dc.closes] == [(1000, True)]
    for heart in [thread for thread in threading.enumerate() if "keep-alive" in thread.name]:
        await asyncio.to_thread(heart.join, 5)
        assert not heart.is_alive()
