"""The tools, each in a turn of its own."""

import json
from datetime import timedelta

import pytest

from gateway.agent.tool import Tool, ToolContext
from gateway.errors import Refused
from gateway.tape.attempt import Attempt
from gateway.tape.entries import Anchor, Call, Event, Json, ToolCall
from gateway.tape.fork import Appended, HandedOff
from gateway.tools import TOOLS
from gateway.tools.clock_now import CLOCK_NOW
from gateway.tools.tape_handoff import TAPE_HANDOFF
from gateway.tools.tape_info import TAPE_INFO
from gateway.tools.tape_search import TAPE_SEARCH
from tests.agent.scripted import AUTHOR, NOW, SESSION, NoHistory, journal, past, turn

BASE = past("the apples are in the cellar", "noted", "and the pears?", "on the roof")


async def use(tool: Tool, attempt: Attempt | None = None, **arguments: Json) -> dict[str, Json]:
    attempt = attempt or turn("where are the apples?", BASE)
    context = ToolContext(
        SESSION, AUTHOR, attempt.fork.turn, "c1", NoHistory(attempt.fork), attempt, lambda: NOW + timedelta(hours=1)
    )
    result = await tool.run(context, arguments)
    assert isinstance(result, dict)
    return result


def texts(result: dict[str, Json]) -> list[str]:
    hits = result["hits"]
    assert isinstance(hits, list)
    return [str(hit["text"]) for hit in hits if isinstance(hit, dict)]


async def test_search_finds_words_of_the_tape_and_of_the_running_turn_newest_first() -> None:
    found = await use(TAPE_SEARCH, words="apples")
    assert [("cellar" in t, "where" in t) for t in texts(found)] == [(False, True), (True, False)]
    assert [hit["id"] for hit in found["hits"] if isinstance(hit, dict)] == [None, 3]  # type: ignore[union-attr]


async def test_search_does_not_find_itself() -> None:
    attempt = turn("hm", BASE)
    attempt.fork.apply(Appended(ToolCall((Call("c1", "tape_search", '{"words": "zebra"}'),)), NOW))
    assert texts(await use(TAPE_SEARCH, attempt, words="zebra")) == []


async def test_search_keeps_to_its_limit() -> None:
    assert len(texts(await use(TAPE_SEARCH, words="the", limit=1))) == 1
    assert len(texts(await use(TAPE_SEARCH, words="the", limit=-5))) == 1


@pytest.mark.parametrize("arguments", [{}, {"words": " "}, {"words": 7}])
async def test_search_without_words_says_what_it_needs(arguments: dict[str, Json]) -> None:
    with pytest.raises(Refused, match="words is missing"):
        await use(TAPE_SEARCH, None, **arguments)


async def test_info_counts_the_tape_and_names_its_last_anchor() -> None:
    attempt = turn("hm", BASE)
    await use(TAPE_HANDOFF, attempt, name="tea", summary="cake")
    info = await use(TAPE_INFO, attempt)
    assert info["entries"] == len(BASE.entries) + 3
    assert info["kinds"] == {"event": 2, "message": 5, "anchor": 1}
    assert info["anchors"] == 1
    assert info["last_anchor"] == {"name": "tea", "state": {"summary": "cake"}, "date": "2026-12-01T10:00:00+00:00"}
    assert info["window_entries"] == 1


async def test_a_handoff_puts_an_anchor_and_its_event_before_the_question() -> None:
    attempt = turn("hm", BASE)
    assert await use(TAPE_HANDOFF, attempt, name=" tea ", summary="cake") == {"anchor": "tea", "summary": "cake"}
    anchor, event, *_ = (d.fact for d in attempt.fork.drafts)
    assert anchor == Anchor("tea", {"summary": "cake"})
    assert isinstance(event, Event)
    assert (event.data["by"], event.data["via"]) == ("agent", "tape_handoff")
    assert [type(op) for op in journal(attempt).ops] == [HandedOff]


async def test_a_handoff_that_runs_again_puts_no_second_anchor() -> None:
    attempt = turn("hm", BASE)
    for _ in range(2):
        await use(TAPE_HANDOFF, attempt, name="tea", summary="cake")
    assert len(journal(attempt).ops) == 1


@pytest.mark.parametrize("name", ["auto_handoff/context_overflow", "session/start", " ", None])
async def test_a_handoff_takes_no_name_that_is_the_gateways_own(name: Json) -> None:
    attempt = turn("hm", BASE)
    with pytest.raises(Refused):
        await use(TAPE_HANDOFF, attempt, name=name, summary="")
    assert journal(attempt).ops == []


@pytest.mark.parametrize(
    ("zone", "time"),
    [
        (None, "2026-12-01T10:00:00+00:00"),
        ("UTC", "2026-12-01T10:00:00+00:00"),
        ("Asia/Tokyo", "2026-12-01T19:00:00+09:00"),
    ],
)
async def test_the_clock_tells_the_time_of_a_zone(zone: Json, time: str) -> None:
    assert (await use(CLOCK_NOW, timezone=zone))["time"] == time


@pytest.mark.parametrize("zone", ["Nowhere/Land", "../etc/passwd", "", 7])
async def test_the_clock_says_which_zones_it_knows(zone: Json) -> None:
    if not zone:
        assert (await use(CLOCK_NOW, timezone=zone))["timezone"] == "UTC"
        return
    with pytest.raises(Refused, match="Europe/Berlin"):
        await use(CLOCK_NOW, timezone=zone)


def test_every_tool_is_described_by_a_schema_and_has_a_name_of_its_own() -> None:
    assert len({tool.spec.name for tool in TOOLS}) == len(TOOLS) == 4
    for tool in TOOLS:
        assert tool.spec.parameters["type"] == "object"
        assert json.loads(json.dumps(tool.spec.parameters)) == tool.spec.parameters
        assert tool.spec.description
