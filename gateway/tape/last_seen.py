"""Up to where each place of an account was taken in: what a channel reads on from after it was away."""

from collections.abc import Iterable

import structlog

from gateway.clock import Clock
from gateway.errors import GatewayError
from gateway.tape.entries import Draft, Entry, Event, Json, Meta
from gateway.tape.name import service_name
from gateway.tape.store import TapeStore

log = structlog.get_logger()

WRITE_EVERY = 300.0
"""Seconds between two notes on the tape, at least. After a crash so much is read twice, and known as taken in."""


class LastSeen:
    """Events `seen` on the service tape, the latest wins; a Redis that lost its data does not forget them (F11).

    A place that was never noted is noted at once: nobody would look there otherwise.
    """

    def __init__(self, store: TapeStore, workspace: str, clock: Clock, channel: str) -> None:
        self._store, self._tape, self._clock, self._channel = store, service_name(workspace), clock, channel
        self._account = ""
        self._noted: dict[str, str] = {}
        self._new: dict[str, str] = {}
        self._written = clock.boot()

    async def load(self, account: str) -> dict[str, str]:
        """The newest id that was taken in, by place. Empty where this account never received anything.

        Raises Broken for a tape that cannot be read.
        """
        self._account = account
        self._noted = seen((await self._store.window(self._tape)).entries, self._channel, account)
        return {**self._noted, **self._new}

    async def saw(self, place: str, id: str) -> None:  # noqa: A002
        """Everything in this place up to this id is durable, or was nothing to the bot. To be said in order."""
        self._new[place] = id
        if place not in self._noted or self._clock.boot() - self._written >= WRITE_EVERY:
            await self.write()

    async def write(self) -> None:
        """Notes what is new: at an orderly end. A note that cannot be made costs reading more after a crash."""
        if not self._new:
            return
        ids: dict[str, Json] = dict(self._new)
        data: dict[str, Json] = {"channel": self._channel, "account": self._account, "ids": ids}
        try:
            await self._store.append(self._tape, [Draft(Event("seen", data), self._clock.now(), Meta(context=False))])
        except (GatewayError, OSError) as error:
            log.warning("seen.not_noted", channel=self._channel, reason=str(error))
            return
        self._noted |= {place: str(id_) for place, id_ in ids.items()}
        self._new = {place: id_ for place, id_ in self._new.items() if ids.get(place) != id_}
        self._written = self._clock.boot()


def seen(entries: Iterable[Entry], channel: str, account: str) -> dict[str, str]:
    """The newest noted id of each place of an account."""
    found: dict[str, str] = {}
    key = channel, account
    for entry in entries:
        match entry.fact:
            case Event("seen", {"channel": str(of), "account": str(who), "ids": dict(ids)}) if (of, who) == key:
                found |= {place: str(id_) for place, id_ in ids.items()}
    return found
