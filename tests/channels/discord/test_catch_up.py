"""F11: what was said while no process listened is in the histories, and only that (DESIGN 9)."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from channels.discord.catch_up import MOST, Place, Seen
from channels.discord.snowflake import first_of
from gateway.errors import Retryable
from gateway.tape.last_seen import LastSeen
from tests.channels.discord.rig import Ear, Rig, answer, reply_to
from tests.platforms.discord import Channel, FakeDiscord, Guild, Person, RetryAfter, ServerError, Slow

HISTORY = "GET /channels/{id}/messages"


async def test_f11_what_was_said_during_a_restart_is_answered_in_its_order(
    rig: Rig, ear: Ear, dc: FakeDiscord, guild: Guild, general: Channel, private: Channel, ann: Person, bob: Person
) -> None:
    """A new process, and a Redis that lost its data: the notes are in the tape store."""
    async with rig.connected(ear):
        private.says(ann, "before")
        general.says(ann, "before", mention=True)
        thread = general.thread("plans")
        await ear.texts(2)
    ear.heard.clear()
    general.says(bob, "just talk")
    general.says(ann, "one", mention=True)
    post = guild.forum("questions").post("new", ann, "a new post", mention=True)
    thread.says(ann, "in a thread", mention=True)
    private.says(ann, "/status")
    private.says(ann, "in private", attachments=[("a.pdf", b"x")])
    dc.private(bob)
    general.says(dc.person(70, "Other", is_bot=True), "a bot", mention=True)
    general.says(ann, "two", mention=True)
    async with rig.connected(ear):
        general.says(ann, "live", mention=True)
        private.says(ann, "live")
        await ear.texts(8)
    told = {
        place.id: [m.text for m in ear.heard if m.route.conversation == place.id]
        for place in dc.world.channels.values()
    }
    assert list(dict.fromkeys(told[general.id])) == ["one", "two", "live"]
    assert list(dict.fromkeys(told[private.id])) == ["/status", "in private\n[document: a.pdf]", "live"]
    assert told[thread.id] == ["in a thread"]
    assert told[post.id] == ["a new post"]
    assert all(not m.private or m.route.conversation == private.id for m in ear.heard)


async def test_a_first_start_reads_nothing_back(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, private: Channel, ann: Person
) -> None:
    general.says(ann, "long ago", mention=True)
    private.says(ann, "long ago")
    rig.clock.advance(3600)
    async with rig.connected(ear):
        private.says(ann, "hello")
        assert await ear.texts(1) == ["hello"]
    assert not dc.calls_of(HISTORY)


async def test_a_bot_that_never_heard_anything_reads_from_its_first_start(
    rig: Rig, ear: Ear, general: Channel, ann: Person
) -> None:
    general.says(ann, "before the first start", mention=True)
    rig.clock.advance(1)
    async with rig.connected(ear):
        pass
    rig.clock.advance(1)
    general.says(ann, "while it was off", mention=True)
    async with rig.connected(ear):
        assert await ear.texts(1) == ["while it was off"]


async def test_a_place_without_a_note_is_read_from_shortly_before_the_newest_note(
    rig: Rig, ear: Ear, guild: Guild, general: Channel, ann: Person
) -> None:
    other = guild.text("other")
    async with rig.connected(ear):
        pass
    other.says(ann, "an hour before", mention=True)
    rig.clock.advance(3600)
    async with rig.connected(ear):
        general.says(ann, "noted", mention=True)
        await ear.texts(2)
    ear.heard.clear()
    quiet = guild.text("quiet")
    rig.clock.advance(60)
    quiet.says(ann, "a minute after", mention=True)
    async with rig.connected(ear):
        assert await ear.texts(1) == ["a minute after"]


async def test_a_server_that_the_bot_joins_has_no_old_news(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, ann: Person
) -> None:
    async with rig.connected(ear):
        general.says(ann, "noted", mention=True)
        await ear.texts(1)
        guild = dc.guild(777, "New")
        room = guild.text("room")
        old = general.messages[dc.world.channels[general.id].wire["last_message_id"]]
        room.messages["1577247886540899999"] = old | {"id": "1577247886540899999", "channel_id": room.id}
        dc.world.introduce(guild, dc.world.sessions[0])
        room.says(ann, "hello", mention=True)
        assert await ear.texts(2) == ["noted", "hello"]
    assert not dc.calls_of(HISTORY)


async def test_a_long_history_is_cut_at_its_old_end(
    rig: Rig, ear: Ear, private: Channel, ann: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    async with rig.connected(ear):
        private.says(ann, "known")
        await ear.texts(1)
    for number in range(MOST + 20):
        private.says(ann, f"{number}")
    async with rig.connected(ear):
        await ear.texts(1 + MOST)
        private.says(ann, "live")
        await ear.texts(2 + MOST)
    assert [message.text for message in ear.heard[1:3]] == ["20", "21"]
    assert ear.heard[-1].text == "live"
    assert "discord.catch_up_cut" in capsys.readouterr().out


async def test_what_is_said_meanwhile_waits_behind_what_was_missed(
    rig: Rig, ear: Ear, dc: FakeDiscord, private: Channel, ann: Person
) -> None:
    """Also when Discord is slow with the history, busy, or out of order."""
    async with rig.connected(ear):
        private.says(ann, "known")
        await ear.texts(1)
    private.says(ann, "missed")
    gate = asyncio.Event()
    dc.inject(HISTORY, Slow(gate))
    dc.inject(HISTORY, RetryAfter(3))
    dc.inject(HISTORY, ServerError(500))
    async with rig.connected(ear):
        private.says(ann, "live")
        await dc.wait_calls(HISTORY)
        dc.inject(HISTORY, ServerError(503))
        gate.set()
        await ear.texts(3)
    assert list(dict.fromkeys(message.text for message in ear.heard)) == ["known", "missed", "live"]


async def test_a_place_that_may_not_be_read_holds_up_nothing(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, private: Channel, ann: Person
) -> None:
    async with rig.connected(ear):
        general.says(ann, "known", mention=True)
        private.says(ann, "known")
        await ear.texts(2)
    general.says(ann, "out of reach", mention=True)
    private.says(ann, "missed")
    general.refuses = 50001
    async with rig.connected(ear):
        await dc.wait_calls(HISTORY, 2)
        general.refuses = 0
        general.says(ann, "live", mention=True)
        await ear.texts(4)
    assert sorted(message.text for message in ear.heard[2:]) == ["live", "missed"]


async def test_a_message_that_could_not_be_taken_in_is_read_back_by_the_next_process(
    rig: Rig, ear: Ear, private: Channel, ann: Person
) -> None:
    """Redis was away, and the DM is new: Discord lists no DMs, so one is noted before its first message."""
    async with rig.connected(_never):
        private.says(ann, "one")
        private.says(ann, "two")
        await _until(lambda: any("private" in str(e) for e in _notes(rig)))
    async with rig.connected(ear):
        assert await ear.texts(2) == ["one", "two"]


async def test_an_unreadable_message_of_a_history_is_set_aside(
    rig: Rig, ear: Ear, private: Channel, ann: Person
) -> None:
    async with rig.connected(ear):
        private.says(ann, "known")
        await ear.texts(1)
    bad = private.says(ann, "bad", raw={"timestamp": None})
    private.says(ann, "good")
    async with rig.connected(ear):
        assert await ear.texts(2) == ["known", "good"]
    assert [path.name for path in rig.poison.iterdir()] == [f"{bad.id}.json"]


async def test_the_bots_own_answers_are_not_read_as_questions(
    rig: Rig, ear: Ear, dc: FakeDiscord, private: Channel, ann: Person
) -> None:
    async with rig.connected(ear) as channel:
        private.says(ann, "known")
        await ear.texts(1)
        await rig.sent(channel, answer(ear.heard[0], "an answer"))
    async with rig.running(None) as worker:
        await rig.until_told(worker, "connected")
        await rig.sent(worker, reply_to(private.id, "from a worker"))
    private.says(ann, "next")
    async with rig.connected(ear):
        assert await ear.texts(2) == ["known", "next"]
    assert [sent.content for sent in dc.sent] == ["an answer", "from a worker"]


async def test_a_place_without_a_note_has_a_margin_and_an_older_id_says_nothing(rig: Rig) -> None:
    """Notes are written every few minutes, so the newest of all may be old; Discord may tell a message twice."""
    seen = Seen(LastSeen(rig.store, "w", rig.clock, "discord"), rig.clock)
    await seen.load("1")
    rig.clock.advance(3600)
    newest = first_of(rig.clock.now())
    await seen.saw(Place("5", "100"), newest)
    await seen.saw(Place("5", "100"), newest - 1)
    assert seen.after(Place("5", "100")) == newest
    assert seen.after(Place("6", "100")) == first_of(rig.clock.now() - timedelta(minutes=10))


async def _never(message: object) -> None:
    raise Retryable("Redis is away")


def _notes(rig: Rig) -> list[object]:
    return [entry for tape in rig.store._tapes.values() for entry in tape.entries]


async def _until(seen: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not seen():
            await asyncio.sleep(0)
