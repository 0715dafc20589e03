"""One bot in all platforms at once, as one process and as three."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.platforms.openai import echo
from tests.scenarios.friends import outcomes, words
from tests.support.everywhere import Everywhere
from tests.support.gateway import Gateway

pytestmark = pytest.mark.asyncio(loop_scope="module")

PLATFORMS = ("telegram", "discord", "slack")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["one process", "channels and two workers"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[Everywhere]:
    async with Everywhere() as world:
        roles = ["all"] if request.param == "one process" else ["channels", "worker", "worker"]
        started = [await world.home.begin(role) for role in roles]
        await asyncio.gather(*(gateway.connected(*PLATFORMS) for gateway in started))
        yield world
        for gateway in started:
            assert gateway.alive, gateway.told()


def of(world: Everywhere, event: str) -> list[tuple[Gateway, str]]:
    """Which processes did something, and in which session."""
    return [(g, str(line.get("session"))) for g in world.home.gateways for line in g.log if line["event"] == event]


async def test_conversations_in_every_kind_of_place_at_once(world: Everywhere) -> None:
    """Channels, done when 1: every answer comes in its own place, in order, once, and on a tape of its own."""
    world.ai.script = echo
    spots = world.spots()
    for round_ in ("one", "two", "three"):
        for spot in spots:
            spot.says(f"{spot.name} {round_}")
        count = {"one": 1, "two": 2, "three": 3}[round_]
        await world.until(lambda count=count: all(len(spot.heard()) >= count for spot in spots))  # type: ignore[misc]
    for spot in spots:
        said = [f"{spot.name} {round_}" for round_ in ("one", "two", "three")]
        assert spot.heard() == [f"echo: {text}" for text in said]
        assert words(await world.home.tape(spot.session), "user")[-3:] == said
        assert outcomes(await world.home.tape(spot.session))[-3:] == ["finished"] * 3


async def test_commands_in_each_platforms_own_way(world: Everywhere) -> None:
    """Channels, done when 1: an application command, a slash command, and words in a thread."""
    ann = world.dc.person(77, "Ann")
    guild = world.dc.guild(770, "Own", members=[ann])
    asked = guild.text("general").commands(ann, "status")
    zoe = world.sl.person("UZOE", "Zoe")
    private, channel = world.sl.private(zoe), world.sl.channel("C770", "own", members=[zoe])
    private.commands(zoe, "/gateway", "whoami")
    hint = channel.commands(zoe, "/gateway", "reset")
    root = channel.says(zoe, "hello", mention=True)
    await world.until(lambda: bool([s for s in world.sl.sent if s.thread_ts == root.ts]))
    channel.says(zoe, "!status", thread=root)

    await world.dc.wait(lambda: asked.content)
    assert asked.callbacks[0].type == 5
    assert "Nothing is running" in str(asked.content) or "nothing" in str(asked.content).lower()
    await world.sl.wait(lambda: [s for s in world.sl.sent if s.channel == private.id and "UZOE" in s.text])
    await world.sl.wait(lambda: hint.acks)
    assert "!reset" in str(hint.acks)
    await world.sl.wait(lambda: len([s for s in world.sl.sent if s.thread_ts == root.ts]) == 2)


async def test_roles_do_what_they_are_for(world: Everywhere) -> None:
    """Channels, done when 1: workers answer and send without a connection that receives."""
    accepted = {gateway for gateway, _ in of(world, "message.accepted")}
    merged = {gateway for gateway, _ in of(world, "turn.merged")}
    if len(world.home.gateways) == 1:
        assert accepted == merged
        return
    channels, *workers = world.home.gateways
    assert accepted == {channels}
    assert merged <= set(workers)
    assert merged
    assert len(world.dc.identifies) == 1
    assert len(world.sl.connections) == 1
