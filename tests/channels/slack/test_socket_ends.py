"""The ways in which sockets end, and what comes after."""

import asyncio
from pathlib import Path

import pytest
from aiohttp import ClientSession

from gateway.channel import Health
from tests.channels.slack.rig import Ear, Rig, WatchfulClock, soon
from tests.platforms.slack import Channel, FakeSlack, Person
from tests.platforms.slack_bot import open_socket


async def test_a_socket_that_slack_gives_notice_to_is_replaced_before_it_is_closed(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person, clock: WatchfulClock
) -> None:
    async with rig.connected(ear, clock=clock) as channel:
        for reason, number in (("warning", 2), ("refresh_requested", 3)):
            slack.disconnect(reason)
            await slack.wait(lambda n=number: len(slack.connections) == n and len(slack.sockets.open) == 1)
        chat.says(ann, "hello")
        await slack.wait_acked()
        assert channel.health == Health("connected")

    assert {health.state for _, health in clock.waits} == {"connected"}
    assert len(ear.heard) == 1


async def test_a_socket_that_breaks_is_replaced(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person, clock: WatchfulClock
) -> None:
    async with rig.connected(ear, clock=clock):
        slack.cut("before_hello")
        slack.cut("after_hello")
        slack.cut()
        await slack.wait(lambda: len(slack.connections) == 4 and slack.sockets.ready)
        slack.cut("before_envelope")
        said = chat.says(ann, "hello")
        await slack.wait(lambda: len(slack.connections) == 5 and slack.sockets.ready)
        slack.redeliver(said, 1)
        await slack.wait_acked()

    assert len(ear.heard) == 1
    assert "the socket was closed" in await clock.trouble("degraded")


class Spent(set[str]):
    """Tickets of which the first two open nothing."""

    refused = 0

    def __contains__(self, ticket: object) -> bool:
        self.refused += 1
        return self.refused > 2 and super().__contains__(ticket)


async def test_an_address_that_opens_no_socket_is_used_once(slack: FakeSlack, rig: Rig, ear: Ear) -> None:
    """Facts 5.4: it is good for once, and trying it again would never end."""
    slack.sockets.tickets = Spent()
    async with rig.connected(ear):
        assert slack.sockets.issued == 3


async def test_c23_a_deaf_socket_is_noticed_and_replaced(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person, clock: WatchfulClock
) -> None:
    async with rig.connected(ear, clock=clock, ping_interval=0.4):
        slack.mute()
        await slack.wait(lambda: len(slack.connections) == 2 and slack.sockets.ready)
        slack.mute(slack.connections[0])
        chat.says(ann, "hello")
        await ear.texts(1)

    assert "nothing comes through it" in await clock.trouble("degraded")


async def test_c22_more_sockets_than_ours_are_told_of(slack: FakeSlack, rig: Rig, ear: Ear) -> None:
    async with ClientSession() as web:
        stale = await open_socket(slack, web)
        await slack.wait_connected()
        async with rig.connected(ear) as channel:
            assert channel.health.detail.startswith("Slack counts 2 sockets of this app and this process has 1")
        await stale.close()


@pytest.mark.parametrize(
    ("reason", "state", "words"),
    [("link_disabled", "off", "switch it on"), ("too_many_websockets", "degraded", "too many sockets")],
)
async def test_a_socket_that_slack_takes_away_is_told_of(
    slack: FakeSlack, rig: Rig, ear: Ear, clock: WatchfulClock, reason: str, state: str, words: str
) -> None:
    async with rig.connected(ear, clock=clock):
        slack.disconnect(reason)  # type: ignore[arg-type]
        assert words in await clock.trouble(state)
        await slack.wait(lambda: len(slack.connections) > 1 and slack.sockets.ready)


def ours() -> list[str]:
    """Where the tasks of channels and of Slack's SDK come from."""
    codes = [getattr(task.get_coro(), "cr_code", None) for task in asyncio.all_tasks() - {asyncio.current_task()}]
    files = [Path(code.co_filename) for code in codes if code is not None]
    return [str(file) for file in files if {"channels", "slack_sdk"} & set(file.parts) and "tests" not in file.parts]


async def test_nothing_is_left_behind_at_the_end(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    ear.opened.clear()
    async with rig.connected(ear) as channel:
        chat.says(ann, "hello")
        await ear.calls(1)
        assert ours()
    await slack.wait(lambda: not slack.sockets.open)
    await soon(lambda: not ours())

    assert not channel.can_send


async def test_one_process_receives_and_the_other_takes_over(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person
) -> None:
    first = asyncio.create_task(rig.channel().run(ear))
    await slack.wait_connected()
    async with rig.running(ear) as second:
        await rig.accounts.bell.until(lambda: rig.accounts.waiting, 20)
        assert (second.health.state, second.can_send, len(slack.connections)) == ("standby", True, 1)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await slack.wait(lambda: len(slack.connections) == 2 and slack.sockets.ready)
        chat.says(ann, "hello")
        await ear.texts(1)
