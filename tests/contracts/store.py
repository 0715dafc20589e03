"""What every tape store promises. A store's tests subclass this and say how to make one."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from gateway.errors import AttemptClosed, Broken, Refused, TapeMoved
from gateway.message import MessageId
from gateway.tape.entries import Anchor, Draft, Event, Message, Meta
from gateway.tape.fork import Fork, HandedOff, note
from gateway.tape.index import delivery
from gateway.tape.query import Query
from gateway.tape.store import TapeStore
from gateway.tape.window import Recorded, Window
from tests.support.clock import ManualClock
from tests.tape.given import (
    NOW,
    TAPE,
    called,
    finished,
    fork_of,
    later,
    message,
    opening_fork,
    reset,
    returned,
    said,
    side,
    speech,
    turn,
)

AGES = datetime(2000, 1, 1, tzinfo=UTC)


class StoreContract:
    """`make` is called once a test; the store keeps its time by `self.clock`."""

    clock: ManualClock
    store: TapeStore

    def make(self) -> TapeStore:
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def _made(self, _folder: None) -> None:
        self.clock = ManualClock(NOW)
        self.store = self.make()

    @pytest.fixture
    def _folder(self) -> None:
        """A store on disk overrides this to take a folder."""

    async def ids(self, tape: str = TAPE) -> list[int]:
        return [entry.id for entry in await self.store.fetch_all(Query(tape))]

    # reading

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

    # merging

    async def test_a_merge_adds_all_of_the_fork_and_its_mark_with_rising_ids(self) -> None:
        claim = await self.store.claim(TAPE, [message("m1", "hi")])
        ops = called("c1"), returned("c1"), note("loop.step", {"status": "ok"}, NOW), said("hello")
        fork = fork_of(await self.store.window(TAPE), claim, *ops)
        await self.store.merge(claim, fork, finished(claim, "hello"))

        entries = await self.store.fetch_all(Query(TAPE))

        assert [entry.id for entry in entries] == list(range(1, len(fork.drafts) + 2))
        assert [entry.fact for entry in entries[:-1]] == [draft.fact for draft in fork.drafts]
        assert isinstance(entries[-1].fact, Event)
        assert entries[-1].fact.name == "turn"
        assert {entry.meta.turn for entry in entries} == {"m1"}

    async def test_a_merge_returns_what_is_recorded(self) -> None:
        claim = await self.store.claim(TAPE, [message("m1")])
        fork = fork_of(await self.store.window(TAPE), claim, said("first"))
        first = await self.store.merge(claim, fork, finished(claim, "first"))
        before = await self.ids()

        again = await self.store.merge(claim, fork, finished(claim, "second"))

        assert first == again == finished(claim, "first")
        assert await self.ids() == before

    async def test_a_merge_at_another_version_is_refused_and_writes_nothing(self) -> None:
        base = await self.store.window(TAPE)
        await turn(self.store, message("m1"))
        claim = await self.store.claim(TAPE, [message("m2")])
        before = await self.ids()

        with pytest.raises(TapeMoved):
            await self.store.merge(claim, fork_of(base, claim, said()), finished(claim))

        assert await self.ids() == before
        assert "m2" not in (await self.store.recorded(TAPE, AGES)).messages

    async def test_a_merge_over_a_turn_that_came_between_is_refused(self) -> None:
        await turn(self.store, message("m0"))
        base = await self.store.window(TAPE)
        await turn(self.store, message("m1"))
        claim = await self.store.claim(TAPE, [message("m2")])
        before = await self.ids()

        with pytest.raises(TapeMoved):
            await self.store.merge(claim, fork_of(base, claim, said()), finished(claim))
        with pytest.raises(TapeMoved):
            await self.store.reset(claim, opening_fork(base, claim), finished(claim), archive=True)
        assert await self.ids() == before

    async def test_whatever_a_fork_brings_is_marked_as_the_turn_s(self) -> None:
        claim = await self.store.claim(TAPE, [message("m1")])
        opening = [Draft(Anchor("session/start"), NOW), Draft(Event("x"), NOW, Meta(more={"side": True}))]
        await self.store.merge(claim, Fork(Window(TAPE), claim.turn, opening=opening), finished(claim))

        metas = [entry.meta for entry in await self.store.fetch_all(Query(TAPE))]

        assert metas == [Meta(turn=claim.turn)] * 3

    @pytest.mark.parametrize("grown", [False, True])
    async def test_of_many_merges_at_one_version_one_wins(self, grown: bool) -> None:
        if grown:
            await turn(self.store, message("before"))
        base = await self.store.window(TAPE)
        claims = [await self.store.claim(TAPE, [message(f"m{n}")]) for n in range(8)]

        results = await asyncio.gather(
            *(self.store.merge(c, fork_of(base, c, said()), finished(c)) for c in claims), return_exceptions=True
        )

        assert sum(isinstance(result, Recorded) for result in results) == 1
        assert sum(isinstance(result, TapeMoved) for result in results) == 7
        assert len((await self.store.recorded(TAPE, AGES)).turns) == 1 + grown

    async def test_facts_that_no_tape_can_hold_leave_nothing_behind(self) -> None:
        claim = await self.store.claim(TAPE, [message("m1")])
        fork = fork_of(await self.store.window(TAPE), claim)
        fork.apply(note("odd", {"time": NOW}, NOW))  # type: ignore[dict-item]

        with pytest.raises(Broken):
            await self.store.merge(claim, fork, finished(claim))

        assert await self.ids() == []

    async def test_a_fork_of_another_turn_is_refused(self) -> None:
        claims = [await self.store.claim(TAPE, [message(name)]) for name in ("m1", "m2")]

        with pytest.raises(Broken):
            await self.store.merge(claims[0], Fork(Window(TAPE), claims[1].turn), finished(claims[0]))

    async def test_what_a_writer_still_holds_changes_no_tape(self) -> None:
        data: dict[str, object] = {"list": [1]}
        claim = await self.store.claim(TAPE, [message("m1")])
        fork = fork_of(await self.store.window(TAPE), claim, note("mine", data, NOW))  # type: ignore[arg-type]
        await self.store.merge(claim, fork, finished(claim))
        before = await self.store.fetch_all(Query(TAPE))

        data["list"] = "changed"

        assert await self.store.fetch_all(Query(TAPE)) == before

    async def test_odd_letters_are_no_reason_to_fail(self) -> None:
        odd = "a\u2028b\u2029c\u0085d\x0b\x0c\0\ud83de\r\n😀 重点"
        await turn(self.store, message("m1", odd), text=odd)
        await self.store.append(TAPE, [Draft(Event("odd", {"nan": float("nan")}), NOW, Meta(context=False))])

        clean = odd.replace("\ud83d", "\ufffd")

        assert speech((await self.store.window(TAPE)).entries) == [clean, clean]
        assert [entry.fact for entry in await self.store.fetch_all(Query(TAPE))][-1] == Event("odd", {"nan": None})

    # facts from the side

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

    # the message index

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

    # claims

    async def test_attempts_count_from_one_and_a_turn_of_nothing_is_refused(self) -> None:
        claims = [await self.store.claim(TAPE, [message("m1")]) for _ in range(3)]
        other = await self.store.claim(TAPE, [message("m2")])

        assert [claim.attempt for claim in claims] == [1, 2, 3]
        assert (other.tape, other.turn, other.attempt, other.ops) == (TAPE, "m2", 1, ())
        with pytest.raises(Broken):
            await self.store.claim(TAPE, [])

    async def test_a_later_claim_takes_over_the_steps_also_when_one_died_right_after_its_claim(self) -> None:
        first = await self.store.claim(TAPE, [message("m1")])
        await first.write(called("c1"), durable=True)
        second = await self.store.claim(TAPE, [message("m1")])
        third = await self.store.claim(TAPE, [message("m1")])
        await third.write(returned("c1"))
        fourth = await self.store.claim(TAPE, [message("m1")])

        assert second.ops == third.ops == (called("c1"),)
        assert fourth.ops == (called("c1"), returned("c1"))

    async def test_a_closed_attempt_neither_journals_nor_commits(self) -> None:
        await turn(self.store, message("m0"))
        base = await self.store.window(TAPE)
        closed = await self.store.claim(TAPE, [message("m1")])
        current = await self.store.claim(TAPE, [message("m1")])
        before = await self.ids()

        with pytest.raises(AttemptClosed):
            await closed.write(called("c1"))
        with pytest.raises(AttemptClosed):
            await self.store.merge(closed, fork_of(base, closed, said()), finished(closed))
        with pytest.raises(AttemptClosed):
            await self.store.reset(closed, opening_fork(base, closed), finished(closed), archive=True)

        assert await self.ids() == before
        await current.write(called("c1"))
        assert (await self.store.claim(TAPE, [message("m1")])).ops == (called("c1"),)

    async def test_an_attempt_whose_turn_is_recorded_journals_no_more(self) -> None:
        claim = await self.store.claim(TAPE, [message("m1")])
        record = await self.store.merge(claim, fork_of(await self.store.window(TAPE), claim), finished(claim))

        with pytest.raises(AttemptClosed):
            await claim.write(called("c1"))
        assert (await self.store.recorded(TAPE, AGES)).turns[claim.turn] == record

    async def test_a_closed_attempt_still_learns_what_is_recorded(self) -> None:
        old = await self.store.claim(TAPE, [message("m1")])
        fork = fork_of(await self.store.window(TAPE), old, said("mine"))
        record = await turn(self.store, message("m1"), text="theirs")

        assert await self.store.merge(old, fork, finished(old, "mine")) == record
        assert await self.store.reset(old, fork, finished(old, "mine"), archive=True) == record

    async def test_a_later_attempt_answers_what_the_first_claimed(self) -> None:
        await self.store.claim(TAPE, [message("m1", "one"), message("m2", "two")])

        later_claim = await self.store.claim(TAPE, [message("m1", "edited"), message("m2"), message("m3")])

        assert later_claim.messages == (message("m1", "one"), message("m2", "two"))

    async def test_a_message_recorded_meanwhile_is_dropped_and_the_text_written_for_it_too(self) -> None:
        first = await self.store.claim(TAPE, [message("m1"), message("m2")])
        for op in (called("c1"), returned("c1"), said()):
            await first.write(op)
        await turn(self.store, message("m2"))

        second = await self.store.claim(TAPE, [message("m1")])

        assert [m.id for m in second.messages] == ["m1"]
        assert second.ops == (called("c1"), returned("c1"))

    async def test_a_final_text_is_taken_over_as_long_as_the_tape_is_the_same(self) -> None:
        first = await self.store.claim(TAPE, [message("m1")])
        await self.store.append(TAPE, [side()])
        await first.write(said("mine"))
        await turn(self.store, message("m0"))
        second = await self.store.claim(TAPE, [message("m2")])
        await second.write(said("mine too"))

        assert (await self.store.claim(TAPE, [message("m2")])).ops == (said("mine too"),)

    async def test_a_final_text_of_an_archived_tape_is_not_used_and_finished_steps_are(self) -> None:
        await turn(self.store, message("m0"))
        first = await self.store.claim(TAPE, [message("m1")])
        for op in (called("c1"), returned("c1"), said("about the old tape")):
            await first.write(op)
        await reset(self.store, "r1")

        second = await self.store.claim(TAPE, [message("m1")])

        assert second.ops == (called("c1"), returned("c1"))

    # resets

    async def test_ids_go_on_counting_over_a_reset_and_the_opening_tells_what_it_closes(self) -> None:
        await turn(self.store, message("m1"))
        before = await self.ids()
        record = await reset(self.store, "r1")
        after = await self.store.fetch_all(Query(TAPE))
        window = await self.store.window(TAPE)

        assert record.turn == "r1"
        assert [entry.id for entry in after] == list(range(before[-1] + 1, before[-1] + 4))
        assert isinstance(after[1].fact, Event)
        assert after[1].fact.data["closes"] == {"first": 1, "last": before[-1], "count": len(before)}
        assert window.generation == after[0].id
        assert window.anchor == after[0]

    @pytest.mark.parametrize("archive", [True, False])
    async def test_a_reset_leaves_only_its_own_entries(self, archive: bool) -> None:
        await turn(self.store, message("m1", "old words"))
        await reset(self.store, "r1", archive=archive)
        await turn(self.store, message("m2", "new words"))

        assert speech(await self.store.fetch_all(Query(TAPE))) == ["new words", "answer"]
        assert await self.ids() == sorted(set(await self.ids()))

    async def test_a_reset_of_a_tape_that_is_not_there_opens_one(self) -> None:
        await reset(self.store, "r1")
        await turn(self.store, message("m1"))

        assert await self.ids() == list(range(1, 7))
        assert (await self.store.window(TAPE)).generation == 1

    async def test_a_second_attempt_of_a_reset_archives_nothing_that_began_meanwhile(self) -> None:
        await turn(self.store, message("m1"))
        first = await self.store.claim(TAPE, [message("r1")])
        base = await self.store.window(TAPE)
        record = await reset(self.store, "r1")
        await turn(self.store, message("m2", "new words"))
        before = await self.ids()

        assert await self.store.reset(first, opening_fork(base, first), finished(first), archive=True) == record
        assert await self.ids() == before

    async def test_a_reset_at_another_version_is_refused(self) -> None:
        base = await self.store.window(TAPE)
        await turn(self.store, message("m1"))
        claim = await self.store.claim(TAPE, [message("r1")])
        before = await self.ids()

        with pytest.raises(TapeMoved):
            await self.store.reset(claim, opening_fork(base, claim), finished(claim), archive=True)
        assert await self.ids() == before

    async def test_a_fork_of_an_archived_tape_does_not_land_on_the_new_one(self) -> None:
        await turn(self.store, message("m0"))
        claim = await self.store.claim(TAPE, [message("m1")])
        fork = fork_of(await self.store.window(TAPE), claim, said("about the old tape"))
        await reset(self.store, "r1")

        with pytest.raises(TapeMoved):
            await self.store.merge(claim, fork, finished(claim))
        assert speech(await self.store.fetch_all(Query(TAPE))) == []

    async def test_a_fork_that_names_a_version_but_another_generation_is_refused(self) -> None:
        await turn(self.store, message("m0"))
        window = await self.store.window(TAPE)
        claim = await self.store.claim(TAPE, [message("m1")])
        fork = fork_of(Window(TAPE, window.version, window.generation + 1, window.anchor), claim)

        with pytest.raises(TapeMoved):
            await self.store.merge(claim, fork, finished(claim))

    # a message in one turn only

    @pytest.mark.parametrize("swapped", [False, True])
    async def test_two_turns_that_share_a_message_cannot_both_merge(self, swapped: bool) -> None:
        both = await self.store.claim(TAPE, [message("m0"), message("m1")])
        one = await self.store.claim(TAPE, [message("m1")])
        first, second = (one, both) if swapped else (both, one)
        await self.store.merge(first, fork_of(await self.store.window(TAPE), first, said()), finished(first))
        base = await self.store.window(TAPE)
        before = await self.ids()

        with pytest.raises(TapeMoved):
            await self.store.merge(second, fork_of(base, second, said()), finished(second))
        with pytest.raises(TapeMoved):
            await self.store.reset(second, opening_fork(base, second), finished(second), archive=True)
        assert await self.ids() == before

    async def test_a_message_that_joined_the_turn_late_counts_too(self) -> None:
        await turn(self.store, message("m1"))
        claim = await self.store.claim(TAPE, [message("m2")])
        fork = fork_of(await self.store.window(TAPE), claim, said())
        closing = Recorded(claim.turn, (MessageId("m2"), MessageId("m1")), "finished")

        with pytest.raises(TapeMoved):
            await self.store.merge(claim, fork, closing)

    async def test_a_claimed_message_counts_also_where_the_record_leaves_it_out(self) -> None:
        claim = await self.store.claim(TAPE, [message("m2"), message("m1")])
        await turn(self.store, message("m1"))
        fork = fork_of(await self.store.window(TAPE), claim, said())

        with pytest.raises(TapeMoved):
            await self.store.merge(claim, fork, Recorded(claim.turn, (MessageId("m2"),), "finished"))

    async def test_a_cancelled_task_leaves_a_whole_merge_or_none(self) -> None:
        for delay in range(6):
            claim = await self.store.claim(TAPE, [message(f"m{delay}")])
            fork = fork_of(await self.store.window(TAPE), claim, said())
            task = asyncio.ensure_future(self.store.merge(claim, fork, finished(claim)))
            for _ in range(delay):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self.store.append(TAPE, [side()])  # waits for the lock, were it still held

            merged = claim.turn in (await self.store.recorded(TAPE, AGES)).turns
            count = sum(e.meta.turn == claim.turn for e in await self.store.fetch_all(Query(TAPE)))
            assert count == (len(fork.drafts) + 1 if merged else 0)

    async def test_recorded_reaches_back_as_far_as_asked(self) -> None:
        await turn(self.store, message("m1"))
        self.clock.advance(timedelta(days=30).total_seconds())
        await turn(self.store, message("m2", at=self.clock.now()))
        recent = await self.store.recorded(TAPE, self.clock.now() - timedelta(hours=1))
        all_of_it = await self.store.recorded(TAPE, NOW - timedelta(hours=1))

        assert recent.find(MessageId("m2"))
        assert all_of_it.find(MessageId("m1"))
