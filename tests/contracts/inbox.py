"""What every inbox promises: acceptance, order, taking and settling. More of it: holders.py, stops.py."""

import asyncio
from abc import ABC, abstractmethod
from dataclasses import replace

import pytest

from gateway.errors import Broken, LeaseLost
from gateway.message import Author, SessionKey
from gateway.session.inbox import Accepted, SessionStatus
from tests.contracts.server import Server
from tests.support.messages import message, reply_to

TWO_DAYS = 48 * 3600


class InboxContract(ABC):
    """Subclass it and provide `server`."""

    @pytest.fixture
    @abstractmethod
    def server(self) -> Server: ...

    async def test_a_message_comes_out_as_it_went_in(self, server: Server) -> None:
        inbox = server.inbox()
        odd = replace(
            message(1),
            session=SessionKey("web", "bot", "room/7 {a}", thread="t/1", person="p:é"),
            author=Author("u:1/2", "Änn 🦊"),
            text='two\nlines, "quotes", 🦊, \x00 and [] {} 12345678901234567890 1.10',
            reply_to="77",
            private=True,
        )
        await inbox.put(odd)
        held = await inbox.take()
        assert held
        assert held.session == odd.session
        assert held.waiting.messages == (odd,)

    async def test_the_same_message_is_accepted_once(self, server: Server) -> None:
        inbox = server.inbox()
        assert await inbox.put(message(1)) is Accepted.NEW
        assert await inbox.put(message(1)) is Accepted.KNOWN
        held = await inbox.take()
        assert held
        assert await inbox.put(message(1)) is Accepted.KNOWN
        assert await inbox.settle(held, [message(1).id], []) is None
        assert await inbox.put(message(1)) is Accepted.KNOWN
        assert await inbox.take() is None

    async def test_a_waiting_message_is_known_for_ever_and_a_settled_one_for_two_days(self, server: Server) -> None:
        inbox, first = server.inbox(), message(1)
        await inbox.put(first)
        assert await server.known_for(first.id, first.session) is None
        held = await inbox.take()
        assert held
        await inbox.settle(held, [first.id], [])
        left = await server.known_for(first.id, first.session)
        assert left
        assert TWO_DAYS - 60 < left <= TWO_DAYS

    async def test_a_full_session_refuses_a_message_and_does_not_know_it(self, server: Server) -> None:
        inbox = server.inbox(capacity=2)
        assert [await inbox.put(message(n)) for n in (1, 2, 3)] == [Accepted.NEW, Accepted.NEW, Accepted.FULL]
        assert await inbox.put(message(2)) is Accepted.KNOWN
        held = await inbox.take()
        assert held
        assert await inbox.put(message(9, "elsewhere")) is Accepted.NEW
        await inbox.settle(held, [message(1).id], [])
        assert await inbox.put(message(3)) is Accepted.NEW
        assert (await inbox.status(message(1).session)).waiting == 2

    async def test_messages_wait_in_the_order_of_their_acceptance(self, server: Server) -> None:
        here, there = server.inbox(), server.inbox()
        for number in range(40):
            await (here if number % 2 else there).put(message(number))
        held = await here.take()
        assert held
        assert held.waiting.messages == tuple(message(number) for number in range(40))

    async def test_take_gives_each_ready_session_once(self, server: Server) -> None:
        inbox = server.inbox()
        for number in range(30):
            await inbox.put(message(number, f"room{number % 10}"))
        taken = await asyncio.gather(*(inbox.take() for _ in range(10)))
        assert {held.session.conversation for held in taken if held} == {f"room{number}" for number in range(10)}
        assert await inbox.take() is None

    async def test_take_finds_whatever_is_ready_however_many_ask(self, server: Server) -> None:
        inbox = server.inbox()
        for number in range(3):  # one partition
            await inbox.put(message(number, "room", account="bot"))
            await inbox.put(replace(message(100 + number), session=SessionKey("web", "bot", "room", str(number))))
        assert all(await asyncio.gather(*(inbox.take() for _ in range(4))))

    async def test_take_on_an_empty_server_is_nothing(self, server: Server) -> None:
        assert await server.inbox().take() is None
        assert await server.inbox().recover() == 0

    async def test_a_process_of_one_channel_takes_its_own_alone_also_behind_many_others(self, server: Server) -> None:
        inbox, ours = server.inbox(), server.inbox(only="terminal")
        for number in range(210):
            await inbox.put(message(number, f"room{number}"))
        await inbox.put(message(1, "x", channel="terminals"))
        assert await ours.take() is None
        await server.pause()
        await inbox.put(message(2, "x", channel="terminal"))
        held = await ours.take()
        assert held
        assert held.session.channel == "terminal"
        assert await ours.take() is None
        assert len([1 for _ in range(212) if await inbox.take()]) == 211

    async def test_settle_removes_what_is_answered_and_puts_the_replies(self, server: Server) -> None:
        inbox, outbox = server.inbox(), server.outbox()
        for number in (1, 2, 3):
            await inbox.put(message(number))
        held = await inbox.take()
        assert held
        rest = await inbox.settle(held, [message(1).id, message(2).id], [reply_to(message(1))])
        assert rest
        assert rest.messages == (message(3),)
        parcel = await outbox.take([("web", "bot")])
        assert parcel
        assert parcel.reply == reply_to(message(1))
        await outbox.done(parcel)
        rest = await inbox.settle(held, [message(1).id, message(2).id], [reply_to(message(1))])  # its answer was lost
        assert rest
        assert rest.messages == (message(3),)
        assert await outbox.take([("web", "bot")]) is None
        assert await inbox.settle(held, [message(3).id], []) is None
        assert await inbox.status(held.session) == SessionStatus(0, running=False)

    async def test_several_replies_leave_in_their_order(self, server: Server) -> None:
        inbox, outbox = server.inbox(), server.outbox()
        for number in (1, 2):
            await inbox.put(message(number))
        held = await inbox.take()
        assert held
        replies = [reply_to(message(1), "first"), reply_to(message(2), "second")]
        assert await inbox.settle(held, [message(1).id, message(2).id], replies) is None
        for reply in replies:
            parcel = await outbox.take([("web", "bot")])
            assert parcel
            assert parcel.reply == reply
            await outbox.done(parcel)

    async def test_a_foreign_token_settles_nothing(self, server: Server) -> None:
        inbox, outbox = server.inbox(), server.outbox()
        await inbox.put(message(1))
        held = await inbox.take()
        assert held
        await inbox.stop(message(9), everybody=True)
        foreign = replace(held, token="another")
        with pytest.raises(LeaseLost):
            await inbox.settle(foreign, [message(1).id], [reply_to(message(1))], [message(9).id])
        with pytest.raises(LeaseLost):
            await inbox.renew(held.session, "another")
        await inbox.release(foreign, after=0)
        assert await outbox.take([("web", "bot")]) is None
        assert await inbox.take() is None
        rest = await inbox.settle(held, [], [])
        assert rest
        assert (rest.messages, rest.stops) == ((message(1),), (message(9),))
        assert await inbox.status(held.session) == SessionStatus(1, running=True)

    async def test_a_reply_to_another_conversation_is_refused_and_nothing_happens(self, server: Server) -> None:
        inbox = server.inbox()
        await inbox.put(message(1))
        held = await inbox.take()
        assert held
        with pytest.raises(Broken):
            await inbox.settle(held, [message(1).id], [reply_to(message(1, "elsewhere"))])
        assert (await inbox.status(held.session)).waiting == 1

    async def test_recover_counts_what_is_ready(self, server: Server) -> None:
        inbox = server.inbox()
        for number in range(5):
            await inbox.put(message(number, f"room{number}"))
        assert await inbox.recover() == 5
        assert await inbox.take()
        assert await inbox.recover() == 4

    async def test_status_tells_what_waits_and_whether_it_runs(self, server: Server) -> None:
        inbox, session = server.inbox(), message(1).session
        assert await inbox.status(session) == SessionStatus(0, running=False)
        await inbox.put(message(1))
        assert await inbox.status(session) == SessionStatus(1, running=False)
        assert await inbox.take()
        await inbox.put(message(2))
        assert await inbox.status(session) == SessionStatus(2, running=True)
