"""What was said while nobody listened (F20)."""

import time

import pytest

from channels.slack.catch_up import MOST
from gateway.errors import Retryable
from gateway.tape.last_seen import LastSeen
from tests.channels.slack.rig import ACCOUNT, Ear, Rig, WatchfulClock, give_up
from tests.platforms.slack import Channel, FakeSlack, Person, Rejects, RetryAfter, ServerError


async def test_f20_after_a_long_outage_what_was_missed_is_read_oldest_first(
    slack: FakeSlack, rig: Rig, ear: Ear, room: Channel, chat: Channel, ann: Person, bob: Person
) -> None:
    """Slack's retries are over by then; history alone has it. Gates are those of live events."""
    async with rig.connected(ear):
        root = room.says(ann, "before", mention=True)
        chat.says(ann, "before dm")
        await slack.wait_acked()
    room.says(ann, "one", mention=True, sends=False)
    room.says(bob, "not for the bot", sends=False)
    room.says(bob, "two, in the thread", thread=root, sends=False)
    for number in range(250):
        chat.says(ann, f"dm {number}", sends=False)
    late = room.says(ann, "three", mention=True, sends=False)
    room.says(bob, "four, below it", thread=late, sends=False)
    room.joins(bob)
    give_up(slack)
    ear.heard.clear()
    ear.again.clear()

    async with rig.connected(ear):
        chat.says(ann, "live")
        await ear.texts(255)
        await slack.wait_acked()

    assert [m.text for m in ear.heard if m.session.conversation == room.id] == [
        "one",
        "two, in the thread",
        "three",
        "four, below it",
    ]
    assert [m.text for m in ear.heard if m.private] == [*(f"dm {number}" for number in range(250)), "live"]
    assert {m.session.thread for m in ear.heard if "thread" in m.text} == {root.ts}
    assert {m.session.thread for m in ear.heard if "below" in m.text} == {late.ts}
    assert {m.text for m in ear.again} <= {"live"}


async def test_f20_at_the_first_start_nothing_is_read(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    chat.says(ann, "long ago", sends=False)
    give_up(slack)
    async with rig.connected(ear):
        chat.says(ann, "now")
        await ear.texts(1)

    assert [message.text for message in ear.heard] == ["now"]
    assert slack.calls_of("conversations.history") == []


async def test_f20_a_broken_socket_is_an_outage_too(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    async with rig.connected(ear):
        chat.says(ann, "before")
        await slack.wait_acked()
        chat.says(ann, "lost", sends=False)
        give_up(slack)
        slack.cut()
        await ear.texts(2)

    assert [message.text for message in ear.heard] == ["before", "lost"]


async def test_a_channel_the_bot_was_invited_to_meanwhile_is_read(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    fresh = slack.channel("C9", "fresh", [ann], bot_is_member=False)
    fresh.says(ann, "long ago", mention=True, sends=False)
    give_up(slack)
    async with rig.connected(ear):
        chat.says(ann, "before")
        await slack.wait_acked()
    fresh.bot_is_member = True
    fresh.says(ann, "hello", mention=True, sends=False)
    give_up(slack)
    async with rig.connected(ear):
        await ear.texts(2)

    assert [(message.text, message.session.conversation) for message in ear.heard[1:]] == [("hello", "C9")]


@pytest.mark.parametrize(
    "fault", [RetryAfter(30), ServerError(), Rejects(200, "ratelimited")], ids=lambda fault: type(fault).__name__
)
async def test_slack_may_ask_to_wait(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person, clock: WatchfulClock, fault: RetryAfter
) -> None:
    async with rig.connected(ear):
        chat.says(ann, "before")
        await slack.wait_acked()
    chat.says(ann, "missed", sends=False)
    give_up(slack)
    slack.inject("users.conversations", fault)
    slack.inject("conversations.history", fault, times=3)
    async with rig.connected(ear, clock=clock):
        chat.says(ann, "live")
        await ear.texts(3)

    assert [message.text for message in ear.heard] == ["before", "missed", "live"]
    if isinstance(fault, RetryAfter):
        assert [seconds for seconds, _ in clock.waits] == [30] * 4


async def test_what_the_app_may_not_read_is_left_out(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    async with rig.connected(ear):
        chat.says(ann, "before")
        await slack.wait_acked()
    slack.inject("users.conversations", Rejects(200, "missing_scope"))
    slack.inject("conversations.history", Rejects(200, "not_in_channel"))
    async with rig.connected(ear):
        chat.says(ann, "live")
        await ear.texts(2)


async def test_what_cannot_be_taken_in_yet_is_not_passed_over(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    """The mark of a place moves behind what is durable: what waits when the process ends is read at the next start."""
    async with rig.connected(ear):
        chat.says(ann, "before")
        await slack.wait_acked()
        ear.opened.clear()
        ear.fails = [Retryable("redis is away")] * 3
        chat.says(ann, "waits")
        await ear.calls(2)
    give_up(slack)
    ear.fails, ear.called = [], 0
    ear.opened.set()
    async with rig.connected(ear):
        await ear.texts(2)

    assert [message.text for message in ear.heard] == ["before", "waits"]


async def test_places_are_noted_on_the_tape(
    slack: FakeSlack, rig: Rig, ear: Ear, room: Channel, chat: Channel, ann: Person
) -> None:
    """Channels, DMs, the threads of the bot; not the threads of others."""
    async with rig.connected(ear):
        chat.says(ann, "dm")
        asked = room.says(ann, "asked", mention=True)
        other = room.says(ann, "other")
        room.says(ann, "below it", thread=other)
        last = room.says(ann, "more", thread=asked)
        below = chat.says(ann, "dm thread", thread=(root := chat.says(ann, "root")))
        await slack.wait_acked()

    assert await LastSeen(rig.store, "ws", WatchfulClock(), "slack").load(ACCOUNT) == {
        chat.id: root.ts,
        room.id: other.ts,
        f"{room.id}/{asked.ts}": last.ts,
        f"{chat.id}/{root.ts}": below.ts,
    }


async def test_a_retry_that_comes_late_takes_no_mark_back(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    async with rig.connected(ear):
        late = chat.says(ann, "one", sends=False)
        last = chat.says(ann, "two")
        await ear.texts(1)
        slack.redeliver(late, 1)
        await slack.wait_acked()

    assert await LastSeen(rig.store, "ws", WatchfulClock(), "slack").load(ACCOUNT) == {chat.id: last.ts}


async def test_more_than_is_read_back_is_told_and_the_newest_come_in(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    async with rig.connected(ear):
        chat.says(ann, "before")
        await slack.wait_acked()
    for number in range(MOST + 5):
        chat.says(ann, str(number), sends=False)
    give_up(slack)
    async with rig.connected(ear):
        await ear.texts(MOST + 1)

    assert [message.text for message in ear.heard[1:]] == [str(number) for number in range(5, MOST + 5)]
    assert "slack.catch_up_cut" in capsys.readouterr().out


async def test_a_thread_that_was_quiet_for_a_week_is_not_read(
    slack: FakeSlack, rig: Rig, ear: Ear, room: Channel, ann: Person
) -> None:
    marks = LastSeen(rig.store, "ws", WatchfulClock(), "slack")
    await marks.load(ACCOUNT)
    old, new = f"{time.time() - 8 * 86400:.6f}", room.says(ann, "asked", sends=False).ts
    for place, ts in ((room.id, new), (f"{room.id}/{old}", old), (f"{room.id}/{new}", new)):
        await marks.saw(place, ts)
    give_up(slack)
    async with rig.connected(ear):
        await slack.wait_calls("conversations.replies")
        room.says(ann, "live", mention=True)
        await ear.texts(1)

    assert [call.form["ts"] for call in slack.calls_of("conversations.replies")] == [new]
