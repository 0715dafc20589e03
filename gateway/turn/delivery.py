"""Brings replies out: one lease a route, parts in order, each an intent, a send and a receipt."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta

import structlog

from gateway.channel import Ambiguous, Channel, Part
from gateway.clock import Clock
from gateway.errors import Lost, Refused, Retryable
from gateway.message import Reply
from gateway.session.outbox import Outbox, Parcel, PartState
from gateway.tape.entries import Draft, Event, Json, Meta
from gateway.tape.index import delivery
from gateway.tape.name import tape_name
from gateway.tape.store import TapeStore

log = structlog.get_logger()

DEADLINE = 25.0
"""Seconds that a send may take; a route's lease is longer, so that nobody else sends meanwhile."""

ROUTE_TTL = 40.0
"""Seconds of a route's lease; each note of a part pushes it out."""

MEMORY = timedelta(hours=48)


class Delivery:
    """`channels`: those of this process."""

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
        at_once: int = 32,
    ) -> None:
        self._outbox, self._store, self._workspace = outbox, store, workspace
        self._channels, self._clock, self._due, self._room = channels, clock, due, at_once
        self._redact, self._open = redact, 0

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
        except Exception:  # the one place where a fault of ours in a delivery is caught: other routes go on
            log.exception("delivery.failed", turn=parcel.reply.turn)
            with suppress(Retryable, Lost):
                await self._outbox.defer(parcel, 30, counts=True)
        finally:
            self._open -= 1
            self._due.set()

    async def deliver(self, parcel: Parcel) -> None:
        """Brings the missing parts of one reply. Raises LeaseLost when the route is another's by now."""
        reply = parcel.reply
        channel = next(c for c in self._channels() if (c.name, c.account) == (reply.route.channel, reply.route.account))
        parts = channel.render(self._redact(reply.text))
        shown = await self._receipts(reply)
        for index, part in enumerate(parts):
            state = parcel.states.get(index)
            if index in shown or state is PartState.SENT:
                continue
            if state is PartState.AGAIN:
                await self._fact(reply, "delivery.unknown", {"part": index, "of": len(parts)})
                continue
            if not await self._send(channel, parcel, parts, index, part, repeated=state is PartState.INTENT):
                return
        await self._outbox.done(parcel)

    async def _send(
        self, channel: Channel, parcel: Parcel, parts: Sequence[Part], index: int, part: Part, *, repeated: bool
    ) -> bool:
        """One part: intent, send, receipt. False when the reply ended or waits for another time."""
        reply = parcel.reply
        await self._outbox.note(parcel, index, PartState.AGAIN if repeated else PartState.INTENT)
        try:
            async with asyncio.timeout(DEADLINE):
                found = await channel.send(reply, part, index=index, of=len(parts), repeated=repeated)
        except Retryable as later:
            await self._outbox.note(parcel, index, PartState.INTENT if repeated else None)
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
            await self._outbox.defer(parcel, 2, counts=True)
            return False
        if reply.on_tape:
            await self._note(reply, delivery(reply.turn, index, len(parts), found))
        await self._outbox.note(parcel, index, PartState.SENT)
        return True

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
