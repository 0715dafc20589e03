"""One request a call, never a second copy, and every refusal told as what it is."""

import asyncio
from typing import Any

import pytest

from channels.discord.outgoing import nonce, question
from gateway.channel import Ambiguous, Part
from gateway.errors import GatewayError, Refused, Retryable
from gateway.message import Route
from tests.channels.discord.rig import SEND, Ear, Rig, WatchfulClock, answer, reply_to, sends
from tests.platforms.discord import (
    Channel,
    DropReply,
    FakeDiscord,
    Person,
    Refuse,
    Rejects,
    RetryAfter,
    ServerError,
    Slow,
)


async def test_the_first_part_quotes_the_question_in_a_server_and_calls_nobody(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, private: Channel, ann: Person
) -> None:
    """C82: the request says whom a message may call, and that is nobody."""
    async with rig.connected(ear) as channel:
        said = general.says(ann, "hello", mention=True)
        private.says(ann, "hello")
        await ear.texts(2)
        for message in ear.heard:
            await rig.sent(channel, answer(message, f"@everyone @here <@{ann.id}> <@&{dc.bot.role_id}>"))
    by_channel = {sent.channel_id: sent for sent in dc.sent}
    assert by_channel[general.id].reply_to == said.id
    assert by_channel[private.id].reference is None
    assert dc.pings == []


async def test_the_parts_of_a_long_reply_are_sent_in_order_and_whole(
    rig: Rig, dc: FakeDiscord, general: Channel
) -> None:
    text = " ".join(f"word{number}" for number in range(1500))
    ids = await rig.sent(rig.channel(), reply_to(general.id, text, answers="5"))
    assert [sent.message_id for sent in dc.sent] == ids
    assert " ".join(sent.content for sent in dc.sent).split() == text.split()
    assert [sent.reference is None for sent in dc.sent] == [False] + [True] * (len(ids) - 1)
    assert len({sent.nonce for sent in dc.sent}) == len(ids)
    assert all(sent.enforce_nonce and len(sent.nonce or "") <= 25 for sent in dc.sent)


async def test_a_question_that_is_gone_is_answered_without_a_quote(rig: Rig, dc: FakeDiscord, general: Channel) -> None:
    await rig.sent(rig.channel(), reply_to(general.id, "an answer", answers="12345"))
    assert dc.world.channels[general.id].messages[dc.sent[0].message_id]["type"] == 0


async def test_c68_sending_opens_an_archived_thread_and_a_locked_one_refuses(
    rig: Rig, dc: FakeDiscord, general: Channel
) -> None:
    thread = general.thread("plans")
    thread.closes()
    await rig.sent(rig.channel(), reply_to(thread.id, "still here"))
    assert not thread.archived
    thread.closes(locked=True)
    with pytest.raises(Refused, match="160005"):
        await rig.sent(rig.channel(), reply_to(thread.id, "still here?"))


@pytest.mark.parametrize("code", [50001, 50013, 50007])
async def test_what_discord_will_never_take_is_refused_with_its_words(
    rig: Rig, dc: FakeDiscord, general: Channel, code: int
) -> None:
    general.refuses = code
    with pytest.raises(Refused, match=rf"Discord says: .+ \({code}\)"):
        await rig.sent(rig.channel(), reply_to(general.id, "hello"))
    assert len(sends(dc)) == 1


@pytest.mark.parametrize("conversation", ["404404", "no id", "1/../2", ""])
async def test_a_channel_that_is_none_is_refused(rig: Rig, dc: FakeDiscord, conversation: str) -> None:
    with pytest.raises(Refused):
        await rig.sent(rig.channel(), reply_to(conversation, "hello"))


@pytest.mark.parametrize(
    ("fault", "kind", "after"),
    [
        (RetryAfter(3), Retryable, 3.0),
        (Rejects(429, "slow mode", {"code": 20016}), Retryable, None),
        (Rejects(400, "slow mode", {"code": 20016}), Retryable, None),
        (Rejects(401, "401: Unauthorized"), Retryable, 60.0),
        (ServerError(500), Ambiguous, None),
        (ServerError(502, html=True), Ambiguous, None),
        (ServerError(404, html=True), Retryable, None),
        (DropReply(), Ambiguous, None),
        (Refuse(), Ambiguous, None),
        (Rejects(400, "Invalid Form Body", {"code": 50035}), Refused, None),
    ],
)
async def test_each_failure_is_what_it_is_and_asked_once(
    rig: Rig, dc: FakeDiscord, general: Channel, fault: Any, kind: type[Exception], after: float | None
) -> None:
    """C01, C02: only what surely left nothing behind may be sent again as if nothing had been."""
    dc.inject(SEND, fault)
    with pytest.raises(kind) as raised:
        await rig.sent(rig.channel(), reply_to(general.id, "hello"))
    assert len(sends(dc)) == 1
    assert getattr(raised.value, "after", None) == after
    assert "discord-token" not in str(raised.value)


async def test_what_was_never_written_may_be_sent_again(rig: Rig, dc: FakeDiscord, general: Channel) -> None:
    """C02."""
    await dc.down()
    with pytest.raises(Retryable, match="cannot be reached"):
        await rig.sent(rig.channel(), reply_to(general.id, "hello"))


async def test_a_send_has_a_deadline(rig: Rig, dc: FakeDiscord, general: Channel) -> None:
    dc.inject(SEND, Slow(asyncio.Event()), times=None)
    channel = rig.channel(deadline=0.1)
    with pytest.raises(Ambiguous):
        await rig.sent(channel, reply_to(general.id, "hello"))
    with pytest.raises(Retryable):
        await rig.sent(channel, reply_to(general.id, "hello"), repeated=True)


@pytest.mark.parametrize("minutes", [0, 60])
@pytest.mark.parametrize("arrived", [True, False])
async def test_a_part_in_doubt_is_found_or_sent_and_never_doubled(
    rig: Rig, ear: Ear, dc: FakeDiscord, general: Channel, ann: Person, bob: Person, arrived: bool, minutes: int
) -> None:
    """Discord knows a nonce for minutes; after that the history tells."""
    async with rig.connected(ear) as channel:
        general.says(ann, "hello", mention=True)
        await ear.texts(1)
        reply = answer(ear.heard[0], "the answer")
        dc.inject(SEND, DropReply() if arrived else Refuse())
        with pytest.raises(Ambiguous):
            await rig.sent(channel, reply)
        for number in range(130):
            general.says(bob, f"{number}")
        rig.clock.advance(60 * minutes)
        [sent] = await rig.sent(channel, reply, repeated=True)
    assert [(sent.content, sent.message_id) for sent in dc.sent] == [("the answer", sent)]
    assert len(sends(dc)) == (1 if arrived else 2)


async def test_the_same_words_in_an_older_answer_are_not_taken_for_this_one(
    rig: Rig, ear: Ear, dc: FakeDiscord, private: Channel, ann: Person
) -> None:
    async with rig.connected(ear) as channel:
        for text in ("one", "two"):
            private.says(ann, text)
        await ear.texts(2)
        await rig.sent(channel, answer(ear.heard[0], "ok"))
        dc.inject(SEND, Refuse())
        with pytest.raises(Ambiguous):
            await rig.sent(channel, answer(ear.heard[1], "ok"))
        await rig.sent(channel, answer(ear.heard[1], "ok"), repeated=True)
    assert [sent.content for sent in dc.sent] == ["ok", "ok"]


async def test_while_nobody_can_look_a_part_in_doubt_waits(rig: Rig, dc: FakeDiscord, general: Channel) -> None:
    """Its state stays "in doubt", so the next try looks again: nothing is given up as unknown."""
    dc.inject("GET /channels/{id}/messages", ServerError(503))
    with pytest.raises(Retryable):
        await rig.sent(rig.channel(), reply_to(general.id, "hello"), repeated=True)
    dc.inject(SEND, DropReply())
    with pytest.raises(Retryable):
        await rig.sent(rig.channel(), reply_to(general.id, "hello"), repeated=True)
    await rig.sent(rig.channel(), reply_to(general.id, "hello"), repeated=True)
    assert [sent.content for sent in dc.sent] == ["hello"]


async def test_a_history_that_may_not_be_read_leaves_it_to_the_nonce(
    rig: Rig, dc: FakeDiscord, general: Channel
) -> None:
    dc.inject(SEND, DropReply())
    with pytest.raises(Ambiguous):
        await rig.sent(rig.channel(), reply_to(general.id, "hello"))
    dc.inject("GET /channels/{id}/messages", Rejects(403, "Missing Access", {"code": 50001}))
    await rig.sent(rig.channel(), reply_to(general.id, "hello"), repeated=True)
    assert [sent.content for sent in dc.sent] == ["hello"]


async def test_typing_is_shown_and_its_failures_are_of_no_consequence(
    rig: Rig, dc: FakeDiscord, general: Channel
) -> None:
    channel = rig.channel()
    await channel.typing(Route("discord", "1", general.id))
    assert [typing.channel_id for typing in dc.typing] == [general.id]
    dc.inject("POST /channels/{id}/typing", ServerError(500))
    await channel.typing(Route("discord", "1", general.id))
    await channel.typing(Route("discord", "1", "no channel"))
    await dc.down()
    await channel.typing(Route("discord", "1", general.id))
    assert channel.typing_every < 10


def test_a_part_is_known_by_its_turn_its_place_and_its_words() -> None:
    reply = reply_to("5", "x", turn="discord/1/77")
    names = {nonce(reply, Part(text), index) for text in ("a", "b") for index in (0, 1)}
    assert len(names) == 4
    assert {len(name) for name in names} == {25}
    assert names.isdisjoint({nonce(reply_to("5", "x", turn="discord/1/78"), Part("a"), 0)})


@pytest.mark.parametrize(
    ("turn", "answers", "asked"),
    [
        ("discord/1/77", None, 77),
        ("discord/1/77", "78", 78),
        ("discord/1/77/full", "interaction:79", 79),
        ("odd", None, 0),
    ],
)
def test_what_a_reply_answers_is_older_than_the_reply(turn: str, answers: str | None, asked: int) -> None:
    assert question(reply_to("5", turn=turn, answers=answers)) == asked


async def test_a_token_that_is_none_is_refused_without_being_shown(rig: Rig) -> None:
    for token in ("", "two words", "line\nbreak", "ümlaut"):
        with pytest.raises(GatewayError) as refused:
            rig.channel(token=token)
        assert not token or token not in str(refused.value)


def test_the_clock_of_the_rig_is_the_platforms(clock: WatchfulClock, dc: FakeDiscord) -> None:
    assert dc.world.clock() == clock.now().timestamp()
