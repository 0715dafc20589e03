"""A gateway session: what it hears, and what it heard, for the RESUME that comes after its socket is gone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from tests.platforms.discord_world import BotAccount

Json = dict[str, Any]

GUILDS, MEMBERS, PRESENCES, GUILD_MESSAGES, DIRECT_MESSAGES, CONTENT = (1 << bit for bit in (0, 1, 8, 9, 12, 15))
PRIVILEGED: Final = MEMBERS | PRESENCES | CONTENT
EVERY_INTENT: Final = (1 << 17) - 1 | 1 << 20 | 1 << 21 | 1 << 24 | 1 << 25


class Line(Protocol):
    """The socket under a session."""

    def push(self, frame: Json) -> None: ...


@dataclass(slots=True, eq=False)
class Session:
    """What IDENTIFY began. Every event it hears gets the next number and is kept; a socket may come and go."""

    id: str
    bot: BotAccount
    intents: int
    shard: tuple[int, int] | None = None
    line: Line | None = None
    frames: list[Json] = field(default_factory=list)
    ended: bool = False
    gone_at: float | None = None

    @property
    def seq(self) -> int:
        return len(self.frames)

    def hears(self, event: str, *, private: bool) -> bool:
        """Whether its intents let an event through; interactions need none."""
        if event.startswith("MESSAGE_"):
            return bool(self.intents & (DIRECT_MESSAGES if private else GUILD_MESSAGES))
        return event.startswith("INTERACTION_") or bool(self.intents & GUILDS)

    def serves(self, guild_id: str | None) -> bool:
        """A guild's events go to one shard; what is private goes to shard 0."""
        if self.shard is None:
            return True
        number, count = self.shard
        return number == (int(guild_id) >> 22) % count if guild_id else number == 0

    def tell(self, event: str, data: Json) -> None:
        """Number an event, keep it, and send it if somebody listens."""
        frame: Json = {"op": 0, "t": event, "s": self.seq + 1, "d": data}
        self.frames.append(frame)
        if self.line:
            self.line.push(frame)

    def leave(self, at: float, *, for_good: bool = False) -> None:
        """The socket is gone; `for_good` when nobody may resume it."""
        self.line, self.gone_at = None, at
        self.ended = self.ended or for_good
