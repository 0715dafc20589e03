"""The outbox keeps its promises on every server."""

from collections.abc import AsyncIterator, Callable

import pytest

from gateway.session.server_redis import RedisServer
from tests.contracts.outbox import OutboxContract
from tests.session.servers import InMemory, OnRedis
from tests.support.redis import ServerProcess


class TestInMemory(OutboxContract):
    @pytest.fixture
    def server(self) -> InMemory:
        return InMemory()


class _OnRedis(OutboxContract):
    kind = ""

    @pytest.fixture
    async def server(self, shared_redis: Callable[[str], ServerProcess]) -> AsyncIterator[OnRedis]:
        client = RedisServer(shared_redis(self.kind).url)
        yield OnRedis(client)
        await client.close()


class TestOnValkey(_OnRedis):
    kind = "valkey"


class TestOnRedis7(_OnRedis):
    kind = "redis7"


class TestOnACluster(_OnRedis):
    """One node with all slots: a script that touches two slots is refused."""

    kind = "cluster"
