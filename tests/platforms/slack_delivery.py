"""How Slack brings events to a bot: envelopes, acks, and three retries before it gives up (facts 3.1, 5.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from tests.platforms.server import Bell
    from tests.platforms.slack_said import Command

Json = dict[str, Any]

RETRIES: Final = 3
RESPONSE_USES: Final = 5
RESPONSE_SECONDS: Final = 30 * 60


@dataclass(slots=True, eq=False)
class Delivery:
    """An event or a slash command on its way. `attempt` is the number of the last try (0 the first, then retries);
    `failure` is why the next one is needed. `waits`: no socket was open for it; `gone`: Slack gave up, history alone
    has it."""

    number: int
    kind: str
    payload: Json
    event_id: str = ""
    command: Command | None = None
    attempt: int = 0
    reason: str = ""
    failure: str = "timeout"
    waits: bool = False
    acked: bool = False
    gone: bool = False

    @property
    def event(self) -> Json:
        return dict(self.payload.get("event", {}))


@dataclass(frozen=True, slots=True)
class Envelope:
    """One try of a delivery, as it goes out."""

    envelope_id: str
    delivery: Delivery
    attempt: int
    reason: str
    at: float

    @property
    def event_id(self) -> str:
        return self.delivery.event_id

    def frame(self) -> Json:
        """What a socket carries. The `retry_` fields are those of events alone."""
        is_event = self.delivery.kind == "events_api"
        retries = {"retry_attempt": self.attempt, "retry_reason": self.reason} if is_event else {}
        head = {"envelope_id": self.envelope_id, "type": self.delivery.kind, "accepts_response_payload": not is_event}
        return head | {"payload": self.delivery.payload} | retries


@dataclass(frozen=True, slots=True)
class Ack:
    """The bot's word that it has an envelope; `payload` is what it answered with."""

    envelope_id: str
    payload: Json | None
    at: float
    event_id: str
    attempt: int


class Carrier(Protocol):
    """What brings an envelope to the bot: sockets, or posts to its address."""

    def carry(self, envelope: Envelope) -> bool:
        """Send it; false where there is no way to the bot now."""
        ...


@dataclass(slots=True, eq=False)
class Deliveries:
    """Everything Slack has told the bot, or tried to.

    An event that finds no open socket has failed once: the next socket gets its first retry. Retries come when
    `expire` is called, or `ack_within` seconds after the last try.
    """

    bell: Bell
    clock: Callable[[], float]
    origin: Callable[[], str]
    ack_within: float
    carrier: Carrier
    all: list[Delivery] = field(default_factory=list)
    acks: list[Ack] = field(default_factory=list)
    envelopes: list[Envelope] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    loop: asyncio.AbstractEventLoop | None = None
    timers: set[asyncio.TimerHandle] = field(default_factory=set)

    @property
    def unacked(self) -> list[Delivery]:
        """What is on its way: neither acknowledged nor given up."""
        return [delivery for delivery in self.all if not delivery.acked and not delivery.gone]

    def add(
        self, kind: str, payload: Json, *, event_id: str = "", command: Command | None = None, sends: bool = True
    ) -> Delivery:
        delivery = Delivery(len(self.all) + 1, kind, payload, event_id, command)
        self.all.append(delivery)
        if sends:
            self._send(delivery)
        self.bell.ring()
        return delivery

    def command(self, command: Command) -> Command:
        """Bring a slash command to the bot; Slack tries that once, and tells the person if it fails."""
        number = len(self.commands) + 1
        self.commands.append(command)
        command.response_url = f"{self.origin()}/commands/{number}"
        payload = command.channel.command_payload(command, f"trigger.{number}")
        command.delivery = self.add("slash_commands", payload, command=command)
        if command.delivery.waits:
            self._give_up(command.delivery, "dispatch_failed")
        return command

    def expire(self, deliveries: Iterable[Delivery] | None = None) -> list[Delivery]:
        """The time to acknowledge is over: each gets its next retry, or is given up after the third."""
        expired = [delivery for delivery in self.unacked if deliveries is None or delivery in deliveries]
        for delivery in expired:
            if delivery.command is not None or delivery.attempt >= RETRIES:
                self._give_up(delivery, "operation_timeout")
            else:
                delivery.attempt += 1
                delivery.reason = delivery.failure
                self._send(delivery)
        return expired

    def redeliver(self, delivery: Delivery, retry: int) -> None:
        """Send the try of this number, whatever came of the others; 0 is the first envelope once more."""
        delivery.attempt, delivery.reason = retry, delivery.failure if retry else ""
        delivery.acked = delivery.gone = False
        self._send(delivery)

    def opened(self) -> None:
        """There is a way to the bot again."""
        for delivery in self.unacked:
            if delivery.waits:
                delivery.attempt, delivery.reason = max(delivery.attempt, 1), "timeout"
                self._send(delivery)

    def acknowledge(self, envelope_id: str, payload: Json | None) -> None:
        sent = next((envelope for envelope in self.envelopes if envelope.envelope_id == envelope_id), None)
        event_id, attempt = (sent.event_id, sent.attempt) if sent else ("", -1)
        self.acks.append(Ack(envelope_id, payload, self.clock(), event_id, attempt))
        if sent:
            sent.delivery.acked = True
            if sent.delivery.command is not None:
                sent.delivery.command.acks.append(payload)
        self.bell.ring()

    def respond(self, number: int, body: Json) -> str:
        """A post to a command's `response_url`; the error, if any."""
        command = self.commands[number - 1]
        if self.clock() - command.at > RESPONSE_SECONDS:
            return "expired_url"
        if len(command.responses) >= RESPONSE_USES:
            return "used_url"
        command.responses.append(body)
        self.bell.ring()
        return ""

    def stop_timers(self) -> None:
        while self.timers:
            self.timers.pop().cancel()

    def _send(self, delivery: Delivery) -> None:
        envelope_id = f"envelope-{delivery.number}-{delivery.attempt}"
        envelope = Envelope(envelope_id, delivery, delivery.attempt, delivery.reason, self.clock())
        delivery.waits = not self.carrier.carry(envelope)
        if not delivery.waits:
            self.envelopes.append(envelope)
        if self.loop is not None:
            self.timers.add(self.loop.call_later(self.ack_within, self._late, delivery, delivery.attempt))
        self.bell.ring()

    def _late(self, delivery: Delivery, attempt: int) -> None:
        if delivery.attempt == attempt:
            self.expire([delivery])

    def _give_up(self, delivery: Delivery, told: str) -> None:
        delivery.gone, delivery.waits = True, False
        if delivery.command is not None:
            delivery.command.refused = told
        self.bell.ring()
