"""Who asked to talk and who was approved: events on the service tape, the latest wins."""

import secrets
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace

from gateway.clock import Clock
from gateway.errors import Refused
from gateway.message import Author, IncomingMessage
from gateway.tape.entries import Draft, Entry, Event, Json, Meta
from gateway.tape.name import service_name
from gateway.tape.store import TapeStore

_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # none that is easily taken for another

NAME_SHOWN = 40
"""Characters of a name that are shown."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person on a platform. `state` is `asked`, `approved` or `revoked`; `session` is where they wrote."""

    channel: str
    account: str
    id: str
    name: str
    code: str
    state: str
    session: str

    @property
    def shown(self) -> str:
        """The name as it may stand in a line: it is what somebody calls themselves, and may try to look like more."""
        line = " ".join("".join(c if c.isprintable() and c not in "`*_[]()<>@~|#" else " " for c in self.name).split())
        return (line[:NAME_SHOWN] + "…" if len(line) > NAME_SHOWN else line) or self.id


def people(entries: Iterable[Entry]) -> dict[tuple[str, str, str], Person]:
    """Everybody that the service tape knows, by channel, account and id."""
    known: dict[tuple[str, str, str], Person] = {}
    for entry in entries:
        match entry.fact:
            case Event("access", {"channel": str(channel), "account": str(account), "id": str(who), **rest}):
                name, code, state, session = (str(rest.get(k, "")) for k in ("name", "code", "state", "session"))
                known[channel, account, who] = Person(channel, account, who, name, code, state, session)
    return known


class Approvals:
    """Reads and writes the service tape of one workspace; safe beside other processes that do the same."""

    def __init__(self, store: TapeStore, workspace: str, clock: Clock) -> None:
        self._store, self._tape, self._clock = store, service_name(workspace), clock
        self._known: dict[tuple[str, str, str], Person] = {}
        self._read = 0, 0  # generation of the tape, and the last id

    async def everybody(self) -> list[Person]:
        """All people, in the order in which they first came."""
        return list((await self._people()).values())

    async def state(self, message: IncomingMessage) -> Person | None:
        """What is known of the author of a message."""
        return (await self._people()).get((message.session.channel, message.session.account, message.author.id))

    async def ask(self, message: IncomingMessage) -> Person:
        """Notes that somebody wants to talk, once, and returns their code."""
        if (known := await self.state(message)) and known.state == "asked":
            return known
        code = "".join(secrets.choice(_LETTERS) for _ in range(8))
        key, author = message.session, message.author
        person = Person(key.channel, key.account, author.id, author.name, code, "asked", str(key))
        await self._note(person, by=author)
        return person

    async def decide(self, who: str, state: str, *, by: Author) -> Person | None:
        """Approves or revokes the person behind a code, or an id, or `channel:id`. None if nobody is.

        Raises Refused for an id that people of two channels have: the wrong one must not be let in.
        """
        wanted, everybody = who.strip().upper(), await self.everybody()
        if not wanted:
            return None
        found = [p for p in everybody if wanted == p.code] or [
            p for p in everybody if wanted in (p.id.upper(), f"{p.channel}:{p.id}".upper())
        ]
        if len(found) > 1:
            raise Refused(f"more than one person has the id {who.strip()[:40]!r}: name them by their code")
        if not found:
            return None
        changed = replace(found[0], state=state)
        await self._note(changed, by=by)
        return changed

    async def _people(self) -> dict[tuple[str, str, str], Person]:
        """Costs what is new on the tape, so that every message may ask."""
        window = await self._store.window(self._tape)
        generation, last = self._read  # read now: somebody else may have looked meanwhile, and later than we did
        if window.generation < generation:
            return self._known
        if window.generation > generation:
            self._known, last = {}, 0
        new = window.entries[bisect_right(window.entries, last, key=lambda entry: entry.id) :]
        if new:
            self._known |= people(new)
            last = new[-1].id
        self._read = window.generation, last
        return self._known

    async def _note(self, person: Person, *, by: Author) -> None:
        data: dict[str, Json] = {
            "channel": person.channel,
            "account": person.account,
            "id": person.id,
            "name": person.name,
            "code": person.code,
            "state": person.state,
            "session": person.session,
            "by": by.id,
        }
        await self._store.append(
            self._tape, [Draft(Event("access", data), self._clock.now(), Meta(author=by.id, context=False))]
        )
