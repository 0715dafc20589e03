"""What happens to replies when the server lost everything: the tape tells what was shown, the rest is marked."""

from gateway.turn.sweep import Sweep
from tests.faults.stage import Stage


async def test_what_the_tape_knows_as_delivered_is_not_sent_again_after_redis_lost_everything():
    """V7, P8"""
    stage = Stage()
    await stage.world.say("word001")
    await stage.actor().all()
    before = len(stage.world.chat.sent)
    stage.server.wipe()
    await stage.judge(wiped=True)

    assert len(stage.world.chat.sent) == before


async def test_a_part_that_may_have_left_before_redis_lost_everything_is_marked():
    """V7, P8: the sweep cannot know how far the delivery was."""
    stage = Stage()
    await stage.world.say("word001")
    actor = stage.actor()
    await actor.all_turns()
    stage.server.wipe()
    await Sweep(stage.world.outbox, stage.world.store, None, stage.clock).once()
    await stage.actor().all()

    assert [s.repeated for s in stage.world.chat.sent] == [True]
