"""The gateway: one chat bot in many rooms, whose memory is an append-only tape.

Reading order: `message` (what travels), `tape/entries` and `tape/fork` (what is remembered), `tape/store` and
`session/inbox` (the two ports that a message's life hangs on), `turn/turn` (what is answered next), `turn/work` and
`turn/pipeline` (the way of a message), `agent/loop` (model and tools), `turn/delivery` (the way out), `main` (how the
parts are put together). `channels/` holds the platforms.

The names below are for programs that use the gateway as a library. Each is loaded when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.agent.loop import Agent, Run
    from gateway.agent.model import Delta, Model, ModelReply, ToolSpec
    from gateway.agent.tool import Tool, ToolContext
    from gateway.channel import Channel, Health, Part
    from gateway.clock import Clock
    from gateway.errors import Broken, GatewayError, Lost, Refused, Retryable
    from gateway.message import Author, IncomingMessage, Reply, Route, SessionKey
    from gateway.tape.entries import Anchor, Draft, Entry, Event, Message, Meta, ToolCall, ToolResult
    from gateway.tape.fork import Fork
    from gateway.tape.name import tape_name
    from gateway.tape.query import Query
    from gateway.tape.store import TapeStore
    from gateway.tape.store_file import FileTapeStore
    from gateway.tape.store_memory import MemoryTapeStore

__version__ = "0.2.0"

_HOMES = {
    "gateway.agent.loop": ("Agent", "Run"),
    "gateway.agent.model": ("Delta", "Model", "ModelReply", "ToolSpec"),
    "gateway.agent.tool": ("Tool", "ToolContext"),
    "gateway.channel": ("Channel", "Health", "Part"),
    "gateway.clock": ("Clock",),
    "gateway.errors": ("Broken", "GatewayError", "Lost", "Refused", "Retryable"),
    "gateway.message": ("Author", "IncomingMessage", "Reply", "Route", "SessionKey"),
    "gateway.tape.entries": ("Anchor", "Draft", "Entry", "Event", "Message", "Meta", "ToolCall", "ToolResult"),
    "gateway.tape.fork": ("Fork",),
    "gateway.tape.name": ("tape_name",),
    "gateway.tape.query": ("Query",),
    "gateway.tape.store": ("TapeStore",),
    "gateway.tape.store_file": ("FileTapeStore",),
    "gateway.tape.store_memory": ("MemoryTapeStore",),
}

__all__ = [
    "Agent",
    "Anchor",
    "Author",
    "Broken",
    "Channel",
    "Clock",
    "Delta",
    "Draft",
    "Entry",
    "Event",
    "FileTapeStore",
    "Fork",
    "GatewayError",
    "Health",
    "IncomingMessage",
    "Lost",
    "MemoryTapeStore",
    "Message",
    "Meta",
    "Model",
    "ModelReply",
    "Part",
    "Query",
    "Refused",
    "Reply",
    "Retryable",
    "Route",
    "Run",
    "SessionKey",
    "TapeStore",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolResult",
    "ToolSpec",
    "tape_name",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'gateway' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
