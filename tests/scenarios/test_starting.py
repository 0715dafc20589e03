"""What the gateway makes of settings, ports, tokens and servers that are wrong or away."""

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest

from tests.platforms.openai import FakeOpenAI
from tests.platforms.telegram import FakeTelegram
from tests.support.gateway import Home
from tests.support.locks import is_locked
from tests.support.page import Page
from tests.support.redis import ServerProcess


@pytest.fixture
async def home() -> AsyncIterator[Home]:
    """A home with nothing set: the demo model, the page, the embedded server."""
    async with Home() as folder:
        yield folder


@pytest.fixture
async def tg() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram() as server:
        yield server


@pytest.fixture
async def ai() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI() as server:
        yield server


async def test_with_nothing_set_the_page_answers_and_the_stop_leaves_nothing_running(home):
    """DESIGN 11: `gateway run` alone; the demo says that it is one, and a restart remembers."""
    first = await home.start()
    async with Page(first) as page:
        answer = await page.asks("hello")
        assert "demo" in answer.lower()
        assert (await page.health())["ok"]
    assert await first.stop() == 0
    assert not is_locked(home.data / "redis" / "running.lock")
    second = await home.start()
    async with Page(second) as page:
        assert [line["text"] for line in await page.lines()] == ["hello", answer]
    assert await second.stop() == 0
    assert "Traceback" not in "".join(first.raw + second.raw)


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"telegram__tokken": "42:TEST"}, ("GATEWAY_TELEGRAM__TOKKEN", "GATEWAY_TELEGRAM__TOKEN")),
        ({"web__port": "http"}, ("GATEWAY_WEB__PORT", "http")),
        ({"session__lease_ttl": "0"}, ("GATEWAY_SESSION__LEASE_TTL",)),
        ({"telegram__admins": "@ann"}, ("GATEWAY_TELEGRAM__ADMINS", "@ann")),
        ({"tape__store": "sqlite:///x"}, ("GATEWAY_TAPE__STORE", "not in this release")),
        ({"telegram__token": "no token"}, ("GATEWAY_TELEGRAM__TOKEN",)),
        ({"tape__store": "memory", "redis__url": "redis://127.0.0.1:1"}, ("GATEWAY_TAPE__STORE", "redis.url")),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
async def test_an_unknown_setting_or_a_bad_value_is_one_line_that_names_it(home, settings, names):
    """What bad input gets: exit 2, the name, what is wrong, and where it was read."""
    told = await home.run("run", **settings)
    assert told.status == 2
    [line] = told.err.splitlines()
    assert all(name in line for name in (*names, "environment")), line
    assert not told.out


async def test_a_setting_of_the_file_is_named_with_its_file(home):
    """What bad input gets, in the file: its path, its key, and what was meant."""
    (home.folder / "gateway.toml").write_text("[web]\nprot = 8080\n")
    told = await home.run("run")
    assert told.status == 2
    assert told.err == "gateway: gateway.toml: web.prot is not a setting; did you mean web.port?\n"


async def test_with_a_wrong_token_the_channel_says_so_and_the_page_works(home, tg):
    """What bad input gets: a wrong token. `/healthz` names it, the log holds no token."""
    token = "77:" + "AAwrongtoken" * 3
    gateway = await home.start(telegram__token=token, telegram__api_base=tg.url)
    await gateway.logged("telegram.health", state="off")
    async with Page(gateway) as page:
        telegram = (await page.health())["parts"]["telegram"]
        assert telegram["state"] == "off"
        assert "wrong token" in telegram["detail"]
        assert await page.asks("hello")
    assert token not in "".join(gateway.raw)
    assert await gateway.stop() == 0


async def test_with_its_port_in_use_it_says_so_in_one_line_and_the_rest_runs(tg, ai):
    """What bad input gets: a port in use; once it is free, the page comes by itself."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        async with Home(tg, ai, web__port=port, telegram__access="open") as home:
            gateway = await (await home.begin()).polls()
            said = await gateway.logged("web.port_taken")
            assert port in said["advice"]
            assert "GATEWAY_WEB__PORT" in said["advice"]
            ann = tg.person(1, "Ann")
            tg.private(ann).says(ann, "hello")
            assert [s.text for s in await tg.wait_sent(1)] == ["echo: hello"]
            assert len([r for r in gateway.log if r["event"] == "web.port_taken"]) == 1
            taken.close()
            await gateway.ready()
            async with Page(gateway) as page:
                assert await page.asks("hi") == "echo: hi"
            assert await gateway.stop() == 0


async def test_without_redis_nothing_is_acknowledged_and_once_it_is_there_everything_goes_on(tg, ai):
    """What bad input gets, case C122: no Redis at the URL is a clear line; updates stay with the platform."""
    redis = ServerProcess("redis7", "--appendonly", "yes", tcp=True)
    try:
        async with Home(tg, ai, redis__url=redis.url, telegram__access="open", session__lease_ttl="2") as home:
            ann = tg.person(1, "Ann")
            room = tg.private(ann)
            gateway = await home.begin()
            line = await gateway.logged("redis.away", count=2)
            assert "nothing is taken in" in line["advice"]
            room.says(ann, "before there is a Redis")
            assert tg.pending == 1
            redis.start()
            await gateway.polls()
            await tg.wait_sent(1)
            await tg.wait(lambda: not tg.pending)

            redis.stop()
            room.says(ann, "while it is away")
            await gateway.logged("telegram.health", state="degraded")
            assert tg.pending == 1
            assert gateway.alive
            redis.start()
            await tg.wait_sent(2, timeout=60)
            await tg.wait(lambda: not tg.pending, timeout=60)
            assert [s.text for s in tg.sent] == ["echo: before there is a Redis", "echo: while it is away"]
            assert await gateway.stop() == 0
            assert "Traceback" not in "".join(gateway.raw)
    finally:
        redis.remove()


async def test_it_can_be_stopped_while_it_waits_for_redis(home):
    """What bad input gets: nobody must kill it."""
    gateway = await home.begin(redis__url="redis://127.0.0.1:1")
    await gateway.logged("redis.away")
    assert await gateway.stop() == 0


async def test_a_second_store_on_one_redis_is_refused(tg, ai):
    """F15: two hosts, one Redis, each with its own tapes: the second exits with 2 and says what to do."""
    redis = ServerProcess("redis7", tcp=True)
    try:
        redis.start()
        async with Home(model=ai, redis__url=redis.url) as home, Home(model=ai, redis__url=redis.url) as other:
            first = await home.start()
            second = await other.begin()
            assert await second.ended() == 2
            [line] = second.raw
            assert "belongs to another tape store" in line
            assert "data_dir" in line
            async with Page(first) as page:
                assert await page.asks("hello") == "echo: hello"
            assert await first.stop() == 0
            again = await home.start()
            assert await again.stop() == 0
    finally:
        redis.remove()


async def test_while_the_embedded_server_is_dead_nothing_is_acknowledged_and_the_next_start_goes_on(tg, ai):
    """Promise "Redis away: no turn, no ack": an embedded server that dies is not silently missed."""
    async with Home(tg, ai, telegram__access="open", session__lease_ttl="2") as home:
        gateway = await (await home.start()).polls()
        ann = tg.person(1, "Ann")
        room = tg.private(ann)
        room.says(ann, "one")
        await tg.wait_sent(1)
        await home.end_embedded()
        room.says(ann, "two")
        await gateway.logged("telegram.health", state="degraded")
        assert tg.pending == 1
        assert await asyncio.wait_for(gateway.stop(), 30) == 0
        second = await home.start()
        await tg.wait_sent(2)
        assert [s.text for s in tg.sent] == ["echo: one", "echo: two"]
        assert await second.stop() == 0
