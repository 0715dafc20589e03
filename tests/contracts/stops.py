"""What every inbox promises about cancelling: a mark is a request, and a request is never forgotten."""

from abc import ABC, abstractmethod

import pytest

from gateway.session.inbox import Accepted, Waiting
from tests.contracts.server import Server
from tests.support.messages import message

TWO_DAYS = 48 * 3600


class StopsContract(ABC):
    """Subclass it and provide `server`."""

    @pytest.fixture
    @abstractmethod
    def server(self) -> Server: ...

    async def test_a_message_that_cancels_marks_what_waits_before_it(self, server: Server) -> None:
        inbox = server.inbox()
        await inbox.put(message(1))
        await inbox.put(message(2, author="bob"))
        assert await inbox.put(message(3), cancels=True) is Accepted.NEW
        await inbox.put(message(4))
        held = await inbox.take()
        assert held
        assert held.waiting.messages == tuple(message(n, author="bob" if n == 2 else "ann") for n in (1, 2, 3, 4))
        assert held.waiting.marks == {message(1).id: message(3).id, message(2).id: message(3).id}
        assert await inbox.put(message(3), cancels=True) is Accepted.KNOWN
        assert await inbox.renew(held.session, held.token) == held.waiting.marks

    async def test_a_full_session_is_not_cancelled_by_a_message_that_it_refused(self, server: Server) -> None:
        inbox = server.inbox(capacity=1)
        await inbox.put(message(1))
        assert await inbox.put(message(2), cancels=True) is Accepted.FULL
        held = await inbox.take()
        assert held
        assert held.waiting.marks == {}

    async def test_a_stop_marks_the_messages_of_its_author_and_says_how_many(self, server: Server) -> None:
        inbox = server.inbox()
        for number, author in enumerate(("ann", "bob", "ann")):
            await inbox.put(message(number, author=author))
        held = await inbox.take()
        assert held
        assert await inbox.stop(message(9), everybody=False) == 2
        assert await inbox.renew(held.session, held.token) == {
            message(0).id: message(9).id,
            message(2).id: message(9).id,
        }

    async def test_an_admins_stop_marks_everybodys(self, server: Server) -> None:
        inbox = server.inbox()
        await inbox.put(message(1))
        await inbox.put(message(2, author="bob"))
        assert await inbox.stop(message(9, author="root"), everybody=True) == 2

    async def test_a_stop_that_comes_again_is_known(self, server: Server) -> None:
        """F13: a redelivered /stop must not end the next turn."""
        inbox = server.inbox()
        await inbox.put(message(1))
        assert await inbox.stop(message(9), everybody=False) == 1
        await inbox.put(message(2))
        assert await inbox.stop(message(9), everybody=False) is None
        held = await inbox.take()
        assert held
        assert held.waiting.marks == {message(1).id: message(9).id}
        await inbox.settle(held, [message(1).id, message(2).id], [], [message(9).id])
        assert await inbox.stop(message(9), everybody=False) == 0

    async def test_a_stop_that_marked_nothing_says_so_again_though_others_wait_by_now(self, server: Server) -> None:
        """Its process may have died before it could answer; nobody else would."""
        inbox = server.inbox()
        assert await inbox.stop(message(9), everybody=False) == 0
        await inbox.put(message(1))
        assert await inbox.stop(message(9), everybody=False) == 0
        held = await inbox.take()
        assert held
        assert held.waiting.marks == {}

    async def test_a_second_stop_finds_nothing_left_to_stop(self, server: Server) -> None:
        """C47."""
        inbox = server.inbox()
        await inbox.put(message(1))
        await inbox.put(message(2))
        assert await inbox.stop(message(8), everybody=False) == 2
        assert await inbox.stop(message(9), everybody=True) == 0
        held = await inbox.take()
        assert held
        assert held.waiting.stops == (message(8),)
        await inbox.put(message(3))
        rest = await inbox.settle(held, [message(1).id, message(2).id], [], [message(8).id])
        assert rest == Waiting((message(3),))

    async def test_a_stop_where_nothing_waits_leaves_nothing_but_its_name(self, server: Server) -> None:
        inbox, request = server.inbox(), message(9)
        assert await inbox.stop(request, everybody=True) == 0
        assert await inbox.take() is None
        assert await inbox.stop(request, everybody=True) == 0
        left = await server.known_for(request.id, request.session)
        assert left
        assert TWO_DAYS - 60 < left <= TWO_DAYS

    async def test_a_stop_is_known_while_it_waits_for_its_answer_and_two_days_longer(self, server: Server) -> None:
        inbox, request = server.inbox(), message(9)
        await inbox.put(message(1))
        await inbox.stop(request, everybody=True)
        assert await server.known_for(request.id, request.session) is None
        held = await inbox.take()
        assert held
        await inbox.settle(held, [message(1).id], [], [request.id])
        left = await server.known_for(request.id, request.session)
        assert left
        assert TWO_DAYS - 60 < left <= TWO_DAYS

    async def test_a_stop_that_arrives_while_its_messages_are_settled_is_still_answered(self, server: Server) -> None:
        """V2: what was recorded decides what is said, so somebody must be left to say it."""
        inbox = server.inbox()
        await inbox.put(message(1))
        held = await inbox.take()
        assert held
        assert await inbox.stop(message(9), everybody=False) == 1
        rest = await inbox.settle(held, [message(1).id], [])
        assert rest == Waiting((), {message(1).id: message(9).id}, (message(9),))
        assert (await inbox.status(held.session)).running
        assert await inbox.settle(held, [], [], [message(9).id]) is None
        assert await inbox.recover() == 0

    async def test_a_stop_outlives_the_holder_that_should_have_answered_it(self, server: Server) -> None:
        inbox = server.inbox()
        await inbox.put(message(1))
        held = await inbox.take()
        assert held
        await inbox.stop(message(9), everybody=False)
        assert await inbox.settle(held, [message(1).id], [])
        await inbox.release(held, after=0)
        again = await inbox.take()
        assert again
        assert again.waiting == Waiting((), {message(1).id: message(9).id}, (message(9),))

    async def test_a_mark_stays_in_force_after_its_stop_was_answered(self, server: Server) -> None:
        inbox = server.inbox()
        await inbox.put(message(1))
        await inbox.put(message(2))
        await inbox.stop(message(9), everybody=False)
        held = await inbox.take()
        assert held
        rest = await inbox.settle(held, [message(1).id], [], [message(9).id])
        assert rest == Waiting((message(2),), {message(2).id: message(9).id})

    async def test_marks_do_not_outlive_their_messages(self, server: Server) -> None:
        inbox = server.inbox()
        await inbox.put(message(1))
        await inbox.put(message(2), cancels=True)
        await inbox.put(message(3))
        held = await inbox.take()
        assert held
        rest = await inbox.settle(held, [message(1).id], [])
        assert rest
        assert rest.marks == {message(1).id: message(2).id}  # whoever runs the reset can still say what it stopped
        assert await inbox.settle(held, [message(2).id], []) == Waiting((message(3),))

    async def test_what_cancels_hurries_a_session_that_was_released_for_later(self, server: Server) -> None:
        inbox = server.inbox()
        for conversation in ("a", "b"):
            await inbox.put(message(ord(conversation), conversation))
            held = await inbox.take()
            assert held
            await inbox.release(held, after=3600)
        await inbox.stop(message(8, "a"), everybody=True)
        held = await inbox.take()
        assert held
        assert held.waiting.stops == (message(8, "a"),)
        await inbox.put(message(9, "b"), cancels=True)
        held = await inbox.take()
        assert held
        assert held.session.conversation == "b"

    async def test_a_stop_in_one_session_marks_nothing_in_another(self, server: Server) -> None:
        inbox = server.inbox()
        await inbox.put(message(1, "here"))
        await inbox.put(message(2, "there"))
        assert await inbox.stop(message(9, "here"), everybody=True) == 1
        for held in [await inbox.take(), await inbox.take()]:
            assert held
            assert set(held.waiting.marks) == ({message(1).id} if held.session.conversation == "here" else set())
