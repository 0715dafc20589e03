"""What a tape store promises about merging."""

import asyncio
from datetime import timedelta

import pytest

from gateway.errors import Broken, TapeMoved
from gateway.message import MessageId
from gateway.tape.entries import Anchor, Draft, Event, Meta
from gateway.tape.fork import Fork, note
from gateway.tape.query import Query
from gateway.tape.window import Recorded, Window
from tests.contracts.store_case import AGES, StoreCase
from tests.tape.given import (
    NOW,
    TAPE,
    called,
    finished,
    fork_of,
    message,
    opening_fork,
    returned,
    said,
    side,
    speech,
    turn,
)


class MergeContract(StoreCase):
    async def test_a_merge_adds_all_of_the_fork_and_its_mark_with_rising_ids(self) -> None:
        """P1."""
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
        """P3."""
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
