"""The facts that a tape is made of.

A `Draft` is a fact that no tape holds yet; an `Entry` is one that a tape holds, with the id that it will keep for ever.
The seven kinds of fact are frozen types; a kind that this release does not know is an `Unknown` and is kept as it is.
`more` holds the payload fields that the type does not name: whatever another program wrote survives a round trip.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from gateway.message import MessageId, TurnId

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonMap: TypeAlias = Mapping[str, Json]

_NOTHING: JsonMap = {}


@dataclass(frozen=True, slots=True)
class Message:
    """Chat words of one role. `content` is a text, or a list of parts in the chat-completions form."""

    role: str
    content: Json
    more: JsonMap = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The words alone."""
        match self.content:
            case str(text):
                return text
            case list(parts):
                return "\n".join(str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part)
            case _:
                return ""


@dataclass(frozen=True, slots=True)
class System:
    """A system prompt as it was from here on; never enters a view (the profile brings the prompt)."""

    content: str
    more: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call. `arguments` is the JSON text as the model wrote it, broken or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model asked for in one step, with the text that it said beside."""

    calls: tuple[Call, ...]
    content: str = ""
    more: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The results of one step. `ids` are the calls' ids in the order of the results; empty where none were kept."""

    results: tuple[Json, ...]
    ids: tuple[str, ...] = ()
    more: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where the window begins. It deletes nothing."""

    name: str
    state: JsonMap = field(default_factory=dict)
    more: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened around the conversation; never enters a view."""

    name: str
    data: JsonMap = field(default_factory=dict)
    more: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Error:
    """A failure that a person was told of. `kind`: provider, tool, temporary, invalid_input, config, unknown..."""

    kind: str
    message: str
    more: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unknown:
    """A fact of a kind that this release does not know."""

    kind: str
    payload: JsonMap


Fact: TypeAlias = Message | System | ToolCall | ToolResult | Anchor | Event | Error | Unknown


@dataclass(frozen=True, slots=True)
class Meta:
    """About a fact. `context=False`: it never enters a view and does not move the tape's version."""

    turn: TurnId | None = None
    author: str | None = None
    message: MessageId | None = None
    context: bool = True
    more: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact on its way to a tape."""

    fact: Fact
    date: datetime
    meta: Meta = Meta()


@dataclass(frozen=True, slots=True)
class Entry:
    """A fact on a tape. Never changed; its id is never given again."""

    id: int
    fact: Fact
    date: datetime
    meta: Meta = Meta()

    @property
    def moves(self) -> bool:
        """Whether it counts for the tape's version."""
        return self.meta.context


def handoff(name: str, state: JsonMap, date: datetime, meta: Meta, *, data: JsonMap = _NOTHING) -> tuple[Draft, Draft]:
    """An anchor and its event. `data` tells who and why: `by`, `via`, `cause`."""
    event: dict[str, Json] = {"name": name, "state": dict(state), **data}
    return Draft(Anchor(name, state), date, meta), Draft(Event("handoff", event), date, meta)
