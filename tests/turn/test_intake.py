"""Acceptance: who is let in, what is refused in a sentence, and what leaves no trace."""

from dataclasses import replace

import pytest

from gateway.errors import Retryable
from gateway.redact import Redactor
from gateway.turn.access import Access, Rules
from gateway.turn.approvals import Approvals
from gateway.turn.commands import Need
from gateway.turn.desk import GatewayDesk
from gateway.turn.intake import LONGEST, Intake
from gateway.turn.notices import QUIET
from tests.faults.stage import Stage
from tests.support.world import ROUTE, TAPE, WORKSPACE


def texts(stage):
    """What waits to be shown."""
    return [reply.text for reply in stage.server.route(ROUTE).replies.values()]


def pairing(stage, **rules):
    """An intake with these rules for direct messages."""
    world = stage.world
    access = Access({"chat": Rules(**rules)}, Approvals(world.store, WORKSPACE, world.clock))
    desk = GatewayDesk(world.store, WORKSPACE, world.inbox, world.outbox, access)
    return Intake(
        world.inbox,
        world.outbox,
        world.store,
        WORKSPACE,
        access,
        desk,
        world.clock,
        redact=Redactor(["hunter2-key"]).redact,
    )


def direct(stage, text, author="bob", number=1):
    return replace(stage.world.message(text, author, number), private=True)


@pytest.mark.parametrize("text", ["", " \n\t ", "\u2003"])
async def test_an_empty_message_is_refused_in_a_sentence(text):
    stage = Stage()
    await stage.world.say(text)

    assert texts(stage) == ["That message is empty; write a few words."]


async def test_a_message_beyond_the_limit_is_refused_in_a_sentence():
    stage = Stage()
    await stage.world.say("x" * (LONGEST + 1))

    assert texts(stage) == ["That is too long: I take at most 1,000,000 characters in a message."]


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b", "a\u2028b", "مرحبا 123", "😀", "x" * 400_000])
async def test_odd_text_is_answered_and_the_tape_stays_readable(text):
    """C116, C85"""
    stage = Stage()
    await stage.world.say(text)
    await stage.actor().all()

    said = [e.fact.text for e in stage.world.store._tape(TAPE).entries if e.meta.message]
    assert said == [text.replace("\0", "\ufffd").replace("\ud800", "\ufffd")]


async def test_a_stranger_gets_a_code_once_a_minute_and_leaves_no_tape():
    """C104: a flood of a stranger's words is answered with one line."""
    stage = Stage()
    intake = pairing(stage)
    for number in range(5):
        await intake.receive(direct(stage, "hello", number=number))

    assert len(texts(stage)) == 1
    assert "/pair" in texts(stage)[0]
    assert TAPE not in await stage.world.store.list_tapes()
    stage.clock.advance(QUIET + 1)
    await intake.receive(direct(stage, "hello", number=9))
    assert len(set(texts(stage))) == 1, "the code stays the same"
    assert len(texts(stage)) == 2


async def test_an_approved_person_talks_and_a_revoked_one_does_not():
    stage = Stage()
    intake = pairing(stage, admins=frozenset({"ann"}))
    await intake.receive(direct(stage, "hello"))
    code = (await intake._access.approvals.everybody())[0].code
    await intake.receive(direct(stage, f"/pair {code.lower()}", "ann", 2))
    await stage.actor().all()
    await intake.receive(direct(stage, "word003", number=3))
    await stage.actor().all()

    assert "word003" in "".join(p.text for p in stage.world.chat.sent)
    person = (await intake._access.approvals.everybody())[0]
    await intake._access.approvals.decide(person.code, "revoked", by=direct(stage, "x", "ann").author)
    await intake.receive(direct(stage, "word004", number=4))
    assert (await stage.world.inbox.status(direct(stage, "x").session)).waiting == 0


@pytest.mark.parametrize(
    ("private", "author", "need", "may"),
    [
        (True, "bob", Need.OWNER, True),
        (True, "bob", Need.ADMIN, False),
        (False, "bob", Need.OWNER, False),
        (False, "ann", Need.OWNER, True),
        (False, "ann", Need.ADMIN, True),
        (False, "bob", Need.ANYONE, True),
    ],
)
def test_rights_are_by_command_and_scope(private, author, need, may):
    """C98, C100"""
    stage = Stage()
    message = replace(stage.world.message("x", author, 1), private=private)

    assert stage.world.access.may(message, need) is may


async def test_a_control_command_that_is_delivered_again_answers_once():
    stage = Stage()
    message = await stage.world.say("/status")
    await stage.world.intake.receive(message)

    assert len(texts(stage)) == 1
    assert len([e for e in stage.world.store._tape(TAPE).entries if not e.meta.context]) == 1


async def test_nothing_is_accepted_while_the_server_is_away():
    """P5, P13: no ack, and the message may come again."""
    stage = Stage()
    stage.server.away = True
    message = stage.world.message("word001")
    with pytest.raises(Retryable):
        await stage.world.intake.receive(message)
    stage.server.away = False
    stage.world.accepted.append(message)
    await stage.world.intake.receive(message)
    await stage.judge()


async def test_a_secret_in_a_message_reaches_no_tape():
    """P14"""
    stage = Stage()
    await pairing(stage, direct="open").receive(direct(stage, "my key is hunter2-key"))
    await stage.actor().all()

    assert "hunter2" not in repr(stage.world.store._tape(TAPE).entries)
    assert "hunter2" not in repr(stage.world.chat.sent)
