"""What channels are built from."""

from dataclasses import dataclass

from gateway.clock import Clock
from gateway.redact import Redactor
from gateway.session.inbox import Inbox
from gateway.session.lock_redis import RedisHolder
from gateway.session.outbox import Outbox
from gateway.settings import Settings
from gateway.tape.store import TapeStore


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one running gateway."""

    settings: Settings
    clock: Clock
    redactor: Redactor
    store: TapeStore
    workspace: str
    inbox: Inbox
    outbox: Outbox
    holder: RedisHolder
