"""Reply tokens: shared by all processes, off the tapes, gone after their time."""

from gateway.message import MessageId
from gateway.session.server_redis import RedisServer
from gateway.session.tokens_redis import RedisTokens


async def test_a_token_is_found_by_any_process_until_its_time_is_over(redis_server: RedisServer) -> None:
    message = MessageId("discord/1/700")
    await RedisTokens(redis_server).keep(message, "app:secret", 840)

    assert await RedisTokens(redis_server).find(message) == "app:secret"
    assert await RedisTokens(redis_server).find(MessageId("discord/1/701")) is None
    assert await redis_server.command("TTL", f"gw1:{{{message}}}:token") in range(1, 841)
