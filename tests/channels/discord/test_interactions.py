"""Application commands: taken in within their time or not at all, and answered in their own place."""

import asyncio
import logging
from typing import Any

import pytest

from channels.discord.interactions import NOT_TAKEN
from gateway.channel import Ambiguous
from gateway.errors import Retryable
from gateway.message import IncomingMessage
from tests.channels.discord.rig import COMMANDS, Ear, Rig, WatchfulClock, answer, sends
from tests.platforms.discord import Channel, DropReply, FakeDiscord, Person, Rejects, ServerError, Slow

CALLBACK = "POST /interactions/{id}/{token}/callback"
ORIGINAL = "PATCH /webhooks/{app}/{token}/messages/@original"


async def test_commands_are_registered_when_they_are_not_what_discord_has(rig: Rig, ear: Ear, dc: FakeDiscord) -> None:
    """A change costs a part of a day's budget: the next start asks and puts nothing."""
    async with rig.connected(ear):
        await rig.registered()
    found = {command["name"]: command for command in dc.bot.commands}
    assert list(found) == [usage.split()[0] for usage, _ in COMMANDS]
    assert found["stop"]["options"] == []
    assert [(o["name"], o["required"]) for o in found["search"]["options"]] == [("text", True)]
    assert [(o["description"], o["required"]) for o in found["handoff"]["options"]] == [("[name] [note...]", False)]
    asked = len(dc.calls_of("GET /applications/{app}/commands"))
    async with rig.connected(ear):
        await dc.wait_calls("GET /applications/{app}/commands", asked + 1)
    assert dc.commands_put == 1
    async with rig.connected(ear, commands=COMMANDS[:2]):
        await rig.registered(2)
    assert [command["name"] for command in dc.bot.commands] == ["help", "status"]


async def test_commands_that_could_not_be_registered_come_with_the_next_session(
    rig: Rig, ear: Ear, dc: FakeDiscord
) -> None:
    injected = dc.inject("GET /applications/{app}/commands", ServerError(500))
    async with rig.connected(ear):
        await dc.wait(lambda: injected.hits)
        dc.invalidate()
        await rig.registered()


@pytest.mark.parametrize("place", ["general", "private"])
async def test_a_command_is_taken_in_first_and_answered_in_its_place(
    rig: Rig, ear: Ear, dc: FakeDiscord, ann: Person, place: str, request: pytest.FixtureRequest
) -> None:
    channel_of_ann: Channel = request.getfixturevalue(place)
    async with rig.connected(ear) as channel:
        await rig.registered()
        asked = channel_of_ann.commands(ann, "handoff", text="plans all done")
        await ear.texts(1)
        await dc.wait(lambda: asked.thinking)
        message = ear.heard[0]
        assert (message.text, message.private) == ("/handoff plans all done", place == "private")
        assert message.id == f"discord/1/{asked.id}"
        assert (asked.callbacks[0].type, asked.ephemeral) == (5, False)
        [sent] = await rig.sent(channel, answer(message, "Begun."))
        assert (asked.content, asked.original_id) == ("Begun.", sent)
    assert not sends(dc)


async def test_later_parts_are_messages_of_the_channel(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, ann: Person
) -> None:
    async with rig.connected(ear) as channel:
        await rig.registered()
        asked = general.commands(ann, "help")
        await ear.texts(1)
        text = "word " * 900
        ids = await rig.sent(channel, answer(ear.heard[0], text))
        assert len(ids) == 3
        assert asked.original_id == ids[0]
    assert [sent.message_id for sent in dc.sent] == ids
    assert " ".join(sent.content for sent in dc.sent).split() == text.split()
    assert all("message_reference" not in call.body for call in sends(dc))


async def test_an_answer_may_be_sent_by_another_process(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, ann: Person
) -> None:
    async with rig.connected(ear), rig.running(None) as worker:
        await rig.until_told(worker, "connected")
        await rig.registered()
        asked = general.commands(ann, "status")
        await ear.texts(1)
        await dc.wait(lambda: asked.thinking)
        await rig.sent(worker, answer(ear.heard[0], "All is well."))
        assert asked.content == "All is well."


async def test_an_answer_waits_until_discord_was_told(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, ann: Person
) -> None:
    """Else "is thinking" would come after it, and stay for ever: in this process it waits, in others it comes again."""
    gate = asyncio.Event()
    dc.inject(CALLBACK, Slow(gate))
    async with rig.connected(ear) as channel, rig.running(None) as worker:
        await rig.until_told(worker, "connected")
        await rig.registered()
        asked = general.commands(ann, "status")
        await ear.texts(1)
        reply = answer(ear.heard[0], "All is well.")
        with pytest.raises(Retryable) as early:
            await rig.sent(worker, reply)
        assert early.value.after == 1
        sending = asyncio.create_task(rig.sent(channel, reply))
        await dc.wait_calls(CALLBACK)
        gate.set()
        await sending
        assert asked.content == "All is well."
    assert not sends(dc)


async def test_a_command_that_waits_too_long_is_refused_in_public_and_never_taken_in(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, ann: Person
) -> None:
    """Two seconds of Discord's three: behind a message that waits for Redis, and in the middle of `receive`."""
    ear.opened.clear()
    async with rig.connected(ear):
        await rig.registered()
        general.says(ann, "first", mention=True)
        await ear.calls(1)
        behind = general.commands(ann, "stop")
        elsewhere = dc.private(ann).commands(ann, "stop")
        await ear.calls(2)
        for asked in (behind, elsewhere):
            await dc.wait(lambda asked=asked: asked.content)
            assert (asked.content, asked.ephemeral) == (NOT_TAKEN, True)
        ear.opened.set()
        general.says(ann, "last", mention=True)
        await ear.texts(2)
    assert [message.text for message in ear.heard] == ["first", "last"]


async def test_a_command_that_redis_cannot_take_is_refused_at_once(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, ann: Person
) -> None:
    ear.fails = [Retryable("Redis is away"), ValueError("a bug")]
    async with rig.connected(ear):
        await rig.registered()
        for _ in range(2):
            asked = general.commands(ann, "stop")
            await dc.wait(lambda asked=asked: asked.content)
            assert (asked.content, asked.ephemeral) == (NOT_TAKEN, True)
        general.commands(ann, "status")
        assert await ear.texts(1) == ["/status"]


async def test_a_command_whose_time_was_over_is_taken_in_and_answered_by_a_message(
    rig: Rig, ear: Ear, dc: FakeDiscord, clock: WatchfulClock, general: Channel, ann: Person
) -> None:
    """10062 is no error of the message."""
    dc.inject(CALLBACK, Rejects(404, "Unknown interaction", {"code": 10062}))
    async with rig.connected(ear) as channel:
        await rig.registered()
        general.commands(ann, "status")
        await ear.texts(1)
        await dc.wait_calls(CALLBACK)
        clock.advance(6)
        await rig.sent(channel, answer(ear.heard[0], "All is well."))
    assert [(sent.content, sent.interaction) for sent in dc.sent] == [("All is well.", None)]


@pytest.mark.parametrize("forgotten", [False, True])
async def test_an_answer_after_the_time_of_a_command_is_a_message(
    rig: Rig, ear: Ear, dc: FakeDiscord, clock: WatchfulClock, general: Channel, ann: Person, forgotten: bool
) -> None:
    """Fifteen minutes at Discord; fourteen here, then the token is forgotten."""
    async with rig.connected(ear) as channel:
        await rig.registered()
        asked = general.commands(ann, "status")
        await dc.wait(lambda: asked.thinking)
        clock.advance(16 * 60)
        if forgotten:
            rig.tokens.kept.clear()
        await rig.sent(channel, answer(ear.heard[0], "At last."))
    assert [(sent.content, sent.interaction) for sent in dc.sent] == [("At last.", None)]


async def test_an_answer_that_was_not_confirmed_is_put_once(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, ann: Person
) -> None:
    """An edit may be made twice."""
    async with rig.connected(ear) as channel:
        await rig.registered()
        asked = general.commands(ann, "status")
        await dc.wait(lambda: asked.thinking)
        dc.inject(ORIGINAL, DropReply())
        reply = answer(ear.heard[0], "All is well.")
        with pytest.raises(Ambiguous):
            await rig.sent(channel, reply)
        await rig.sent(channel, reply, repeated=True)
    assert [sent.content for sent in dc.sent] == ["All is well."]
    assert not sends(dc)


async def test_a_command_and_a_message_of_one_place_keep_their_order(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, ann: Person
) -> None:
    async with rig.connected(ear):
        await rig.registered()
        general.says(ann, "one", mention=True)
        general.commands(ann, "handoff", text="two")
        general.says(ann, "three", mention=True)
        assert await ear.texts(3) == ["one", "/handoff two", "three"]


async def test_p14_no_token_reaches_a_log_at_any_level(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, ann: Person, caplog: pytest.LogCaptureFixture, capsys: Any
) -> None:
    """The SDK's own lines at DEBUG hold whole frames."""
    caplog.set_level(logging.DEBUG)
    dc.inject(CALLBACK, DropReply())
    async with rig.connected(ear):
        await rig.registered()
        asked = general.commands(ann, "status")
        await dc.wait(lambda: asked.callbacks)
        dc.disconnect(4000)
        await dc.wait(lambda: dc.resumes)
    told = caplog.text + "".join(capsys.readouterr())
    assert "discord.command_not_answered" in told
    assert asked.token not in told
    assert dc.token not in told


async def test_a_token_is_kept_before_its_message_is_taken_in(
    rig: Rig, dc: FakeDiscord, general: Channel, ann: Person
) -> None:
    kept: list[bool] = []

    async def receive(message: IncomingMessage) -> None:
        kept.append(message.id in rig.tokens.kept)

    async with rig.connected(receive):
        await rig.registered()
        asked = general.commands(ann, "status")
        await dc.wait(lambda: asked.callbacks)
    assert kept == [True]
