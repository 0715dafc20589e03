"""Admins whom only the platform knows: what is known locally is judged at once, else the command waits."""

from dataclasses import replace

import pytest

from gateway.errors import Retryable
from gateway.turn.access import Access, Rules
from gateway.turn.approvals import Approvals
from gateway.turn.commands import Need
from gateway.turn.work import NOT_KNOWN
from tests.faults.stage import Stage
from tests.support.world import ROUTE, TAPE, WORKSPACE


class Platform:
    """A channel that knows admins: `local` is what it knows now, `truth` what its platform says when asked."""

    def __init__(self, local=None, truth=True):
        self.local, self.truth, self.asked = local, truth, 0

    def admin(self, route, person):
        return self.local

    async def ask_admin(self, route, person):
        self.asked += 1
        if isinstance(self.truth, Exception):
            raise self.truth
        return self.truth


def stage_with(platform, *, counts=True):
    stage = Stage()
    world = stage.world
    world.access = Access(
        {"chat": Rules(direct="open", platform=counts)},
        Approvals(world.store, WORKSPACE, world.clock),
        lambda route: platform,
    )
    world.intake = world.intake_over(world.inbox, world.outbox, world.store)
    return stage


async def ended(stage):
    """What is said in the end, and the window."""
    await stage.actor().all_turns()
    window = await stage.world.store.window(TAPE)
    return [reply.text for reply in stage.server.route(ROUTE).replies.values()], window


@pytest.mark.parametrize("truth", [True, False])
async def test_what_is_not_known_locally_waits_in_its_place_and_the_platform_decides(truth):
    platform = Platform(local=None, truth=truth)
    stage = stage_with(platform)
    await stage.world.say("hello", "zoe")
    await stage.world.say("/reset", "zoe")

    assert platform.asked == 0, "acceptance uses local data only"
    texts, _ = await ended(stage)
    assert len(texts) == 2, "it stopped nothing: what waited before it was answered"
    assert texts[1].startswith("Started over." if truth else "/reset is for admins here.")


async def test_an_admin_known_locally_stops_what_runs_at_once():
    stage = stage_with(Platform(local=True))
    await stage.world.say("hello", "zoe")
    await stage.world.say("/reset", "zoe")

    texts, _ = await ended(stage)
    assert [text.split(".")[0] for text in texts] == ["Started over"]


async def test_a_platform_that_cannot_be_asked_changes_nothing_and_the_person_is_told():
    stage = stage_with(Platform(local=None, truth=Retryable("Telegram is away")))
    await stage.world.say("hello", "zoe")
    await stage.world.say("/reset", "zoe")

    texts, window = await ended(stage)
    assert texts[1] == NOT_KNOWN
    assert len(window.entries) > 2


async def test_the_platform_is_not_asked_where_its_admins_do_not_count_nor_in_private():
    platform = Platform(local=True)
    stage = stage_with(platform, counts=False)
    message = stage.world.message("x", "zoe", 1)
    assert stage.world.access.may(message, Need.OWNER) is False
    stage = stage_with(platform)
    assert stage.world.access.may(replace(message, private=True), Need.ADMIN) is False
    assert stage.world.access.may(message, Need.ADMIN) is True


@pytest.mark.parametrize(
    ("local", "words"), [(True, "you are an admin"), (False, "you are not an admin"), (None, "I am finding out")]
)
async def test_whoami_says_no_more_than_is_known(local, words):
    stage = stage_with(Platform(local=local))
    await stage.world.say("/whoami", "zoe")
    texts, _ = await ended(stage)
    assert words in texts[0]
