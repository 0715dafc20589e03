"""The one way to the Redis-compatible server: a client that never repeats a command by itself, and the Lua scripts.

redis-py repeats every command ten times on a lost connection by default, also those whose effect happened: a counter
is counted twice, a lock is lost to oneself. Here a command is sent once; whoever calls decides what a repetition means.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import TypeAlias

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    ClusterDownError,
    MasterDownError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import TimeoutError as TimedOut
from redis.maint_notifications import MaintNotificationsConfig

from gateway.errors import Broken, Refused, Retryable

Value: TypeAlias = "bytes | int | list[Value] | None"

_PRELUDES = {
    "put": ("waiting",),
    "stop": ("waiting",),
    "take": ("waiting",),
    "renew": ("waiting",),
    "settle": ("waiting", "put_reply"),
    "release": ("waiting",),
    "recover": ("waiting",),
    "reply_take": ("waiting",),
    "reply_note": ("waiting",),
    "reply_end": ("waiting",),
    "reply_put": ("waiting", "put_reply"),
    "reply_recover": ("waiting",),
}

_AWAY = (
    Disconnected,
    TimedOut,
    OSError,
    ReadOnlyError,
    OutOfMemoryError,
    ClusterDownError,
    MasterDownError,
    TryAgainError,
)
"""redis-py knows these by class and takes the code off their text."""

_AWAY_BY_TEXT = ("MISCONF", "BUSY", "NOREPLICAS")


class Unreachable(Retryable):
    """The server cannot be asked now. Whether a command that was sent had its effect is not known."""


@cache
def source(name: str) -> str:
    """The Lua text of one script with what it needs before it."""
    folder = files("gateway.session").joinpath("scripts")
    return "\n".join(folder.joinpath(f"{part}.lua").read_text() for part in (*_PRELUDES.get(name, ()), name))


class RedisServer:
    """`url`: redis://, rediss:// or unix://. `timeout`: seconds that a command may take."""

    def __init__(self, url: str, *, timeout: float = 2.0) -> None:
        # A pool that blocks: a burst of more commands than connections waits its turn instead of failing.
        # Maintenance notices cost an unknown command per connection, and switch off the check for dead connections.
        self._timeout = timeout
        try:
            self._connect(url, timeout)
        except (ValueError, TypeError) as error:
            raise Refused(f"redis.url cannot be used: {error}") from error

    def _connect(self, url: str, timeout: float) -> None:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=64,
            timeout=timeout,
            socket_timeout=None,
            socket_connect_timeout=timeout,
            retry=Retry(NoBackoff(), 0),
            protocol=3,
            legacy_responses=False,
            maint_notifications_config=MaintNotificationsConfig(enabled=False),
        )
        pool.connection_class(**pool.connection_kwargs)  # a word of the address that nobody knows shows only here
        self._client = Redis.from_pool(pool)
        self.reader = Redis.from_url(
            url,
            socket_timeout=None,
            socket_connect_timeout=timeout,
            retry=Retry(NoBackoff(), 0),
            protocol=3,
            maint_notifications_config=MaintNotificationsConfig(enabled=False),
        )

    async def close(self) -> None:
        """Ends all connections."""
        await self._client.aclose()
        await self.reader.aclose()

    async def run(self, script: str, key: str, *args: str | int | float) -> Value:
        """Runs one of the scripts beside this file. Raises Unreachable, or Broken for an error in the script."""
        arguments = [str(a).encode("utf-8", "surrogatepass") for a in args]
        text = source(script)
        async with self._asking(script):
            try:
                return await self._evalsha(text, key, arguments)
            except NoScriptError:
                found: Value = await self._client.eval(text, 1, key, *arguments)
                return found

    async def command(self, *words: str | int) -> Value:
        """Runs one plain command. Raises as `run`."""
        async with self._asking(str(words[0])):
            found: Value = await self._client.execute_command(*words)  # type: ignore[no-untyped-call]
            return found

    async def generation(self) -> str:
        """Changes whenever the server started anew: what it held in memory may be gone. Raises as `run`."""
        async with self._asking("INFO"):
            return str((await self._client.info("server"))["run_id"])

    @asynccontextmanager
    async def _asking(self, what: str) -> AsyncIterator[None]:
        """Bounds one question, and names what went wrong with it.

        The bound is ours: given one, redis-py sends with `asyncio.wait_for`, which in Python 3.11 swallows a
        cancellation that arrives as the send ends, and a task that was told to stop goes on for ever.
        """
        try:
            async with asyncio.timeout(self._timeout):
                yield
        except _AWAY as error:
            raise Unreachable(f"Redis cannot be reached: {error or type(error).__name__}") from error
        except ResponseError as error:
            raise _refusal(what, error) from error

    async def _evalsha(self, text: str, key: str, arguments: Sequence[bytes]) -> Value:
        found: Value = await self._client.evalsha(_digest(text), 1, key, *arguments)
        return found


def text_of(value: Value) -> str:
    """A string as the server gave it. Raises Broken for anything else."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogatepass")
    raise Broken(f"the server answered {value!r} where a text was expected")


def list_of(value: Value) -> list[Value]:
    """A list as the server gave it. Raises Broken for anything else."""
    if isinstance(value, list):
        return value
    raise Broken(f"the server answered {value!r} where a list was expected")


def pairs_of(value: Value) -> dict[str, str]:
    """A flat list of names and values."""
    flat = [text_of(item) for item in list_of(value)]
    return dict(zip(flat[::2], flat[1::2], strict=True))


@cache
def _digest(text: str) -> str:
    return sha1(text.encode()).hexdigest()  # noqa: S324 - the protocol's own name of a script


def _refusal(what: str, error: ResponseError) -> Unreachable | Broken:
    text = str(error)
    if text.startswith(_AWAY_BY_TEXT):
        return Unreachable(f"Redis refuses for now: {text}")
    return Broken(f"{what}: {text}")
