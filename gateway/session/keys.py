"""How keys are spelled on the server. Only this file and the scripts beside it know.

All of one conversation (its sessions, their ready list, its routes) shares a partition and so a cluster slot:
`gw1:{p3}:...`. The 1 is the schema number, PARTITIONS is fixed for ever: a rolling upgrade relies on both.
"""

from zlib import crc32

from gateway.message import MessageId, Route, SessionKey

SCHEMA = 1
PARTITIONS = 8
WAKE = f"gw{SCHEMA}:wake"
STORE = f"gw{SCHEMA}:store"
SWEPT = f"gw{SCHEMA}:swept"
KNOWN_FOR = 48 * 3600
"""Seconds that a message is known as a duplicate after it was settled."""


def partition(place: str) -> str:
    """The prefix of everything that belongs to this channel/account/conversation."""
    return tagged(crc32(place.encode()) % PARTITIONS)


def tagged(number: int) -> str:
    """The prefix of one partition."""
    return f"gw{SCHEMA}:{{p{number}}}"


def session(key: SessionKey) -> str:
    """The partition's prefix of a session."""
    return partition(key.place)


def account(route: Route) -> str:
    """Whose replies are due: the channel and account of a route."""
    return f"{route.channel}/{route.account}"


def holder(channel: str, account: str) -> str:
    """The lease of a bot account: one process holds its connection."""
    return f"gw{SCHEMA}:{{{channel}/{account}}}:holder"


def seen(prefix: str, message: MessageId) -> str:
    """Marks a message as known."""
    return f"{prefix}:seen:{message}"


def token(message: MessageId) -> str:
    """What a platform wants to see when this message is answered."""
    return f"gw{SCHEMA}:{{{message}}}:token"
