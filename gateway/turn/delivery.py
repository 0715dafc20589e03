"""Brings replies out: one lease a route, parts in order, each an intent, a send and a receipt."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import structlog

from gateway.channel import Ambiguous, Channel, Part
from gateway.clock import Clock
from gateway.errors import GatewayError, Lost, Refused, Retryable
from gateway.message import Reply, Route, TurnId
from gateway.session.lock import Lease
from gateway.session.outbox import Outbox, Parcel, PartState
from gateway.tape.commit import look_back
from gateway.tape.entries import Draft, Event, Json, Meta
from gateway.tape.index import delivery
from gateway.tape.name import tape_name
from gateway.tape.store import TapeStore
from gateway.tape.window import Recorded

log = structlog.get_logger()

DEADLINE = 30.0
"""Seconds that a send may take; the route's lease is renewed meanwhile."""

ROUTE_TTL = 10.0
"""Seconds of a route's lease, at most: so long the replies of a dead process wait."""

AWAY = 5.0
"""Seconds until a reply is looked at again whose channel went away in this process."""

AGAIN_AFTER = 2.0
"""Seconds until a part whose send was not answered is sent once more."""

MUCH_LATER = 30.0
"""Seconds until a reply is tried again that a fault of ours kept from being cut."""

FAULTS = 5
"""So many such faults in one process end a reply: those behind it must not wait for ever."""


class Delivery:
    """`channels`: those of this process. `ttl`: seconds of a route's lease. `redact` takes secrets out of a text.

    Replies of a route leave in their order, each part at least once, and a part that may be a second copy says so.
    What waits, for a platform or for a fault to pass, holds up its own route alone; what can never arrive, or is not
    known to have arrived, ends with a fact on the tape and holds up nothing.
    """

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
        self._redact, self._ttl = redact, ttl
        self._open, self._taking = 0, False
        self._faults: Counter[TurnId] = Counter()

    async def run(self) -> None:
        """Delivers until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._recover())
            while True:
                await self._due.wait()
                self._due.clear()
                self._taking = True
                try:
                    while self._open < self._room and (parcel := await self._outbox.take(self._accounts())):
                        self._open += 1
                        tasks.create_task(self._bring(parcel))
                except Retryable as away:
                    log.warning("delivery.waits", reason=str(away))
                except Exception:  # a row that cannot be read: the routes behind it go on
                    log.exception("delivery.take_failed")
                finally:
                    self._taking = False

    @property
    def busy(self) -> int:
        """How many replies are on their way, or being taken."""
        return self._open + self._taking

    async def owes(self) -> bool:
        """Whether a reply is on its way or could be. One that waits for a time that its platform named is neither."""
        due = 0
        with suppress(Retryable):
            due = await self._outbox.recover(self._accounts())
        return due + self.busy > 0  # in this order: what was taken since is busy

    def _channel(self, route: Route) -> Channel | None:
        here = (c for c in self._channels() if c.can_send and (c.name, c.account) == (route.channel, route.account))
        return next(here, None)

    def _accounts(self) -> list[tuple[str, str]]:
        return [(c.name, c.account) for c in self._channels() if c.can_send and c.account]

    async def _recover(self) -> None:
        while True:
            try:
                if await self._outbox.recover(self._accounts()):
                    self._due.set()
            except Retryable:  # said by whoever takes
                pass
            except Exception:  # routes become due by themselves, or at the next look
                log.exception("delivery.recover_failed")
            await self._clock.wait(1)

    async def _bring(self, parcel: Parcel) -> None:
        try:
            await self.deliver(parcel)
        except Lost as lost:
            log.info("delivery.lost", reason=str(lost))
        except Retryable as away:
            log.warning("delivery.later", reason=str(away))
        except asyncio.CancelledError:  # an orderly stop: whoever comes next need not wait for the lease to run out
            with suppress(GatewayError):
                await asyncio.shield(self._outbox.defer(parcel, 0, counts=False))
            raise
        except Exception:  # the one place where a fault of ours in a delivery is caught: other routes go on
            log.exception("delivery.failed", turn=parcel.reply.turn)
            with suppress(GatewayError):
                await self._failed(parcel)
        else:
            self._faults.pop(parcel.reply.turn, None)
        finally:
            self._open -= 1
            self._due.set()

    async def _failed(self, parcel: Parcel) -> None:
        turn = parcel.reply.turn
        self._faults[turn] += 1
        if self._faults[turn] < FAULTS:
            await self._outbox.defer(parcel, MUCH_LATER, counts=True)
            return
        del self._faults[turn]
        await self._fact(parcel.reply, "delivery.failed", {"part": 0, "of": 1, "reason": "a fault of the gateway's"})
        await self._outbox.done(parcel)

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
        reply, known = parcel.reply, await self._known(parcel.reply)
        if known is None or not known.shown:
            parts = channel.render(self._redact(reply.text))
            shown = {index for index, state in parcel.states.items() if state is PartState.SENT}
            unsure = reply.unsure
            if known is not None and known.parts == len(parts):
                shown |= known.receipts
            elif known is not None and known.receipts:  # of other parts: nobody can tell which of these were shown
                shown, unsure = set(), True
            missing = [index for index in range(len(parts)) if index not in shown]
            for index in missing:
                before = parcel.states.get(index)
                if unsure and index == missing[0] and before in (None, PartState.SENT):
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
            wait = 2.0 ** min(parcel.tries, 6) if later.after is None else later.after
            log.info("delivery.deferred", turn=reply.turn, part=index, seconds=wait, reason=str(later))
            await self._outbox.defer(parcel, wait, counts=later.after is None)
            return False
        except Refused as never:
            log.warning("delivery.refused", turn=reply.turn, part=index, reason=str(never))
            await self._fact(
                reply, "delivery.failed", {"part": index, "of": len(parts), "reason": self._redact(str(never))[:200]}
            )
            await self._outbox.done(parcel)
            return False
        except (Ambiguous, TimeoutError) as unknown:
            log.warning("delivery.ambiguous", turn=reply.turn, part=index, reason=str(unknown))
            return await self._park(parcel, index, len(parts), before)
        except Lost:
            raise
        except Exception:  # whatever a channel's fault is, nobody knows whether the part left
            log.exception("delivery.faulty", turn=reply.turn, part=index)
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

    async def _known(self, reply: Reply) -> Recorded | None:
        """What the tape knows of it: Redis may have forgotten which parts were shown."""
        if not reply.on_tape:
            return None
        index = await self._store.recorded(self._tape(reply), look_back(self._clock.now()))
        return index.turns.get(reply.turn)

    async def _fact(self, reply: Reply, name: str, data: dict[str, Json]) -> None:
        if reply.on_tape:
            await self._note(reply, Event(name, {"turn": reply.turn, **data}))

    async def _note(self, reply: Reply, event: Event) -> None:
        await self._store.append(self._tape(reply), [Draft(event, self._clock.now(), Meta(context=False))])

    def _tape(self, reply: Reply) -> str:
        return tape_name(self._workspace, str(reply.session))
