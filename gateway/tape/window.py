"""What a turn needs of a tape: the entries after the last anchor, and where the tape stands."""

from dataclasses import dataclass

from gateway.message import MessageId, Reply, TurnId
from gateway.tape.entries import Entry


@dataclass(frozen=True, slots=True)
class Window:
    """`version` is the id of the last entry that is not `context: false`, 0 on an empty tape.

    `generation` is the id of the tape's first entry, 0 where there is none: only a reset changes it.
    """

    tape: str
    version: int = 0
    generation: int = 0
    anchor: Entry | None = None
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the closing `turn` event says: the truth about a turn, whoever else worked on it.

    `outcome`: `finished`, `cancelled` or `failed`. `parts` is how many parts the reply was cut into, as receipts tell;
    `receipts` are the indices of the parts that the platform took.
    """

    turn: TurnId
    messages: tuple[MessageId, ...]
    outcome: str
    reply: Reply | None = None
    receipts: frozenset[int] = frozenset()
    parts: int | None = None

    @property
    def shown(self) -> bool:
        """Whether nothing is owed any more."""
        return self.reply is None or (self.parts is not None and len(self.receipts) >= self.parts)
