"""Facts as JSON: what goes in comes out, and what others wrote is read by the reader's rules."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import Broken
from gateway.message import MessageId, TurnId
from gateway.tape.codec import EPOCH, decode, decode_fact, encode, encode_fact, kind_of, salvage, texts
from gateway.tape.entries import (
    Anchor,
    Call,
    Entry,
    Error,
    Event,
    Fact,
    Message,
    Meta,
    System,
    ToolCall,
    ToolResult,
    Unknown,
)
from tests.tape.given import NOW
from tests.tape.strategies import any_text, entries, facts, json_values

SAMPLES = Path(__file__).parent / "samples"


@given(entries)
def test_an_entry_comes_back_as_it_was(entry: Entry) -> None:
    assert decode(encode(entry)) == entry


@given(entries)
def test_an_entry_is_one_line_of_utf_8(entry: Entry) -> None:
    line = encode(entry)

    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert list(json.loads(line.decode())) == ["id", "kind", "payload", "meta", "date"]


@given(any_text)
def test_no_text_makes_writing_fail(text: str) -> None:
    entry = Entry(1, Message("user", [text, {text: text}]), NOW, Meta(author=text, more={text + "x": text}))
    line = encode(entry)
    found = decode(line)

    line.decode()
    assert found is not None
    assert encode(found) == line
    if text.isprintable() and not any("\ud800" <= c <= "\udfff" for c in text):
        assert found == entry


@given(st.binary() | st.text().map(lambda text: text.encode(errors="replace")))
def test_no_line_makes_reading_fail(line: bytes) -> None:
    decode(line)
    salvage(line)


@given(json_values, st.sampled_from(["message", "system", "anchor", "event", "error", "tool_call", "tool_result", "x"]))
def test_no_payload_makes_reading_fail_and_each_survives_a_round_trip(value: object, kind: str) -> None:
    payload = value if isinstance(value, dict) else {"name": value, "calls": [value], "content": value, "role": "user"}
    fact = decode_fact(kind, payload)

    again, written = encode_fact(fact)

    assert again == kind
    assert {**written, **payload} == written
    assert decode_fact(kind, written) == fact


@given(facts)
def test_the_kind_is_the_one_on_disk(fact: Fact) -> None:
    assert encode_fact(fact)[0] == kind_of(fact)


def test_a_line_looks_as_bub_writes_it() -> None:
    entry = Entry(1, Anchor("session/start", {"owner": "human"}), datetime(2026, 11, 30, 22, 6, 45, 370833, tzinfo=UTC))

    assert encode(entry).decode() == (
        '{"id": 1, "kind": "anchor", "payload": {"name": "session/start", "state": {"owner": "human"}}, '
        '"meta": {}, "date": "2026-11-30T22:06:45.370833+00:00"}\n'
    )


def test_letters_are_written_as_they_are() -> None:
    assert "你好 😀 \u2028" in encode(Entry(1, Message("user", "你好 😀 \u2028"), NOW)).decode()


def test_calls_take_the_form_that_every_reader_knows() -> None:
    fact = ToolCall((Call("c1", "bash", '{"command": "ls"}'),), "let me look")

    assert encode_fact(fact)[1] == {
        "calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}],
        "content": "let me look",
    }


def test_results_keep_the_ids_of_their_calls() -> None:
    assert encode_fact(ToolResult(("a", None), ("c1", "c2")))[1] == {"results": ["a", None], "call_ids": ["c1", "c2"]}
    assert encode_fact(ToolResult(("a",)))[1] == {"results": ["a"]}


def test_meta_is_flat_and_says_only_what_there_is() -> None:
    meta = Meta(TurnId("t"), "u1", MessageId("m1"), context=False, more={"run_id": "r"})
    rows = [json.loads(encode(Entry(1, System("x"), NOW, m)))["meta"] for m in (meta, Meta())]

    assert rows == [{"turn": "t", "author": "u1", "message": "m1", "context": False, "run_id": "r"}, {}]


def test_numbers_that_json_lacks_become_null() -> None:
    line = encode(Entry(1, Event("x", {"a": [float("nan"), float("inf"), -float("inf"), 1.5]}), NOW))

    assert json.loads(line)["payload"]["data"] == {"a": [None, None, None, 1.5]}


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(Broken):
        encode(Entry(1, Event("x", {"when": NOW}), NOW))  # type: ignore[dict-item]


def test_both_forms_of_bub_say_the_same() -> None:
    old, new = (
        [decode(line) for line in (SAMPLES / f"bub-{version}.jsonl").read_bytes().splitlines()]
        for version in ("0.5.1", "0.6.0a3")
    )

    assert [entry and entry.fact for entry in old] == [entry and entry.fact for entry in new]
    assert old[4] is not None
    assert old[4].fact == ToolCall((Call("call_1", "clock_now", "{}"), Call("call_2", "tape_search", '{"query": "x"}')))
    assert old[11] is not None
    assert old[11].meta == Meta(context=False)


def test_the_older_form_has_a_float_for_a_date() -> None:
    first, second, _ = (decode(line) for line in (SAMPLES / "bub-0.2-form.jsonl").read_bytes().splitlines())

    assert first == Entry(1, Anchor("session/start"), datetime(2026, 1, 1, 0, 0, 0, 500000, tzinfo=UTC))
    assert second is not None
    assert second.fact == Message("user", "old words", {"x": 1})


@pytest.mark.parametrize(
    ("fields", "date"),
    [
        ('"date": "2026-12-01T10:00:00+01:00"', datetime(2026, 12, 1, 9, tzinfo=UTC)),
        ('"date": "2026-12-01T09:00:00Z"', datetime(2026, 12, 1, 9, tzinfo=UTC)),
        ('"date": "2026-12-01T09:00:00"', datetime(2026, 12, 1, 9, tzinfo=UTC)),
        ('"date": "soon", "timestamp": 0.5', EPOCH + timedelta(seconds=0.5)),
        ('"date": "soon"', EPOCH),
        ('"date": 7', EPOCH),
        ('"date": "9999-12-31T23:59:59-23:00"', EPOCH),
        ('"timestamp": 1e300', EPOCH),
        ('"timestamp": NaN', EPOCH),
        ('"timestamp": true', EPOCH),
        ('"x": 1', EPOCH),
    ],
)
def test_a_date_is_read_where_there_is_one(fields: str, date: datetime) -> None:
    entry = decode(f'{{"id": 1, "kind": "system", "payload": {{"content": ""}}, {fields}}}'.encode())

    assert entry is not None
    assert entry.date == date
    assert entry.date.tzinfo is not None


def test_dates_are_written_in_utc_with_microseconds() -> None:
    there = datetime(2026, 12, 1, 10, tzinfo=timezone(timedelta(hours=1)))
    naive = datetime(2026, 12, 1, 9)

    for date in (there, naive):
        assert json.loads(encode(Entry(1, System(""), date)))["date"] == "2026-12-01T09:00:00.000000+00:00"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[]",
        b'"x"',
        b'{"id": "1", "kind": "system", "payload": {}}',
        b'{"id": 1.0, "kind": "system", "payload": {}}',
        b'{"id": 1, "kind": 2, "payload": {}}',
        b'{"id": 1, "kind": "system", "payload": []}',
        b'{"id": 1, "kind": "system"}',
        b'{"id": 1, "kind": "system", "payload": {}} {}',
        b'{"id": 1, "kind": "system", "payload": {"content": "\xff"}}',
    ],
)
def test_a_line_that_holds_no_entry_is_none(line: bytes) -> None:
    assert decode(line) is None


def test_an_odd_meta_is_empty_and_an_odd_id_is_a_number() -> None:
    entry = decode(b'{"id": true, "kind": "x", "payload": {"a": 1}, "meta": [1], "date": null}')

    assert entry == Entry(1, Unknown("x", {"a": 1}), EPOCH)


def test_only_false_keeps_an_entry_out_of_the_context() -> None:
    metas = [decode(b'{"id": 1, "kind": "x", "payload": {}, "meta": {"context": %s}}' % v) for v in (b"false", b"0")]

    assert [entry and entry.meta for entry in metas] == [Meta(context=False), Meta(more={"context": 0})]


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("message", {"content": "x"}),
        ("anchor", {"state": {}}),
        ("tool_call", {"calls": [{"name": "x"}]}),
        ("tool_call", {"calls": "x"}),
        ("tool_result", {"results": {}}),
        ("error", {"kind": "tool"}),
    ],
)
def test_a_payload_that_does_not_fit_its_kind_is_kept(kind: str, payload: dict[str, object]) -> None:
    assert decode_fact(kind, payload) == Unknown(kind, payload)  # type: ignore[arg-type]


def test_an_anchor_with_an_odd_state_is_still_an_anchor() -> None:
    fact = decode_fact("anchor", {"name": "phase", "state": "x"})

    assert fact == Anchor("phase", {}, {"state": "x"})
    assert encode_fact(fact)[1] == {"name": "phase", "state": "x"}


def test_salvage_takes_no_object_out_of_a_damaged_entry() -> None:
    inner = '{"id": 7, "kind": "x", "payload": {}}'
    line = f'{{"id": 1, "kind": "event", "payload": {{"data": [{inner}]'.encode()

    assert salvage(line + b"\0") is None
    assert salvage(b"\0\0" + inner.encode() + b"\0") == Entry(7, Unknown("x", {}), EPOCH)
    assert salvage(json.dumps({"text": inner}).encode()[:-1]) is None


def test_texts_of_a_deep_value_need_no_deep_stack() -> None:
    value: object = "end"
    for _ in range(100_000):
        value = [value]

    assert list(texts(value)) == ["end"]
    assert list(texts({"a": [1, True, None, {"b": "c"}], "d": 2.5})) == ["a", "1", "b", "c", "d", "2.5"]


def test_an_error_tells_its_kind_and_what_else_there_is() -> None:
    row = {"kind": "provider", "message": "no", "details": {"status": 500}}

    assert decode_fact("error", row) == Error("provider", "no", {"details": {"status": 500}})
