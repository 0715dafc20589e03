"""The world behind the fake Slack: its people, its conversations, and everything the platform stored (facts 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tests.platforms.slack_channel import Channel
from tests.platforms.slack_people import APP_ID, BOT_USER, Person
from tests.platforms.slack_text import pinged

if TYPE_CHECKING:
    from tests.platforms.faults import File
    from tests.platforms.server import Bell
    from tests.platforms.slack_delivery import Deliveries, Delivery

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of the bot as the platform keeps it: `text` and `blocks` are the current ones after edits."""

    channel: str
    thread_ts: str | None
    text: str
    blocks: tuple[Json, ...]
    metadata: Json | None
    ts: str
    at: float
    broadcast: bool = False
    edits: int = 0
    deleted: bool = False

    @property
    def pings(self) -> tuple[str, ...]:
        """Whom the message notifies: `channel`, `here`, `everyone`, ids of people and of user groups."""
        return pinged(self.text, self.blocks)


@dataclass(frozen=True, slots=True)
class Status:
    """One assistant.threads.setStatus; an empty `status` clears."""

    channel: str
    thread_ts: str
    status: str
    loading_messages: tuple[str, ...]
    at: float


@dataclass(frozen=True, slots=True)
class Ping:
    """Somebody whom a posted or edited message notified."""

    channel: str
    ts: str
    who: str


@dataclass(slots=True, eq=False)
class World:
    """People, conversations and stored messages of one workspace with one app."""

    bell: Bell
    clock: Callable[[], float]
    team: str
    origin: Callable[[], str]
    deliveries: Deliveries
    mention_first: bool = False
    echoes: bool = True
    people: dict[str, Person] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)
    pings: list[Ping] = field(default_factory=list)
    files: dict[str, File] = field(default_factory=dict)
    events: int = 0

    def room(
        self, room_id: str, kind: str, name: str, members: Iterable[Person], *, bot_is_member: bool = True
    ) -> Channel:
        """The conversation of this id, made if it is new."""
        room = Channel(self, room_id, kind, name, list(members), bot_is_member)
        return self.channels.setdefault(room_id, room)

    def im(self, person: Person) -> Channel:
        """The direct messages of a person and the bot."""
        return self.room(f"D{person.id[1:]}", "im", person.name, [person])

    def tell(self, event: Json, *, sends: bool = True) -> Delivery:
        """Deliver an event; where `sends` is false its first delivery is lost on the way."""
        self.events += 1
        event_id = f"Ev{self.events:08d}"
        payload: Json = {
            "token": "verification-token",
            "team_id": self.team,
            "api_app_id": APP_ID,
            "type": "event_callback",
            "event_id": event_id,
            "event_time": int(self.clock()),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": self.team,
                    "user_id": BOT_USER,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": False,
            "event": event,
        }
        return self.deliveries.add("events_api", payload, event_id=event_id, sends=sends)

    def store(self, sent: Sent) -> None:
        self.sent.append(sent)
        self._ping(sent)

    def change(self, channel: str, ts: str, **changes: Any) -> None:
        """What became of a message of the bot; the pings of an edit are those it adds."""
        for at, sent in enumerate(self.sent):
            if (sent.channel, sent.ts) == (channel, ts):
                self.sent[at] = replace(sent, **changes)
                self._ping(self.sent[at], already=sent.pings)
        self.bell.ring()

    def _ping(self, sent: Sent, already: Iterable[str] = ()) -> None:
        self.pings.extend(Ping(sent.channel, sent.ts, who) for who in sent.pings if who not in already)
        self.bell.ring()

    def keep_file(self, file: File) -> str:
        file_id = f"F{len(self.files) + 1}"
        self.files[file_id] = file
        return file_id
