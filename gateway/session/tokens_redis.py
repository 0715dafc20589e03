"""Reply tokens on a Redis-compatible server; see the port."""

from gateway.message import MessageId
from gateway.session import keys
from gateway.session.server_redis import RedisServer, text_of


class RedisTokens:
    """See the port."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    async def keep(self, message: MessageId, token: str, seconds: int) -> None:
        """See the port."""
        await self._server.command("SET", keys.token(message), token, "EX", seconds)

    async def find(self, message: MessageId) -> str | None:
        """See the port."""
        found = await self._server.command("GET", keys.token(message))
        return None if found is None else text_of(found)
