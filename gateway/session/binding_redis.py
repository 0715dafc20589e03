"""One Redis, one tape store: a gateway with another store on the same Redis would hold half of every conversation."""

from gateway.errors import Refused
from gateway.session import keys
from gateway.session.server_redis import RedisServer, text_of


async def bind_store(server: RedisServer, uuid: str) -> None:
    """Binds the store to the server at the first time. Raises Refused if another store is bound, or Unreachable."""
    await server.command("SET", keys.STORE, uuid, "NX")
    bound = text_of(await server.command("GET", keys.STORE))
    if bound != uuid:
        raise Refused(
            f"this Redis belongs to another tape store ({bound}), ours is {uuid}: give this gateway a Redis of its own "
            "(redis.url), or the data folder that this Redis was first used with (data_dir)"
        )


class RedisMemory:
    """Whether the server may have forgotten something: it started anew, or lost the note of the last sweep."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    async def forgotten(self) -> str | None:
        """The server's generation, if nobody has swept since it began; else None. Raises Unreachable."""
        generation = await self._server.generation()
        known = await self._server.command("GET", keys.SWEPT)
        return None if known == generation.encode() else generation

    async def swept(self, generation: str) -> None:
        """Notes that this generation was swept. Raises Unreachable."""
        await self._server.command("SET", keys.SWEPT, generation)
