"""Brings replies out: one lease a route, parts in order, each an intent, a send and a receipt."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta

import structlog

from gateway.channel import Ambiguous, Channel, Part
from gateway.clock import Clock
from gateway.errors import Lost, Refused, Retryable
from gateway.message import Reply, Route
from gateway.session.lock import Lease
from gateway.session.outbox import Outbox, Parcel, PartState
from gateway.tape.entries import Draft, Event, Json, Meta
from gateway.tape.index import delivery
from gateway.tape.name import tape_name
from gateway.tape.store import TapeStore

log = structlog.get_logger()

DEADLINE = 30.0
"""Seconds that a send may take; the route's lease is renewed meanwhile."""

ROUTE_TTL = 10.0
"""Seconds of a route's lease, at most: so long the replies of a dead process wait."""

AWAY = 5.0
"""Seconds until a reply is looked at again whose channel went away in this process."""

AGAIN_AFTER = 2.0
"""Seconds until a part whose send was not answered is sent once more."""

MEMORY = timedelta(hours=48)
"""How far back receipts are looked for: no reply waits longer unnoticed."""


class Delivery:
    """`channels`: those of this process. `ttl`: seconds of a route's lease. `redact` takes secrets out of a text."""

    def __init__(
        self,
        outbox: Outbox,
        store: TapeStore,
        workspace: str,
        channels: Callable[[], Iterable[Channel]],
        clock: Clock,
        *,
        due: asyncio.Event,
        redact: Callable[[str], str],
        ttl: float,
        at_once: int = 32,
    ) -> None:
        self._outbox, self._store, self._workspace = outbox, store, workspace
        self._channels, self._clock, self._due, self._room = channels, clock, due, at_once
        self._redact, self._ttl, self._open = redact, ttl, 0

    async def run(self) -> None:
        """Delivers until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._recover())
            while True:
                await self._due.wait()
                self._due.clear()
                try:
                    while self._open < self._room and (parcel := await self._outbox.take(self._accounts())):
                        self._open += 1
                        tasks.create_task(self._bring(parcel))
                except Retryable as away:
                    log.warning("delivery.waits", reason=str(away))

    @property
    def busy(self) -> int:
        """How many replies are on their way."""
        return self._open

    def _channel(self, route: Route) -> Channel | None:
        here = (c for c in self._channels() if c.can_send and (c.name, c.account) == (route.channel, route.account))
        return next(here, None)

    def _accounts(self) -> list[tuple[str, str]]:
        return [(c.name, c.account) for c in self._channels() if c.can_send and c.account]

    async def _recover(self) -> None:
        while True:
            with suppress(Retryable):
                if await self._outbox.recover(self._accounts()):
                    self._due.set()
            await self._clock.wait(1)

    async def _bring(self, parcel: Parcel) -> None:
        try:
            await self.deliver(parcel)
        except Lost as lost:
            log.info("delivery.lost", reason=str(lost))
        except Retryable as away:
            log.warning("delivery.later", reason=str(away))
        except asyncio.CancelledError:  # an orderly stop: whoever comes next need not wait for the lease to run out
            with suppress(Retryable, Lost):
                await asyncio.shield(self._outbox.defer(parcel, 0, counts=False))
            raise
        except Exception:  # the one place where a fault of ours in a delivery is caught: other routes go on
            log.exception("delivery.failed", turn=parcel.reply.turn)
            with suppress(Retryable, Lost):
                await self._outbox.defer(parcel, 30, counts=True)
        finally:
            self._open -= 1
            self._due.set()

    async def deliver(self, parcel: Parcel) -> None:
        """Brings the missing parts of one reply. Raises LeaseLost when the route is another's by now."""
        route = parcel.reply.route
        lease = Lease(
            lambda: self._outbox.renew(parcel), name=str(route), ttl=self._ttl, asked=parcel.asked, clock=self._clock
        )
        channel = self._channel(route)
        if channel is None:
            await self._outbox.defer(parcel, AWAY, counts=False)
            return
        async with lease.held():
            await self._parts(channel, parcel, lease)

    async def _parts(self, channel: Channel, parcel: Parcel, lease: Lease[None]) -> None:
        reply = parcel.reply
        parts = channel.render(self._redact(reply.text))
        shown = await self._receipts(reply) | {i for i, state in parcel.states.items() if state is PartState.SENT}
        missing = [index for index in range(len(parts)) if index not in shown]
        for index in missing:
            before = parcel.states.get(index)
            if before is None and reply.unsure and index == missing[0]:
                before = PartState.INTENT
            if not await self._send(channel, parcel, lease, parts, index, before):
                return
        await self._outbox.done(parcel)

    async def _send(
        self,
        channel: Channel,
        parcel: Parcel,
        lease: Lease[None],
        parts: Sequence[Part],
        index: int,
        before: PartState | None,
    ) -> bool:
        """One part: intent, send, receipt. False when the reply ended or waits for another time.

        `before`: how an earlier try ended, if there was one; then the part is sent as possibly repeated.
        """
        reply = parcel.reply
        await self._outbox.note(parcel, index, before or PartState.INTENT)
        lease.ensure()
        try:
            async with asyncio.timeout(DEADLINE):
                sent = await channel.send(reply, parts[index], index=index, of=len(parts), repeated=before is not None)
        except Retryable as later:
            await self._outbox.note(parcel, index, before)
            wait = min(60.0, 2.0**parcel.tries) if later.after is None else later.after
            log.info("delivery.deferred", turn=reply.turn, part=index, seconds=wait, reason=str(later))
            await self._outbox.defer(parcel, wait, counts=later.after is None)
            return False
        except Refused as never:
            log.warning("delivery.refused", turn=reply.turn, part=index, reason=str(never))
            await self._fact(reply, "delivery.failed", {"part": index, "of": len(parts), "reason": str(never)[:200]})
            await self._outbox.done(parcel)
            return False
        except (Ambiguous, TimeoutError) as unknown:
            log.warning("delivery.ambiguous", turn=reply.turn, part=index, reason=str(unknown))
            return await self._park(parcel, index, len(parts), before)
        if reply.on_tape:
            await self._note(reply, delivery(reply.turn, index, len(parts), sent))
        await self._outbox.note(parcel, index, PartState.SENT)
        return True

    async def _park(self, parcel: Parcel, index: int, of: int, before: PartState | None) -> bool:
        """No answer came. The first time the part is sent once more, marked; the second time nobody can know."""
        if before is PartState.AGAIN:
            await self._fact(parcel.reply, "delivery.unknown", {"part": index, "of": of})
            await self._outbox.note(parcel, index, PartState.SENT)
            return True
        await self._outbox.note(parcel, index, PartState.AGAIN)
        await self._outbox.defer(parcel, AGAIN_AFTER, counts=True)
        return False

    async def _receipts(self, reply: Reply) -> frozenset[int]:
        """The parts that the tape knows as delivered: Redis may have forgotten."""
        if not reply.on_tape:
            return frozenset()
        index = await self._store.recorded(self._tape(reply), self._clock.now() - MEMORY)
        known = index.turns.get(reply.turn)
        return frozenset() if known is None else known.receipts

    async def _fact(self, reply: Reply, name: str, data: dict[str, Json]) -> None:
        if reply.on_tape:
            await self._note(reply, Event(name, {"turn": reply.turn, **data}))

    async def _note(self, reply: Reply, event: Event) -> None:
        await self._store.append(self._tape(reply), [Draft(event, self._clock.now(), Meta(context=False))])

    def _tape(self, reply: Reply) -> str:
        return tape_name(self._workspace, str(reply.session))
