"""The schema on the server: neighbouring releases share it, so a change of a key's name or kind is a decision."""

import re
from pathlib import Path

from gateway.clock import Clock
from gateway.errors import LeaseLost
from gateway.session.inbox_redis import RedisInbox
from gateway.session.lock_redis import RedisHolder
from gateway.session.outbox import PartState
from gateway.session.outbox_redis import RedisOutbox
from gateway.session.server_redis import RedisServer
from gateway.session.tokens_redis import RedisTokens
from tests.support.messages import message, reply_to
from tests.support.redis import ServerProcess

GOLDEN = Path(__file__).with_name("golden") / "redis_keys.txt"


async def test_the_keys_on_the_server_are_those_of_the_golden_file(
    redis_process: ServerProcess, redis_server: RedisServer
) -> None:
    """If a change is meant: does the release before this one still read it? Then edit the golden file by hand."""
    clock, found = Clock(), set[str]()
    inbox, outbox = RedisInbox(redis_server, clock, ttl=30), RedisOutbox(redis_server, clock, ttl=30)
    async with RedisHolder(redis_server, clock, ttl=30).hold("web", "bot"):
        for number in (1, 2):
            await inbox.put(message(number))
        found |= await patterns(redis_server)
        held = await inbox.take()
        assert held
        await inbox.stop(message(9), everybody=True)
        found |= await patterns(redis_server)
        await inbox.settle(held, [message(1).id], [reply_to(message(1))])
        found |= await patterns(redis_server)
        parcel = await outbox.take([("web", "bot")])
        assert parcel
        await outbox.note(parcel, 0, PartState.INTENT)
        found |= await patterns(redis_server)
        await outbox.done(parcel)
        await inbox.settle(held, [message(2).id], [], [message(9).id])
        await RedisTokens(redis_server).keep(message(2).id, "secret", 60)
        found |= await patterns(redis_server)
    assert "\n".join(sorted(found)) + "\n" == GOLDEN.read_text()


async def test_nothing_stays_for_ever_when_everything_is_done(redis_server: RedisServer) -> None:
    clock = Clock()
    inbox, outbox = RedisInbox(redis_server, clock, ttl=30), RedisOutbox(redis_server, clock, ttl=30)
    await inbox.put(message(1))
    await inbox.put(message(2), cancels=True)
    held = await inbox.take()
    assert held
    await inbox.stop(message(9), everybody=True)
    await inbox.settle(held, [message(1).id, message(2).id], [reply_to(message(1))], [message(9).id])
    parcel = await outbox.take([("web", "bot")])
    assert parcel
    await outbox.defer(parcel, 0, counts=True)
    parcel = await outbox.take([("web", "bot")])
    assert parcel
    await outbox.done(parcel)
    try:
        async with RedisHolder(redis_server, clock, ttl=30).hold("web", "bot"):
            pass
    except LeaseLost:
        raise AssertionError from None
    keys = await redis_server.command("KEYS", "*")
    assert isinstance(keys, list)
    assert len(keys) == 4
    for key in keys:
        assert isinstance(key, bytes)
        assert isinstance(left := await redis_server.command("TTL", key.decode()), int)
        assert left > 0, key


async def patterns(server: RedisServer) -> set[str]:
    """`name type ttl` of each key, with what varies replaced by its kind."""
    found, keys = set[str](), await server.command("KEYS", "*")
    assert isinstance(keys, list)
    for key in keys:
        assert isinstance(key, bytes)
        kind, left = await server.command("TYPE", key.decode()), await server.command("TTL", key.decode())
        assert isinstance(left, int)
        found.add(f"{_pattern(key.decode())}  {_text(kind)}  {'expires' if left > 0 else 'stays'}")
    return found


def _pattern(key: str) -> str:
    key = re.sub(r"\{p\d\}", "{p<partition>}", key).replace("{web/bot}", "{<channel>/<account>}")
    key = re.sub(r"\{web/bot/\d+\}", "{<message>}", key)
    key = re.sub(r"^(.*:)(seen):.*", r"\1\2:<message>", key)
    key = re.sub(r"^(.*:)(known):.*", r"\1\2:<turn>", key)
    key = re.sub(r"^(.*:)(queue|rows|authors|marks|stops|lease):web.*", r"\1\2:<session>", key)
    key = re.sub(r"^(.*:)(replies|reply|parts|rlease):web.*", r"\1\2:<route>", key)
    return re.sub(r"^(.*:)(due|rleases):web/bot$", r"\1\2:<channel>/<account>", key)


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
