"""The outbox on a Redis-compatible server."""

import itertools
import secrets
from collections.abc import Iterable

from gateway.clock import Clock
from gateway.errors import LeaseLost
from gateway.message import Reply, Route
from gateway.session import keys
from gateway.session.outbox import Parcel, PartState
from gateway.session.server_redis import RedisServer, list_of, pairs_of, text_of


class RedisOutbox:
    """`ttl`: seconds of a route's lease; a send must be shorter."""

    def __init__(self, server: RedisServer, clock: Clock, *, ttl: float) -> None:
        self._server, self._clock, self._ttl_ms = server, clock, int(ttl * 1000)
        self._turn = itertools.cycle(range(keys.PARTITIONS))

    async def put(self, reply: Reply) -> bool:
        p = keys.partition(reply.route.place)
        new = await self._server.run(
            "reply_put", f"{p}:known:{reply.turn}", p, str(reply.route), keys.account(reply.route), reply.turn,
            reply.to_row(), keys.WAKE,
        )  # fmt: skip
        return new == 1

    async def take(self, accounts: Iterable[tuple[str, str]]) -> Parcel | None:
        wanted, first = tuple(accounts), next(self._turn)  # a busy partition must not starve the others
        for number in range(first, first + keys.PARTITIONS):
            for channel, account in wanted:
                p, name = keys.tagged(number % keys.PARTITIONS), f"{channel}/{account}"
                token, asked = secrets.token_hex(16), self._clock.boot()
                found = await self._server.run("reply_take", f"{p}:due:{name}", p, name, token, self._ttl_ms)
                if found:
                    row, states = list_of(found)
                    parts = pairs_of(states)
                    tries = int(parts.pop("tries", "0"))
                    known = {int(i): PartState(state) for i, state in parts.items()}
                    return Parcel(Reply.from_row(text_of(row)), token, asked, known, tries)
        return None

    async def note(self, parcel: Parcel, part: int, state: PartState | None) -> None:
        await self._push(parcel, part, "" if state is None else state.value)

    async def renew(self, parcel: Parcel) -> None:
        await self._push(parcel, "", "")

    async def done(self, parcel: Parcel) -> None:
        await self._end(parcel, done=True, seconds=0, counts=False)

    async def defer(self, parcel: Parcel, seconds: float, *, counts: bool) -> None:
        await self._end(parcel, done=False, seconds=seconds, counts=counts)

    async def recover(self, accounts: Iterable[tuple[str, str]]) -> int:
        due = 0
        for channel, account in accounts:
            for number in range(keys.PARTITIONS):
                p, name = keys.tagged(number), f"{channel}/{account}"
                found = await self._server.run("reply_recover", f"{p}:due:{name}", p, name)
                due += found if isinstance(found, int) else 0
        return due

    async def owed(self, route: Route) -> int:
        found = await self._server.command("LLEN", f"{keys.partition(route.place)}:replies:{route}")
        return found if isinstance(found, int) else 0

    async def _push(self, parcel: Parcel, part: int | str, state: str) -> None:
        p, route = keys.partition(parcel.reply.route.place), parcel.reply.route
        kept = await self._server.run(
            "reply_note",
            f"{p}:rlease:{route}",
            p,
            str(route),
            keys.account(route),
            parcel.token,
            self._ttl_ms,
            part,
            state,
        )
        _judge(kept, route)

    async def _end(self, parcel: Parcel, *, done: bool, seconds: float, counts: bool) -> None:
        p, route = keys.partition(parcel.reply.route.place), parcel.reply.route
        kept = await self._server.run(
            "reply_end", f"{p}:rlease:{route}", p, str(route), keys.account(route), parcel.token, parcel.reply.turn,
            int(done), int(seconds * 1000), int(counts), keys.KNOWN_FOR, keys.WAKE,
        )  # fmt: skip
        _judge(kept, route)


def _judge(kept: object, route: Route) -> None:
    if kept != 1:
        raise LeaseLost(f"the lease of {route} is another's")
