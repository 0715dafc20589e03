"""Acceptance: who is let in, what is refused in a sentence, and what leaves no trace."""

from dataclasses import replace

import pytest

from gateway.errors import Retryable
from gateway.message import Quote
from gateway.redact import Redactor
from gateway.turn.access import Access, Rules
from gateway.turn.approvals import Approvals
from gateway.turn.commands import Need
from gateway.turn.commands.stop import NOTHING, NOTHING_OF_YOURS
from gateway.turn.desk import GatewayDesk
from gateway.turn.intake import FULL, LONGEST, Intake
from gateway.turn.notices import QUIET
from tests.faults.stage import Stage
from tests.support.world import HALL, KEY, ROUTE, TAPE, WORKSPACE


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
    said = replace(direct(stage, "my key is hunter2-key"), quotes=(Quote("hunter2-key", "use hunter2-key"),))
    await pairing(stage, direct="open").receive(said)
    await stage.actor().all()

    assert "hunter2" not in repr(stage.world.store._tape(TAPE).entries)
    assert "hunter2" not in repr(stage.world.chat.sent)


async def test_a_stranger_is_told_though_the_first_try_failed():
    """P5: a notice counts as given when it is durable."""
    stage = Stage()
    intake = pairing(stage)
    await intake._access.approvals.ask(direct(stage, "hello"))
    stage.server.away = True
    with pytest.raises(Retryable):
        await intake.receive(direct(stage, "hello"))
    stage.server.away = False
    await intake.receive(direct(stage, "hello"))

    assert len(texts(stage)) == 1


async def test_every_stranger_is_told():
    stage = Stage()
    intake = pairing(stage)
    for number, who in enumerate(["bob", "cid", "bob", "dee", "cid"]):
        await intake.receive(direct(stage, "hello", who, number))

    assert len(set(texts(stage))) == len(texts(stage)) == 3
    stage.clock.advance(2 * QUIET)
    await intake.receive(direct(stage, "hello", "eve", 9))
    assert len(intake._notices._told) == 1, "who was told long ago is not remembered"


async def test_a_full_queue_says_so_once_a_minute():
    """A flood gets one line, and what was accepted is answered."""
    stage = Stage()
    stage.world.inbox._capacity = 2
    for number in range(5):
        await stage.world.intake.receive(stage.world.message(f"word00{number}", number=number))

    assert texts(stage) == [FULL]
    assert (await stage.world.inbox.status(KEY)).waiting == 2


async def test_a_stop_with_nothing_of_ones_own_does_not_say_that_nothing_runs():
    stage = Stage()
    await stage.world.say("word000", "ann")
    await stage.world.say("/stop", "bob")
    await stage.world.say("/stop", "ann")
    await stage.world.say("/stop", "ann")

    assert texts(stage) == [NOTHING_OF_YOURS, NOTHING]


class Dies(Exception):
    """The process ends here."""


@pytest.mark.parametrize("text", ["/status", "/whoami", "/stop", "/reset"])
@pytest.mark.parametrize("port", ["outbox.put", "store.append"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_command_whose_answer_was_cut_off_by_a_crash_is_answered_and_noted_once(text, port, after):
    """P5: the platform brings it again, and again, and both steps happen once."""
    stage = Stage()
    message = stage.world.message(text, "bob", 1)
    name, method = port.split(".")
    part = getattr(stage.world, name)
    real = getattr(part, method)

    async def dies(*args, **named):
        if after:
            await real(*args, **named)
        raise Dies

    setattr(part, method, dies)
    with pytest.raises(Dies):
        await stage.world.intake.receive(message)
    setattr(part, method, real)
    for _ in range(2):
        await stage.world.intake.receive(message)

    assert len(texts(stage)) == 1
    assert [e.fact.data["answer"] for e in stage.world.store._tape(TAPE).entries] == texts(stage)


async def test_a_command_that_the_tape_knows_as_answered_does_nothing_though_redis_forgot_it():
    """F13b: a /stop from before the loss must not end what runs now."""
    stage = Stage()
    stop = await stage.world.say("/stop")
    stage.server.wipe()
    await stage.world.say("word001")
    await stage.world.intake.receive(stop)

    assert not stage.server.session(KEY).marks
    assert texts(stage) == []


async def test_help_shows_what_its_reader_may_do_and_start_greets():
    stage = Stage()
    for number, (text, who, private) in enumerate(
        [("/help", "ann", False), ("/help", "bob", False), ("/start", "bob", True)]
    ):
        message = replace(stage.world.message(text, who, number), private=private)
        stage.world.accepted.append(message)
        await stage.world.intake.receive(message)
    await stage.actor().all()
    told = ["".join(s.text for s in stage.world.chat.sent if s.turn.endswith(f"{n}")) for n in range(3)]

    def shown(text):
        return {line[3:].split()[0] for line in text.splitlines() if line.startswith("- /")}

    everybody = {"help", "status", "stop", "whoami", "anchors", "search"}
    assert shown(told[0]) == everybody | {"handoff", "reset", "pair"}
    assert shown(told[1]) == everybody
    assert shown(told[2]) == everybody | {"handoff", "reset"}
    assert told[2].startswith("Hello. ")


async def test_discarding_a_conversation_needs_an_admin_also_in_ones_own_session():
    """C98: the owner may reset, and may not destroy; a refused reset stops nothing."""
    stage = Stage()
    await stage.world.intake.receive(direct(stage, "word001", number=1))
    await stage.world.intake.receive(direct(stage, "/reset discard", number=2))
    await stage.world.intake.receive(direct(stage, "/reset all of it", number=3))
    assert not stage.server.session(KEY).marks
    assert texts(stage) == ["/reset is for admins here. Nothing was changed."]
    await stage.world.intake.receive(direct(stage, "/reset", number=4))

    assert len(stage.server.session(KEY).marks) == 2


async def test_a_person_sees_and_searches_their_own_session_alone():
    """C58"""
    stage = Stage()
    await stage.world.say("word000", "ann")
    elsewhere = stage.world.message("/search word000", "bob", 1, room=HALL)
    stage.world.accepted.append(elsewhere)
    await stage.world.intake.receive(elsewhere)
    await stage.actor().all()

    assert "".join(s.text for s in stage.world.chat.sent if s.turn == elsewhere.id).startswith("Nothing on the tape")
