"""The channel as a whole: gates, commands, people, tokens."""

import asyncio

import pytest

from channels.slack import build
from channels.slack.adapter import SlackChannel
from gateway.channel import Channel as Port
from gateway.channel import Health, KnowsAdmins, Part, ShowsTyping
from gateway.errors import Refused, Retryable
from gateway.message import Quote
from gateway.tape.last_seen import LastSeen
from tests.channels.slack.rig import ACCOUNT, Ear, Rig, WatchfulClock, give_up, reply_to, soon
from tests.platforms.slack import Channel, FakeSlack, File, Person, Rejects, ServerError

HELLO = Part("hello", '[{"type": "rich_text_section", "elements": [{"type": "text", "text": "hello"}]}]')


def test_it_is_a_channel_with_two_talents(rig: Rig) -> None:
    channel: Port = rig.channel()

    assert isinstance(channel, ShowsTyping)
    assert isinstance(channel, KnowsAdmins)
    assert (channel.name, channel.account, channel.can_send) == ("slack", "", False)
    assert channel.typing_every == 60


async def test_c56_another_person_goes_on_in_a_thread_of_the_bots(
    slack: FakeSlack, rig: Rig, ear: Ear, room: Channel, ann: Person, bob: Person
) -> None:
    async with rig.connected(ear):
        asked, other = room.says(ann, "asked", mention=True), room.says(ann, "other")
        room.says(bob, "me too", thread=asked)
        room.says(bob, "not you", thread=other)
        await slack.wait_acked()

    assert [(message.text, message.author.name, message.route.thread) for message in ear.heard] == [
        ("asked", "Ann", asked.ts),
        ("me too", "Bob", asked.ts),
    ]
    assert [call.form["ts"] for call in slack.calls_of("conversations.replies")] == [other.ts]


async def test_c56_threads_that_were_noted_are_known_after_a_restart(
    slack: FakeSlack, rig: Rig, ear: Ear, room: Channel, ann: Person, bob: Person
) -> None:
    async with rig.connected(ear):
        asked = room.says(ann, "asked", mention=True)
        await slack.wait_acked()
    async with rig.connected(ear):
        room.says(bob, "me too", thread=asked)
        await ear.texts(2)

    assert [call for call in slack.calls_of("conversations.replies") if "oldest" not in call.form] == []


@pytest.mark.parametrize("spoke", [False, True])
async def test_c56_a_restart_does_not_forget_which_threads_are_the_bots(
    slack: FakeSlack, rig: Rig, ear: Ear, room: Channel, ann: Person, bob: Person, spoke: bool
) -> None:
    """Where it was addressed, and where it spoke; both are read back, once a thread."""
    root = room.says(ann, "asked", mention=not spoke, sends=False)
    if spoke:
        room.posts({"text": "I say"}, thread_ts=root.ts)
    give_up(slack)
    async with rig.connected(ear):
        room.says(bob, "one", thread=root)
        room.says(bob, "two", thread=root)
        await ear.texts(2)

    assert len(slack.calls_of("conversations.replies")) == 1


async def test_a_thread_under_a_message_of_the_bots_needs_no_mention(
    slack: FakeSlack, rig: Rig, ear: Ear, room: Channel, bob: Person
) -> None:
    async with rig.connected(ear):
        root = room.posts({"text": "I begin"})
        room.says(bob, "tell more", thread=root)
        assert (await ear.message()).route.thread == root["ts"]

    assert slack.calls_of("conversations.replies") == []


async def test_threads_that_may_not_be_read_are_not_the_bots_and_trouble_is_waited_for(
    slack: FakeSlack, rig: Rig, ear: Ear, room: Channel, ann: Person
) -> None:
    secret, open_ = (room.says(ann, "root", sends=False) for _ in range(2))
    room.says(ann, "<@UBOT>", thread=open_, sends=False)
    give_up(slack)
    slack.inject("conversations.replies", Rejects(200, "missing_scope"))
    slack.inject("conversations.replies", ServerError(), times=2)
    async with rig.connected(ear):
        room.says(ann, "unknown", thread=secret)
        room.says(ann, "known", thread=open_)
        await slack.wait_acked()

    assert [message.text for message in ear.heard] == ["known"]


async def test_c37_people_are_heard_and_nobody_else(
    slack: FakeSlack, rig: Rig, ear: Ear, room: Channel, chat: Channel, ann: Person
) -> None:
    other = slack.person("U9", "Other", is_bot=True)
    async with rig.connected(ear):
        said = chat.says(ann, "one")
        chat.edits(ann, said, "one, edited")
        chat.deletes(said)
        chat.says(other, "I am a bot")
        room.says(other, "I am a bot", mention=True)
        room.says(other, "built", subtype="bot_message", mention=True)
        room.says(other, "more", thread=room.says(other, "a thread of bots"))
        room.joins(ann)
        room.sets_topic(ann, "tea")
        chat.says(ann, "two", subtype="me_message")
        chat.says(ann, "three", files=[File("a.pdf", b"%PDF")])
        root = room.says(ann, "root", mention=True)
        room.says(ann, "four", mention=True, thread=root, broadcast=True)
        room.posts({"text": "my own <@UBOT>"})
        await slack.wait_acked()

    assert sorted(message.text for message in ear.heard) == ["four", "one", "root", "three\n[document: a.pdf]", "two"]
    assert slack.calls_of("conversations.replies") == []


async def test_a_slash_command_in_a_dm_is_taken_in_before_the_ack(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    ear.opened.clear()
    async with rig.connected(ear):
        command = chat.commands(ann, "/gateway", "status")
        await ear.calls(1)
        assert command.acks == []
        ear.opened.set()
        await slack.wait_acked()

    assert command.acks == [None]
    assert [(m.text, str(m.session), m.private) for m in ear.heard] == [("/status", f"slack/{ACCOUNT}/{chat.id}", True)]


async def test_a_slash_command_in_a_channel_has_no_thread(
    slack: FakeSlack, rig: Rig, ear: Ear, room: Channel, ann: Person
) -> None:
    async with rig.connected(ear):  # `reset` is known by "reset [discard]"
        hint, done, unknown = (room.commands(ann, "/gateway", text) for text in ("reset", "whoami", "dance"))
        await slack.wait_acked()

    assert (done.acks, unknown.acks) == ([None], [None])
    [told] = hint.acks
    assert told is not None
    assert told["response_type"] == "ephemeral"
    assert "`!reset`" in told["text"]
    assert [(m.text, m.route.thread) for m in ear.heard] == [("/whoami", None), ("/help", None)]


async def test_a_slash_command_that_cannot_be_taken_in_fails_in_sight(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    ear.opened.clear()
    async with rig.hooked(ear):
        chat.commands(ann, "/gateway", "status")
        await slack.wait(lambda: slack.posts)

    assert slack.posts[0].status == 503


async def test_what_was_overheard_comes_along_once(
    slack: FakeSlack, rig: Rig, ear: Ear, room: Channel, ann: Person, bob: Person
) -> None:
    ear.fails = [Retryable("redis is away")]
    async with rig.connected(ear, group_context=2):
        for text in ("forgotten", "tea?", "coffee"):
            room.says(bob, text)
        room.says(ann, "what do they want", mention=True)
        await ear.texts(1)
        await slack.wait_acked()
        room.says(ann, "and now", mention=True)
        await ear.texts(2)

    assert [message.quotes for message in ear.heard] == [(Quote("Bob", "tea?"), Quote("Bob", "coffee")), ()]


async def test_a_wrong_bot_token_is_found_before_anything_is_opened(
    slack: FakeSlack, rig: Rig, ear: Ear, clock: WatchfulClock
) -> None:
    async with rig.running(ear, bot_token="xoxb-wrong", clock=clock) as channel:
        assert "GATEWAY_SLACK__BOT_TOKEN" in await clock.trouble("off")
        assert {seconds for seconds, health in clock.waits if health.state == "off"} == {60.0}
        assert (channel.account, channel.can_send) == ("", False)

    assert slack.calls_of("apps.connections.open") == []


async def test_a_wrong_app_token_is_found_before_a_socket_is_opened_and_replies_leave(
    slack: FakeSlack, rig: Rig, ear: Ear, clock: WatchfulClock, chat: Channel
) -> None:
    async with rig.running(ear, app_token="xapp-wrong", clock=clock) as channel:
        assert "GATEWAY_SLACK__APP_TOKEN" in await clock.trouble("off")
        await channel.send(reply_to(chat.id), HELLO, index=0, of=1, repeated=False)

    assert (slack.connections, len(slack.sent)) == ([], 1)


async def test_without_a_way_in_the_channel_says_what_to_set(rig: Rig, ear: Ear, clock: WatchfulClock) -> None:
    async with rig.running(ear, app_token=None, clock=clock):
        told = await clock.trouble("off")

    assert "GATEWAY_SLACK__APP_TOKEN" in told
    assert "GATEWAY_SLACK__SIGNING_SECRET" in told


@pytest.mark.parametrize(
    "tokens",
    [
        {"bot_token": ""},
        {"bot_token": "xoxb 1"},
        {"bot_token": "xapp-1"},
        {"app_token": "xoxb-1"},
        {"app_token": "x\n"},
    ],
)
def test_what_cannot_be_a_token_is_refused(rig: Rig, tokens: dict[str, str]) -> None:
    with pytest.raises(Refused, match="token is not one"):
        rig.channel(**tokens)


async def test_an_outage_at_the_start_is_waited_for(slack: FakeSlack, rig: Rig, ear: Ear, clock: WatchfulClock) -> None:
    await slack.down()
    async with rig.running(ear, clock=clock) as channel:
        assert "cannot be reached" in await clock.trouble("degraded")
        await slack.up()
        await slack.wait_connected()
        await soon(lambda: channel.health == Health("connected"))


@pytest.mark.parametrize("fault", [ServerError(html=True), Rejects(404, "")], ids=["proxy", "elsewhere"])
async def test_what_is_not_slack_is_told_of(
    slack: FakeSlack, rig: Rig, ear: Ear, clock: WatchfulClock, fault: ServerError
) -> None:
    slack.inject("auth.test", fault)
    async with rig.running(ear, clock=clock):
        await clock.trouble("degraded")
        await slack.wait_connected()


async def test_slacks_own_variables_change_nothing(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("BOT_TOKEN", "APP_TOKEN", "SIGNING_SECRET", "CLIENT_ID", "CLIENT_SECRET"):
        monkeypatch.setenv(f"SLACK_{name}", "wrong")
    async with rig.hooked(ear):
        chat.says(ann, "hello")
        await ear.texts(1)


async def test_two_bots_on_two_bases_do_not_mix(slack: FakeSlack, rig: Rig, ear: Ear) -> None:
    async with FakeSlack(team="T2") as other, rig.connected(ear) as one:
        second = rig.channel(api_base=other.url.removesuffix("/"))
        task = asyncio.create_task(second.run(ear))
        await other.wait_connected()

        assert (one.account, second.account) == ("T1:UBOT", "T2:UBOT")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def test_build_takes_plain_arguments(rig: Rig) -> None:
    channel = build(
        bot_token="xoxb-1",
        holder=rig.accounts.hold,
        clock=WatchfulClock(),
        poison_folder=rig.poison,
        last_seen=LastSeen(rig.store, "ws", WatchfulClock(), "slack"),
    )

    assert isinstance(channel, SlackChannel)
