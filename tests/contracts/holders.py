"""What every inbox promises about who works on a session: holders that are slow, dead, or give it back."""

from abc import ABC, abstractmethod
from dataclasses import replace

import pytest

from gateway.errors import LeaseLost
from gateway.message import SessionKey
from tests.contracts.server import Server, eventually
from tests.support.messages import message


class HoldersContract(ABC):
    """Subclass it and provide `server`."""

    @pytest.fixture
    @abstractmethod
    def server(self) -> Server: ...

    async def test_a_held_session_is_left_to_its_holder_who_sees_what_came_when_it_settles(
        self, server: Server
    ) -> None:
        """C40, C41, F9."""
        inbox, other = server.inbox(), server.inbox()
        await inbox.put(message(1))
        held = await inbox.take()
        assert held
        await other.put(message(2))
        assert await other.take() is None
        assert await other.recover() == 0
        rest = await inbox.settle(held, [message(1).id], [])
        assert rest
        assert rest.messages == (message(2),)
        assert await other.take() is None
        assert await inbox.settle(held, [message(2).id], []) is None
        await other.put(message(3))
        assert await other.take()

    async def test_many_held_sessions_hide_no_free_one(self, server: Server) -> None:
        """F9."""
        busy, other = server.inbox(), server.inbox()
        for number in range(250):
            await busy.put(replace(message(number), session=SessionKey("web", "bot", "room", f"{number}")))
            assert await busy.take()
        for number in range(250):
            await busy.put(replace(message(1000 + number), session=SessionKey("web", "bot", "room", f"{number}")))
        await server.pause()
        await busy.put(message(5000))
        held = await other.take()
        assert held
        assert held.waiting.messages == (message(5000),)

    async def test_the_session_of_a_dead_holder_becomes_ready_by_itself(self, server: Server) -> None:
        """P7: C44."""
        dying, inbox = server.inbox(ttl=0.05), server.inbox()
        await dying.put(message(1))
        dead = await dying.take()
        assert dead
        await inbox.put(message(2))
        assert await eventually(server, inbox.recover) == 1
        held = await inbox.take()
        assert held
        assert held.waiting.messages == (message(1), message(2))
        with pytest.raises(LeaseLost):
            await dying.settle(dead, [message(1).id], [])
        with pytest.raises(LeaseLost):
            await dying.renew(dead.session, dead.token)
        await dying.release(dead, after=0)
        assert await inbox.take() is None
        assert await inbox.settle(held, [message(1).id, message(2).id], []) is None

    async def test_a_lease_that_ran_out_is_lost_although_nobody_took_the_session(self, server: Server) -> None:
        inbox = server.inbox(ttl=0.05)
        await inbox.put(message(1))
        held = await inbox.take()
        assert held

        async def ran_out() -> bool:
            return not (await inbox.status(message(1).session)).running

        await eventually(server, ran_out)
        with pytest.raises(LeaseLost):
            await inbox.renew(held.session, held.token)
        with pytest.raises(LeaseLost):
            await inbox.settle(held, [message(1).id], [])

    async def test_renewing_pushes_the_lease_out(self, server: Server) -> None:
        inbox = server.inbox(ttl=30)
        await inbox.put(message(1))
        held = await inbox.take()
        assert held
        await server.pause()
        before = await server.lease_left(held.session)
        assert await inbox.renew(held.session, held.token) == {}
        assert before < await server.lease_left(held.session) <= 30

    async def test_a_released_session_is_ready_again(self, server: Server) -> None:
        inbox, other = server.inbox(), server.inbox()
        await inbox.put(message(1))
        held = await inbox.take()
        assert held
        await inbox.release(held, after=0)
        again = await other.take()
        assert again
        assert again.waiting == held.waiting
        assert again.token != held.token
        await inbox.release(held, after=0)
        assert await inbox.take() is None

    async def test_a_session_released_for_later_is_not_ready_before_and_a_message_does_not_hurry_it(
        self, server: Server
    ) -> None:
        inbox = server.inbox()
        await inbox.put(message(1))
        held = await inbox.take()
        assert held
        await inbox.release(held, after=3600)
        await inbox.put(message(2))
        assert await inbox.take() is None
        assert await inbox.recover() == 0

    async def test_a_session_released_for_later_becomes_ready_then(self, server: Server) -> None:
        inbox = server.inbox()
        await inbox.put(message(1))
        held = await inbox.take()
        assert held
        await inbox.release(held, after=0.03)
        assert await eventually(server, inbox.recover) == 1
        assert await inbox.take()

    async def test_a_released_session_in_which_nothing_waits_is_not_ready(self, server: Server) -> None:
        inbox = server.inbox()
        await inbox.put(message(1))
        held = await inbox.take()
        assert held
        await inbox.settle(held, [message(1).id], [])
        await inbox.release(held, after=0)
        assert await inbox.recover() == 0
