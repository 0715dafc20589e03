"""Who asked to talk and who was approved: events on the service tape, the latest wins."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from gateway.clock import Clock
from gateway.message import Author, IncomingMessage
from gateway.tape.entries import Draft, Entry, Event, Json, Meta
from gateway.tape.name import service_name
from gateway.tape.store import TapeStore

_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # none that is easily taken for another


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
        self._read = 0

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

    async def decide(self, code: str, state: str, *, by: Author) -> Person | None:
        """Approves or revokes the person behind a code (or an id). None if nobody is."""
        wanted = code.strip().upper()
        for person in (await self._people()).values():
            if wanted in (person.code, person.id.upper(), f"{person.channel}:{person.id}".upper()):
                changed = Person(
                    person.channel, person.account, person.id, person.name, person.code, state, person.session
                )
                await self._note(changed, by=by)
                return changed
        return None

    async def _people(self) -> dict[tuple[str, str, str], Person]:
        entries = (await self._store.window(self._tape)).entries
        if len(entries) != self._read:
            self._known, self._read = people(entries), len(entries)
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
