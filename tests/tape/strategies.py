"""Arbitrary facts, entries and operations, for properties."""

from datetime import UTC, datetime

from hypothesis import strategies as st

from gateway.message import MessageId, TurnId
from gateway.tape.entries import (
    Anchor,
    Call,
    Entry,
    Error,
    Event,
    Json,
    Message,
    Meta,
    System,
    ToolCall,
    ToolResult,
    Unknown,
)
from gateway.tape.fork import Appended, HandedOff, Said

text = st.text(max_size=12)
any_text = st.text(st.characters(), max_size=12)
dates = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))
json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(text, json_values, max_size=3)
NAMED = {"role", "content", "calls", "results", "call_ids", "name", "state", "data", "kind", "message"}
more = objects.map(lambda row: {key: value for key, value in row.items() if key not in NAMED})
meta_more = objects.map(lambda row: {k: v for k, v in row.items() if k not in ("turn", "author", "message", "context")})

messages = st.builds(Message, st.sampled_from(["user", "assistant", "tool", "system"]), json_values, more)
calls = st.builds(ToolCall, st.lists(st.builds(Call, text, text, text), max_size=3).map(tuple), text, more)
results = st.lists(st.tuples(json_values, text), max_size=3).flatmap(
    lambda pairs: st.builds(
        ToolResult, st.just(tuple(r for r, _ in pairs)), st.sampled_from([(), tuple(i for _, i in pairs)]), more
    )
)
anchors = st.builds(Anchor, text, objects, more)
events = st.builds(Event, text, objects, more)
facts = st.one_of(
    messages,
    st.builds(System, text, more),
    calls,
    results,
    anchors,
    events,
    st.builds(Error, text, text, more),
    st.builds(Unknown, st.sampled_from(["mystery", "note"]), objects),
)
metas = st.builds(
    Meta,
    st.none() | text.map(TurnId),
    st.none() | text,
    st.none() | text.map(MessageId),
    st.booleans(),
    meta_more,
)
entries = st.builds(Entry, st.integers(), facts, dates, metas)
ops = st.one_of(
    st.builds(Appended, facts, dates, st.booleans()),
    st.builds(HandedOff, text, objects, dates, objects),
    st.builds(Said, text, dates),
)
