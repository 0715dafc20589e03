"""Who the people of a workspace are: names and rights, by `users.info`, remembered for a while."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from channels.admins import Admins
from channels.names import one_line
from channels.slack.api import Api
from gateway.clock import Clock
from gateway.errors import GatewayError

KEPT: Final = 3600.0
"""Seconds that a name counts."""

_WITHIN: Final = 1.0  # seconds that a message waits for names; Slack waits for its ack meanwhile
_AGAIN: Final = 60.0  # seconds until a name is asked for again that could not be learnt
_MOST: Final = 10_000
_RIGHTS: Final = ("is_admin", "is_owner", "is_primary_owner")


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    until: float


class People:
    """A KnowsAdmins for the whole workspace is `admins`: apps have no admins of single channels (facts 3.4)."""

    def __init__(self, api: Api, clock: Clock) -> None:
        self._api, self._clock = api, clock
        self._known: dict[str, _Entry] = {}  # the oldest first
        self.admins = Admins(self._ask_rights, clock)

    async def names(self, ids: Iterable[str]) -> Mapping[str, str]:
        """What these people are called. Those of whom Slack does not tell in time are left out."""
        wanted = list(dict.fromkeys(ids))[:20]
        missing = [person for person in wanted if self._fresh(person) is None]
        if missing:
            try:
                async with asyncio.timeout(_WITHIN):
                    await asyncio.gather(*map(self._learn, missing))
            except TimeoutError:
                for person in missing:
                    if self._fresh(person) is None:
                        self._keep(person, "", _AGAIN)
        return {person: name for person in wanted if (name := self._fresh(person))}

    async def close(self) -> None:
        """Asks nothing more."""
        await self.admins.close()

    async def _learn(self, person: str) -> None:
        try:
            await self._ask(person)
        except GatewayError:  # a name is not worth a message: its id stands for it
            self._keep(person, "", _AGAIN)

    async def _ask_rights(self, _: str, person: str) -> bool:
        return await self._ask(person)

    async def _ask(self, person: str) -> bool:
        """Learns the name and tells whether they are an admin."""
        match (await self._api.ask("users.info", user=person)).get("user"):
            case dict(user):
                profile = user.get("profile")
                shown = profile.get("display_name") if isinstance(profile, dict) else ""
                self._keep(person, one_line(str(shown or user.get("real_name") or user.get("name") or "")), KEPT)
                rights = any(user.get(right) is True for right in _RIGHTS)
                self.admins.learn("", person, rights)
                return rights
        self._keep(person, "", _AGAIN)
        return False

    def _keep(self, person: str, name: str, seconds: float) -> None:
        self._known.pop(person, None)
        self._known[person] = _Entry(name, self._clock.boot() + seconds)
        while len(self._known) > _MOST:
            del self._known[next(iter(self._known))]

    def _fresh(self, person: str) -> str | None:
        entry = self._known.get(person)
        return None if entry is None or self._clock.boot() >= entry.until else entry.name
