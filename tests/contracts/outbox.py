"""What every outbox promises."""

from abc import ABC, abstractmethod
from dataclasses import replace

import pytest

from gateway.errors import LeaseLost
from gateway.message import Reply
from gateway.session.outbox import Outbox, Parcel, PartState
from tests.contracts.server import Server, eventually
from tests.support.messages import message, reply_to

OURS = [("web", "bot")]
TWO_DAYS = 48 * 3600


def reply(number: int, conversation: str = "room", **named: str) -> Reply:
    return reply_to(message(number, conversation, **named), f"answer {number}")


async def taken(outbox: Outbox) -> Parcel:
    parcel = await outbox.take(OURS)
    assert parcel
    return parcel


class OutboxContract(ABC):
    """Subclass it and provide `server`."""

    @pytest.fixture
    @abstractmethod
    def server(self) -> Server: ...

    async def test_a_reply_comes_out_as_it_went_in(self, server: Server) -> None:
        outbox = server.outbox()
        odd = replace(reply(1, "a room/{7}"), text="two\nlines 🦊 [] {}", answers="77", on_tape=False)
        assert await outbox.put(odd)
        parcel = await taken(outbox)
        assert (parcel.reply, parcel.states, parcel.tries) == (odd, {}, 0)

    async def test_the_reply_of_a_turn_is_put_once(self, server: Server) -> None:
        outbox = server.outbox()
        assert await outbox.put(reply(1))
        assert not await outbox.put(replace(reply(1), text="something else"))
        parcel = await taken(outbox)
        assert not await outbox.put(reply(1))
        await outbox.done(parcel)
        assert not await outbox.put(reply(1))
        assert await outbox.take(OURS) is None

    async def test_a_waiting_reply_is_known_for_ever_and_a_delivered_one_for_two_days(self, server: Server) -> None:
        outbox, there = server.outbox(), reply(1)
        await outbox.put(there)
        assert await server.known_for(there.turn, there.session, turn=True) is None
        await outbox.done(await taken(outbox))
        left = await server.known_for(there.turn, there.session, turn=True)
        assert left
        assert TWO_DAYS - 60 < left <= TWO_DAYS

    async def test_replies_of_a_route_leave_in_order_one_at_a_time(self, server: Server) -> None:
        """F16."""
        outbox, other = server.outbox(), server.outbox()
        for number in range(5):
            await outbox.put(reply(number))
        for number in range(5):
            parcel = await taken(outbox)
            assert parcel.reply == reply(number)
            assert await other.take(OURS) is None
            assert await other.recover(OURS) == 0
            await outbox.done(parcel)
        assert await outbox.take(OURS) is None

    async def test_a_reply_put_while_its_route_is_held_waits_for_the_holder(self, server: Server) -> None:
        outbox, other = server.outbox(), server.outbox()
        await outbox.put(reply(1))
        parcel = await taken(outbox)
        await other.put(reply(2))
        assert await other.recover(OURS) == 0
        assert await other.take(OURS) is None
        await outbox.done(parcel)
        assert (await taken(other)).reply == reply(2)

    async def test_a_held_or_deferred_route_stops_no_other(self, server: Server) -> None:
        outbox = server.outbox()
        await outbox.put(reply(1, "held"))
        await outbox.put(reply(2, "deferred"))
        await outbox.put(reply(3, "free"))
        await outbox.put(reply(4, "held"))
        parcels = [await taken(outbox) for _ in range(3)]
        assert {parcel.reply.route.conversation for parcel in parcels} == {"held", "deferred", "free"}
        for parcel in parcels:
            if parcel.reply.route.conversation == "deferred":
                await outbox.defer(parcel, 3600, counts=False)
            if parcel.reply.route.conversation == "free":
                await outbox.done(parcel)
        await outbox.put(reply(5, "free"))
        assert (await taken(outbox)).reply == reply(5, "free")

    async def test_a_long_queue_does_not_starve_a_short_one(self, server: Server) -> None:
        outbox = server.outbox()
        for number in range(30):
            for conversation in ("a", "b", "c", "d"):
                await outbox.put(reply(1000 * ord(conversation) + number, conversation))
        await outbox.put(reply(1, "short"))
        for _ in range(40):
            parcel = await taken(outbox)
            if parcel.reply == reply(1, "short"):
                return
            await outbox.done(parcel)
            await server.pause()
        pytest.fail("forty others went first")

    async def test_take_gives_replies_of_the_asked_accounts_alone(self, server: Server) -> None:
        outbox = server.outbox()
        await outbox.put(reply(1, account="other"))
        await outbox.put(reply(2, channel="telegram"))
        assert await outbox.take(OURS) is None
        assert await outbox.recover(OURS) == 0
        assert await outbox.take([]) is None
        assert await outbox.recover([*OURS, ("web", "other"), ("telegram", "bot")]) == 2
        parcel = await outbox.take([*OURS, ("web", "other")])
        assert parcel
        assert parcel.reply == reply(1, account="other")

    async def test_a_dead_holders_notes_are_found_by_the_next(self, server: Server) -> None:
        dying, patient, outbox = server.outbox(ttl=0.05), server.outbox(), server.outbox()
        await patient.put(reply(1))
        await patient.put(reply(2))
        dead = await taken(patient)
        await patient.note(dead, 0, PartState.SENT)
        await patient.note(dead, 1, PartState.INTENT)
        await patient.note(dead, 1, PartState.AGAIN)
        await patient.note(dead, 2, PartState.INTENT)
        await patient.note(dead, 2, None)
        await dying.note(dead, 3, PartState.INTENT)  # from here on the lease is a short one

        async def recovered() -> int:
            return await outbox.recover(OURS)

        assert await eventually(server, recovered) == 1
        parcel = await taken(outbox)
        assert parcel.reply == reply(1)
        assert parcel.states == {0: PartState.SENT, 1: PartState.AGAIN, 3: PartState.INTENT}
        assert parcel.tries == 0
        for late in (dying.note(dead, 3, PartState.SENT), dying.done(dead), dying.defer(dead, 0, counts=True)):
            with pytest.raises(LeaseLost):
                await late
        assert await outbox.take(OURS) is None
        await outbox.done(parcel)
        assert (await taken(outbox)).reply == reply(2)

    async def test_a_foreign_token_changes_nothing(self, server: Server) -> None:
        outbox = server.outbox()
        await outbox.put(reply(1))
        parcel = await taken(outbox)
        foreign = replace(parcel, token="another")
        for call in (
            outbox.note(foreign, 0, PartState.SENT),
            outbox.note(foreign, 0, None),
            outbox.renew(foreign),
            outbox.done(foreign),
            outbox.defer(foreign, 0, counts=True),
        ):
            with pytest.raises(LeaseLost):
                await call
        assert await outbox.take(OURS) is None
        await outbox.defer(parcel, 0, counts=False)
        again = await taken(outbox)
        assert (again.reply, again.states, again.tries) == (reply(1), {}, 0)

    async def test_a_note_pushes_the_routes_lease_out(self, server: Server) -> None:
        outbox, route = server.outbox(ttl=30), reply(1).route
        await outbox.put(reply(1))
        parcel = await taken(outbox)
        for state in (PartState.INTENT, None):
            await server.pause()
            before = await server.lease_left(route)
            await outbox.note(parcel, 0, state)
            assert before < await server.lease_left(route) <= 30

    async def test_renewing_pushes_the_routes_lease_out_and_notes_nothing(self, server: Server) -> None:
        outbox = server.outbox(ttl=30)
        await outbox.put(reply(1))
        parcel = await taken(outbox)
        await server.pause()
        before = await server.lease_left(reply(1).route)
        await outbox.renew(parcel)
        assert before < await server.lease_left(reply(1).route) <= 30
        await outbox.defer(parcel, 0, counts=False)
        assert (await taken(outbox)).states == {}

    async def test_a_route_whose_holder_died_before_its_first_note_becomes_due(self, server: Server) -> None:
        dying, outbox = server.outbox(ttl=0.05), server.outbox()
        await dying.put(reply(1))
        assert await dying.take(OURS)

        async def recovered() -> int:
            return await outbox.recover(OURS)

        assert await eventually(server, recovered) == 1
        assert (await taken(outbox)).reply == reply(1)

    async def test_a_deferred_reply_comes_again_first_with_its_states_and_tries(self, server: Server) -> None:
        outbox = server.outbox()
        await outbox.put(reply(1))
        await outbox.put(reply(2))
        parcel = await taken(outbox)
        await outbox.note(parcel, 0, PartState.SENT)
        for counts, tries in ((True, 1), (False, 1), (True, 2)):
            await outbox.defer(parcel, 0, counts=counts)
            parcel = await taken(outbox)
            assert (parcel.reply, parcel.states, parcel.tries) == (reply(1), {0: PartState.SENT}, tries)

    async def test_a_deferred_route_is_not_due_before_and_a_new_reply_does_not_hurry_it(self, server: Server) -> None:
        outbox = server.outbox()
        await outbox.put(reply(1))
        await outbox.defer(await taken(outbox), 3600, counts=True)
        await outbox.put(reply(2))
        assert await outbox.take(OURS) is None
        assert await outbox.recover(OURS) == 0

    async def test_a_deferred_route_becomes_due_then(self, server: Server) -> None:
        outbox = server.outbox()
        await outbox.put(reply(1))
        await outbox.defer(await taken(outbox), 0.03, counts=True)

        async def due() -> int:
            return await outbox.recover(OURS)

        assert await eventually(server, due) == 1
        assert (await taken(outbox)).reply == reply(1)

    async def test_the_next_reply_inherits_neither_states_nor_tries(self, server: Server) -> None:
        outbox = server.outbox()
        await outbox.put(reply(1))
        await outbox.put(reply(2))
        parcel = await taken(outbox)
        await outbox.note(parcel, 0, PartState.SENT)
        await outbox.defer(parcel, 0, counts=True)
        await outbox.done(await taken(outbox))
        parcel = await taken(outbox)
        assert (parcel.reply, parcel.states, parcel.tries) == (reply(2), {}, 0)

    async def test_a_reply_is_owed_until_it_is_done(self, server: Server) -> None:
        outbox, route = server.outbox(), reply(1).route
        assert await outbox.owed(route) == 0
        await outbox.put(reply(1))
        await outbox.put(reply(2))
        await outbox.put(reply(3, "elsewhere"))
        assert await outbox.owed(route) == 2
        parcel = await outbox.take(OURS)
        while parcel and parcel.reply.route != route:
            parcel = await outbox.take(OURS)
        assert parcel
        assert await outbox.owed(route) == 2
        await outbox.done(parcel)
        assert await outbox.owed(route) == 1
