"""Plain leases on a Redis-compatible server: who holds a bot's connection."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from gateway.clock import Clock
from gateway.errors import LeaseLost, Retryable
from gateway.session import keys
from gateway.session.lock import Lease
from gateway.session.server_redis import RedisServer


class RedisHolder:
    """One process at a time holds the connection of a bot account; the others stand by."""

    def __init__(self, server: RedisServer, clock: Clock, *, ttl: float) -> None:
        self._server, self._clock, self._ttl = server, clock, ttl

    @asynccontextmanager
    async def hold(self, channel: str, account: str) -> AsyncIterator[None]:
        """Waits until this process holds the account, then renews while the body runs.

        Raises LeaseLost, with the body cancelled, when the lease cannot be kept.
        """
        key, token = keys.holder(channel, account), secrets.token_hex(16)

        async def renew() -> None:
            if await self._server.run("hold", key, token, int(self._ttl * 1000), 1) != 1:
                raise LeaseLost(f"{channel}/{account} is held by another process")

        try:  # from before the request: it may have been granted though its answer never came
            while (asked := await self._acquire(key, token)) is None:
                await self._clock.wait(self._ttl / 6)
            lease = Lease(renew, name=f"{channel}/{account}", ttl=self._ttl, asked=asked, clock=self._clock)
            async with lease.held():
                yield
        finally:
            with suppress(Retryable):  # it expires by itself
                await self._server.run("drop", key, token)

    async def _acquire(self, key: str, token: str) -> float | None:
        """When it was asked for, if it is ours now."""
        asked = self._clock.boot()
        try:
            granted = await self._server.run("hold", key, token, int(self._ttl * 1000), 0)
        except Retryable:
            return None
        return asked if granted == 1 else None
