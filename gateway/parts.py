"""What channels are built from."""

from dataclasses import dataclass
from enum import Enum

from gateway.clock import Clock
from gateway.redact import Redactor
from gateway.session.inbox import Inbox
from gateway.session.lock_redis import RedisHolder
from gateway.session.outbox import Outbox
from gateway.session.tokens import ReplyTokens
from gateway.settings import Settings
from gateway.tape.store import TapeStore


class Role(Enum):
    """What of a gateway one process is. CHANNELS: connections and pages; WORKER: turns; both deliver replies."""

    ALL = "all"
    CHANNELS = "channels"
    WORKER = "worker"


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one running gateway."""

    settings: Settings
    role: Role
    clock: Clock
    redactor: Redactor
    store: TapeStore
    workspace: str
    inbox: Inbox
    outbox: Outbox
    holder: RedisHolder
    tokens: ReplyTokens
