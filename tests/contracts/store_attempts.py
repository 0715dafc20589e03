"""What a tape store promises about attempts and about starting over."""

import pytest

from gateway.errors import AttemptClosed, Broken, TapeMoved
from gateway.tape.entries import Event
from gateway.tape.query import Query
from gateway.tape.window import Window
from tests.contracts.store_case import AGES, StoreCase
from tests.tape.given import (
    TAPE,
    called,
    finished,
    fork_of,
    message,
    opening_fork,
    reset,
    returned,
    said,
    side,
    speech,
    turn,
)


class AttemptContract(StoreCase):
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
        """P9."""
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

    async def test_ids_go_on_counting_over_a_reset_and_the_opening_tells_what_it_closes(self) -> None:
        """P1."""
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
