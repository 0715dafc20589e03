"""What happened in a conversation of the fake Slack: something said, or a slash command."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.platforms.slack_channel import Channel
    from tests.platforms.slack_delivery import Delivery
    from tests.platforms.slack_people import Person

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """What happened in a conversation: the stored message, and the events on their way to the bot."""

    channel: Channel
    ts: str
    message: Json
    deliveries: tuple[Delivery, ...]

    @property
    def event_ids(self) -> tuple[str, ...]:
        return tuple(delivery.event_id for delivery in self.deliveries)


@dataclass(slots=True, eq=False)
class Command:
    """A slash command of a person. `acks` are the payloads it was acknowledged with, `responses` what its
    `response_url` was sent, `refused` what Slack told the person when it never reached the bot or was not acked."""

    channel: Channel
    person: Person
    command: str
    text: str
    at: float
    response_url: str = ""
    delivery: Delivery | None = None
    acks: list[Json | None] = field(default_factory=list)
    responses: list[Json] = field(default_factory=list)
    refused: str = ""


def timestamp(said: Said | Json | str) -> str:
    """The `ts` of a message, however it is named."""
    match said:
        case str():
            return said
        case dict():
            return str(said["ts"])
        case _:
            return said.ts


def thread_root(thread: Said | Json | str | None) -> str | None:
    """The root of a message: a reply to a reply is a reply to its root."""
    match thread:
        case None | str():
            return thread
        case dict():
            return str(thread.get("thread_ts") or thread["ts"])
        case _:
            return str(thread.message.get("thread_ts") or thread.ts)
