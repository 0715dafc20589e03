from channels.web.history import Line, lines, settled
from gateway.message import Reply
from gateway.tape.entries import Entry, Event, Message, Meta, ToolCall
from gateway.tape.fork import bootstrap
from gateway.tape.index import closing
from gateway.tape.window import Recorded
from tests.channels.web.rig import Tape, message, turn
from tests.support.clock import ManualClock


def tape() -> Tape:
    return Tape(ManualClock())


def shown(tape: Tape) -> list[tuple[str, str]]:
    return [(line.kind, line.text) for line in lines(tape.entries)]


def test_an_empty_tape_has_no_lines() -> None:
    assert lines([]) == []


def test_a_turn_is_its_words_and_its_recorded_reply() -> None:
    told = tape()
    told.turn([message("a", "one"), message("b", "two")], "both")

    assert shown(told) == [("person", "one"), ("person", "two"), ("bot", "both")]
    assert [line.id for line in lines(told.entries)] == ["web/local/main:a", "web/local/main:b", turn("a")]
    assert {line.turn for line in lines(told.entries)} == {turn("a")}


def test_what_the_model_did_on_the_way_is_not_shown() -> None:
    told = tape()
    told.add(Message("user", "q"), Meta(turn("a"), "web:owner", message("a", "q").id))
    told.add(ToolCall((), "let me see"), Meta(turn("a")))
    told.add(Message("assistant", "draft"), Meta(turn("a")))
    told.add(Event("run", {"usage": 5}), Meta(turn("a"), context=False))

    assert shown(told) == [("person", "q")]


def test_a_command_from_the_side_is_a_question_and_an_answer() -> None:
    told = tape()
    told.command(message("s", "/status"), "Nothing waits.")

    assert shown(told) == [("person", "/status"), ("bot", "Nothing waits.")]
    assert {line.turn for line in lines(told.entries)} == {turn("s")}


def test_a_command_of_unknown_origin_is_shown_as_well() -> None:
    told = tape()
    told.add(Event("command", {"name": "status", "raw": "/status", "by": "x", "answer": "Fine."}), Meta(context=False))

    assert shown(told) == [("person", "/status"), ("bot", "Fine.")]


def test_a_command_that_was_a_turn_is_answered_once() -> None:
    told = tape()
    said = message("h", "/handoff phase-2")
    told.anchor("phase-2")
    data = {"name": "handoff", "raw": said.text, "by": "web:owner", "answer": "A new phase."}
    told.add(Event("command", data), Meta(said.turn, "web:owner", said.id, context=False))
    reply = Reply(said.turn, said.session, said.route, "A new phase.")
    told.add(closing(Recorded(said.turn, (said.id,), "finished", reply)), Meta(said.turn))

    assert shown(told) == [("note", "phase-2"), ("person", said.text), ("bot", "A new phase.")]


def test_the_first_start_is_silent_and_a_later_one_is_a_divider() -> None:
    key, at = str(message("a", "x").session), ManualClock().now()
    told = tape()
    for draft in bootstrap(key, at, turn("a"), {}):
        told.draft(draft)
    told.turn([message("a", "x")], "y")
    after_reset = [Entry(e.id + 90, e.fact, e.date, e.meta) for e in told.entries]

    assert [line.kind for line in lines(told.entries)] == ["person", "bot"]
    assert [line.text for line in lines(after_reset)] == ["A fresh start", "x", "y"]


def test_a_side_command_before_the_first_start_makes_no_divider() -> None:
    told = tape()
    told.command(message("s", "/status"), "Nothing waits.")
    for draft in bootstrap("web/local/main", ManualClock().now(), turn("a"), {}):
        told.draft(draft)

    assert "note" not in {line.kind for line in lines(told.entries)}


def test_a_stopped_turn_says_so_where_its_answer_would_be() -> None:
    told = tape()
    said = message("a", "tell me everything")
    told.add(Message("user", said.text), Meta(said.turn, "web:owner", said.id))
    told.add(closing(Recorded(said.turn, (said.id,), "cancelled")), Meta(said.turn))

    assert shown(told) == [("person", said.text), ("note", "Stopped before an answer")]
    assert lines(told.entries)[-1].turn == said.turn


def test_a_tape_of_another_program_shows_its_answers() -> None:
    told = tape()
    told.add(Message("user", "hi"))
    told.add(Message("assistant", "hello"))

    assert shown(told) == [("person", "hi"), ("bot", "hello")]


def test_a_line_has_the_same_id_each_time_and_no_two_have_one() -> None:
    told = tape()
    told.turn([message("a", "x")], "y")
    told.anchor("phase-2")
    told.turn([message("b", "x")], "y")
    first: list[Line] = lines(told.entries)

    assert lines(told.entries) == first
    assert len({(line.kind, line.id) for line in first}) == len(first) == 5


def test_what_is_on_the_tape_is_settled() -> None:
    told = tape()
    told.turn([message("a", "x"), message("b", "y")], "z")
    told.command(message("s", "/status"), "ok")

    assert settled(told.entries) == {message(name, "").id for name in ("a", "b", "s")}
