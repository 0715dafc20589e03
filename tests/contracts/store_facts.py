"""What a tape store promises about reading, facts from the side, and the message index."""

import asyncio
from datetime import timedelta

import pytest

from gateway.errors import Broken, Refused, TapeMoved
from gateway.message import MessageId
from gateway.tape.entries import Anchor, Draft, Event, Message, Meta
from gateway.tape.fork import HandedOff, note
from gateway.tape.index import delivery
from gateway.tape.query import Query
from gateway.tape.window import Window
from tests.contracts.store_case import AGES, StoreCase
from tests.tape.given import (
    NOW,
    TAPE,
    finished,
    fork_of,
    later,
    message,
    reset,
    said,
    side,
    speech,
    turn,
)


class FactsContract(StoreCase):
    async def test_an_unknown_tape_is_empty(self) -> None:
        assert await self.store.window("nobody") == Window("nobody")
        assert list(await self.store.fetch_all(Query("nobody"))) == []
        assert list(await self.store.list_tapes()) == []
        assert not (await self.store.recorded("nobody", AGES)).turns

    async def test_a_store_has_a_name_that_stays(self) -> None:
        assert self.store.uuid
        assert self.store.uuid == self.store.uuid

    @pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\\b", "a\0b", "a.jsonl", "a\n", "é", "x" * 201])
    async def test_a_name_that_could_leave_the_folder_is_refused(self, name: str) -> None:
        with pytest.raises(Refused):
            await self.store.window(name)
        with pytest.raises(Refused):
            await self.store.append(name, [side()])
        with pytest.raises(Refused):
            await self.store.claim(name, [message("m1")])

    async def test_tapes_that_hold_an_entry_are_listed_sidecars_too_and_archives_not(self) -> None:
        await self.store.append("b__sidecar__spill", [side()])
        await turn(self.store, message("m1"), tape="b")
        await reset(self.store, "m2", tape="b")
        await turn(self.store, message("m1"), tape="a")
        await self.store.claim("claimed-only", [message("m1")])
        await self.store.window("looked-at-only")

        assert list(await self.store.list_tapes()) == ["a", "b", "b__sidecar__spill"]

    async def test_the_window_starts_after_the_last_anchor(self) -> None:
        await turn(self.store, message("m1", "one"), text="eins")
        claim = await self.store.claim(TAPE, [message("m2", "two")])
        fork = fork_of(
            await self.store.window(TAPE), claim, HandedOff("phase", {"note": "so far"}, NOW, {}), said("zwei")
        )
        await self.store.merge(claim, fork, finished(claim))
        await turn(self.store, message("m3", "three"), text="drei")

        window = await self.store.window(TAPE)

        assert window.anchor is not None
        assert window.anchor.fact == Anchor("phase", {"note": "so far"})
        assert speech(window.entries) == ["two", "zwei", "three", "drei"]
        assert window.version == (await self.ids())[-1]
        assert window.generation == 1

    async def test_a_query_over_the_whole_tape_sees_before_and_after_anchors(self) -> None:
        await turn(self.store, message("m1", "one"))
        await turn(self.store, message("m2", "two"))

        found = await self.store.fetch_all(Query(TAPE).kinds("message"))

        assert speech(found) == ["one", "answer", "two", "answer"]
        with pytest.raises(Refused, match="nowhere"):
            await self.store.fetch_all(Query(TAPE).after_anchor("nowhere"))

    async def test_facts_from_the_side_do_not_move_the_version(self) -> None:
        await turn(self.store, message("m1"))
        base = await self.store.window(TAPE)
        claim = await self.store.claim(TAPE, [message("m2")])
        added = [*await self.store.append(TAPE, [side("refused"), side("audit", turn="m1")])]

        window = await self.store.window(TAPE)
        await self.store.merge(claim, fork_of(base, claim, said()), finished(claim))

        assert [entry.id for entry in added] == [base.version + 1, base.version + 2]
        assert window.version == base.version
        assert list(window.entries) == [*base.entries, *added]
        assert await self.ids() == sorted(set(await self.ids()))

    async def test_facts_from_the_side_on_a_new_tape_disturb_no_first_turn(self) -> None:
        claim = await self.store.claim(TAPE, [message("m1")])
        base = await self.store.window(TAPE)
        await self.store.append(TAPE, [side()])

        await self.store.merge(claim, fork_of(base, claim, said()), finished(claim))

        assert speech((await self.store.window(TAPE)).entries) == ["hello", "answer"]

    async def test_an_anchor_from_the_side_moves_no_window(self) -> None:
        await turn(self.store, message("m1"))
        before = await self.store.window(TAPE)
        await self.store.append(TAPE, [Draft(Anchor("sly"), NOW, Meta(context=False))])

        after = await self.store.window(TAPE)

        assert (after.anchor, after.version) == (before.anchor, before.version)

    @pytest.mark.parametrize("fact", [Message("user", "in"), Anchor("phase"), Event("handoff")])
    async def test_what_would_move_the_version_is_not_appended(self, fact: Message | Anchor | Event) -> None:
        with pytest.raises(Broken):
            await self.store.append(TAPE, [side(), Draft(fact, NOW)])
        assert await self.ids() == []

    async def test_only_a_merge_records_a_turn(self) -> None:
        mark = Event("turn", {"turn": "m1", "messages": ["m1"], "outcome": "finished", "reply": None})
        with pytest.raises(Broken):
            await self.store.append(TAPE, [Draft(mark, NOW, Meta(context=False))])

    async def test_a_fork_brings_no_mark_of_its_own(self) -> None:
        claim = await self.store.claim(TAPE, [message("m1")])
        fork = fork_of(await self.store.window(TAPE), claim, note("turn", {}, NOW))

        with pytest.raises(Broken):
            await self.store.merge(claim, fork, finished(claim))
        assert await self.ids() == []

    async def test_many_tasks_appending_lose_nothing_and_share_no_id(self) -> None:
        await asyncio.gather(*(self.store.append(TAPE, [side(f"n{n}"), side(f"n{n}")]) for n in range(40)))

        entries = await self.store.fetch_all(Query(TAPE))

        assert [entry.id for entry in entries] == list(range(1, 81))
        assert [a.fact for a in entries[::2]] == [b.fact for b in entries[1::2]]

    async def test_a_recorded_message_is_known_by_turn_over_anchors(self) -> None:
        claim = await self.store.claim(TAPE, [message("m1"), message("m2")])
        fork = fork_of(await self.store.window(TAPE), claim, HandedOff("phase", {}, NOW, {}), said())
        record = await self.store.merge(claim, fork, finished(claim))
        await turn(self.store, message("m3"))

        index = await self.store.recorded(TAPE, later(hours=-1))

        assert index.find(MessageId("m2")) == index.find(MessageId("m1")) == record
        assert index.find(MessageId("m4")) is None

    async def test_a_recorded_message_is_known_over_resets(self) -> None:
        record = await turn(self.store, message("m1"))
        for name in ("r1", "r2", "r3"):
            await reset(self.store, name)
        await turn(self.store, message("m2"))

        index = await self.store.recorded(TAPE, later(hours=-1))

        assert index.find(MessageId("m1")) == record
        assert set(index.messages) == {"m1", "r1", "r2", "r3", "m2"}
        with pytest.raises(TapeMoved):
            await self.store.claim(TAPE, [message("m1")])

    async def test_what_still_waits_is_not_forgotten_after_days(self) -> None:
        await turn(self.store, message("m1"), message("m2"))
        await reset(self.store, "r1")
        for day in range(6):
            self.clock.advance(86_400)
            await turn(self.store, message(f"d{day}", at=self.clock.now()))

        assert (await self.store.recorded(TAPE, later(hours=-1))).find(MessageId("m2"))
        with pytest.raises(TapeMoved):
            await self.store.claim(TAPE, [message("m1")])
        with pytest.raises(TapeMoved):
            await self.store.claim(TAPE, [message("m1")])
        claim = await self.store.claim(TAPE, [message("new", at=self.clock.now()), message("m2")])
        assert [m.id for m in claim.messages] == ["new"]

    async def test_receipts_from_the_side_are_known_until_the_reply_is_shown(self) -> None:
        record = await turn(self.store, message("m1"))

        def receipt(part: int) -> Draft:
            return Draft(delivery(record.turn, part, 2, "p"), NOW, Meta(turn=record.turn, context=False))

        assert list((await self.store.recorded(TAPE, AGES)).owed()) == [record.reply]
        await self.store.append(TAPE, [receipt(0)])
        await reset(self.store, "r1")
        assert record.reply in [*(await self.store.recorded(TAPE, AGES)).owed()]
        await self.store.append(TAPE, [receipt(1)])
        assert record.reply not in [*(await self.store.recorded(TAPE, AGES)).owed()]

    async def test_an_index_that_was_given_out_does_not_change(self) -> None:
        await turn(self.store, message("m1"))
        since = self.clock.now() - timedelta(hours=48)
        index = await self.store.recorded(TAPE, since)
        await turn(self.store, message("m2"))
        index.turns.clear()

        assert set((await self.store.recorded(TAPE, since)).turns) == {"m1", "m2"}
        assert set(index.messages) == {"m1"}
