"""An admin cuts phases with /handoff and starts over with /reset; a stranger cannot."""

import asyncio

import pytest

from gateway.tape.entries import Event
from tests.platforms.openai import Stall, Text
from tests.scenarios.friends import anchors, events, outcomes, session, words

pytestmark = pytest.mark.asyncio(loop_scope="package")


def beyond(before, after):
    """What a tape gained, receipts of what was shown left out."""
    return [e for e in after[len(before) :] if not (isinstance(e.fact, Event) and e.fact.name == "delivery")]


async def test_after_a_handoff_by_an_admin_the_model_sees_nothing_from_before_and_search_still_finds_it(
    bot, ann, ben, number
):
    """Done when 2: `/handoff phase-2 note` in a group."""
    group = bot.tg.group(-6000 - number, "Project", members=[ann, ben])
    await bot.asks(group, ben, "the budget is forty crowns", mention=True)
    answer = await bot.asks(group, ann, "/handoff phase-2 the budget is settled")
    assert "phase-2" in answer.text
    await bot.asks(group, ben, "what now?", mention=True)
    seen = [m for m in bot.ai.requests[-1].messages if m["role"] != "system"]
    assert seen == [{"role": "user", "content": "what now?"}]
    entries = await bot.tape(group)
    anchor = anchors(entries)[-1]
    assert (anchor.name, anchor.state) == ("phase-2", {"note": "the budget is settled"})
    [event] = [e for e in events(entries, "handoff") if e.data["name"] == "phase-2"]
    assert (event.data["by"], event.data["via"]) == (str(ann.id), "command")
    found = await bot.asks(group, ben, "/search forty crowns")
    assert "the budget is forty crowns" in found.text
    listed = await bot.asks(group, ben, "/anchors")
    assert "session/start" in listed.text
    assert "phase-2" in listed.text


async def test_a_reset_keeps_every_entry_in_the_archive_and_the_new_tape_starts_clean(bot, ben):
    """Done when 2: `/reset` leaves a `.bak` with every entry; ids go on; the next request holds nothing from before."""
    room = bot.tg.private(ben)
    await bot.asks(room, ben, "remember the word walrus")
    await bot.until_tape(room, lambda entries: len(events(entries, "delivery")) == 1)
    before = bot.home.lines(session(room))
    answer = await bot.asks(room, ben, "/reset")
    assert "archive" in answer.text
    archived = bot.home.lines(session(room), ".jsonl.*.bak")
    assert archived == before
    entries = await bot.tape(room)
    assert entries[0].id == before[-1]["id"] + 1
    assert [a.name for a in anchors(entries)] == ["session/start"]
    assert not words(entries, "user")
    await bot.asks(room, ben, "which word?")
    assert "walrus" not in bot.ai.requests[-1].text
    assert [m["role"] for m in bot.ai.requests[-1].messages] == ["system", "user"]


async def test_a_strangers_reset_in_a_group_is_refused_visibly_and_changes_nothing(bot, ann, ben, number):
    """Done when 2, case C97: the tape gains one entry beside the context; the running turn ends as it would have."""
    group = bot.tg.group(-6500 - number, "Shared", members=[ann, ben])
    cid = bot.tg.person(8000 + number, "Cid")
    await bot.asks(group, ben, "first", mention=True)
    go = asyncio.Event()
    bot.ai.answers.append(Stall(go, after_chunks=1, then=Text("the whole answer", chunks=3)))
    stalled = bot.ai.stalled
    group.says(ben, "take your time", mention=True)
    await bot.ai.wait_stalled(stalled + 1)
    before = await bot.until_tape(group, lambda entries: bool(events(entries, "delivery")))
    version = max(e.id for e in before if e.moves)
    refusal = await bot.asks(group, cid, "/reset")
    assert "for admins" in refusal.text
    assert "Nothing was changed" in refusal.text
    gained = beyond(before, await bot.until_tape(group, lambda entries: len(events(entries, "command")) == 1))
    assert [(e.fact.name, e.fact.data["by"], e.meta.context) for e in gained] == [("command", str(cid.id), False)]
    assert max(e.id for e in await bot.tape(group) if e.moves) == version

    go.set()
    await bot.tg.wait(lambda: bot.said(group)[-1].text == "the whole answer")
    assert outcomes(await bot.tape(group)) == ["finished", "finished"]
    assert not bot.home.lines(session(group), ".jsonl.*.bak")


async def test_a_reset_in_mid_turn_ends_that_turn_without_a_reply_and_later_messages_belong_to_the_new_tape(
    bot, ann, number
):
    """Case C103: the old turn neither answers nor writes into the new tape."""
    group = bot.tg.group(-6700 - number, "Busy", members=[ann])
    never = asyncio.Event()
    bot.ai.answers.append(Stall(never, after_chunks=1, then=Text("from the old tape")))
    stalled = bot.ai.stalled
    group.says(ann, "a long question", mention=True)
    await bot.ai.wait_stalled(stalled + 1)
    group.says(ann, "/reset")
    group.says(ann, "a new beginning", mention=True)
    await bot.tg.wait(lambda: [s for s in bot.said(group) if s.text == "echo: a new beginning"])
    assert [s.text.partition(".")[0] for s in bot.said(group)] == ["Started over", "echo: a new beginning"]
    entries = await bot.tape(group)
    assert words(entries, "user") == ["a new beginning"]
    old = bot.home.lines(session(group), ".jsonl.*.bak")
    assert [r["payload"]["content"] for r in old if r["kind"] == "message"] == ["a long question"]
    assert [r["payload"]["data"]["outcome"] for r in old if r["payload"].get("name") == "turn"] == ["cancelled"]


@pytest.mark.parametrize(
    "text",
    ["`/reset`", "please /reset", "/reset@otherbot", "see /etc/hosts"],
    ids=["code", "within", "other bot", "path"],
)
async def test_what_only_looks_like_a_command_resets_nothing(bot, ann, number, text):
    """Case C101."""
    group = bot.tg.group(-6800 - number, "Talk", members=[ann])
    await bot.asks(group, ann, "first", mention=True)
    group.says(ann, text, mention=not text.startswith("/"))
    await bot.asks(group, ann, "last", mention=True)
    assert words(await bot.tape(group), "user")[0] == "first"
    assert not bot.home.lines(session(group), ".jsonl.*.bak")
