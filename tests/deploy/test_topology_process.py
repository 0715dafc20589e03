"""What compose.yaml starts, with plain processes: channels, two workers, a Redis that writes everything down."""

import asyncio
import signal
from collections.abc import AsyncIterator
from itertools import count

import pytest
import pytest_asyncio

from gateway.tape.entries import ToolResult
from gateway.tape.index import MessageIndex
from tests.deploy.site import Site, events
from tests.deploy.written import gateways, seconds
from tests.platforms.openai import FakeOpenAI, Stall, Text, ToolCalls, echo
from tests.platforms.telegram import Chat, FakeTelegram
from tests.scenarios.friends import facts, outcomes, words
from tests.support.page import Page

pytestmark = pytest.mark.asyncio(loop_scope="module")

_people = count(1)
GRACE = min(seconds(service["stop_grace_period"]) for service in gateways().values())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def living() -> AsyncIterator[Site]:
    settings = {"telegram__access": "open", "session__lease_ttl": "2"}
    async with FakeTelegram() as tg, FakeOpenAI() as ai, Site(tg, ai, **settings) as site:
        yield site


@pytest_asyncio.fixture(loop_scope="module")
async def site(living: Site) -> Site:
    """All services run, and the model is one that nobody has scripted."""
    living.ai.script = echo
    living.ai.answers.clear()
    await living.up()
    return living


@pytest.fixture
def room(site: Site) -> Chat:
    """The private chat of somebody whom no test has met."""
    return site.tg.private(site.tg.person(next(_people), "Ann"))


def says(room: Chat, text: str) -> None:
    room.says(room.members[0], text)


async def test_what_the_channels_take_in_the_workers_answer(site: Site, room: Chat) -> None:
    """Also on the page, which the channels serve and a worker's turn answers."""
    says(room, "hello")
    assert await site.hears(room) == ["echo: hello"]
    async with Page(site.channels) as page:
        assert await page.asks("hello, page") == "echo: hello, page"

    assert outcomes(await site.tape(room)) == ["finished"]
    assert not events(site.channels, "claimed")
    assert len([turn for worker in site.workers for turn in events(worker, "merged")]) >= 2
    assert not [line for worker in site.workers for line in worker.log if line["event"] == "message.accepted"]
    assert not any(worker.out for worker in site.workers), "a worker has no page"


async def test_the_health_checks_of_both_services_say_so(site: Site) -> None:
    assert site.healthy("redis") == 0
    assert site.healthy("channels") == 0
    await site.channels.stop()
    assert site.healthy("channels") != 0


async def test_when_a_worker_is_killed_in_mid_turn_the_other_takes_over(site: Site, room: Chat) -> None:
    never, asked, stalled = asyncio.Event(), len(site.ai.requests), site.ai.stalled
    site.ai.answers += [ToolCalls([("clock_now", {})]), Stall(never, after_chunks=1, then=Text("never said"))]
    says(room, "what is the time, workers?")
    await site.ai.wait_stalled(stalled + 1)
    killed = await site.worker_on("what is the time, workers?")
    (other,) = [worker for worker in site.workers if worker is not killed]
    site.ai.answers.append(Text("it is noon"))
    await killed.kill()

    assert await site.hears(room) == ["it is noon"]
    entries = await site.tape(room)
    assert outcomes(entries) == ["finished"]
    assert len(facts(entries, ToolResult)) == 1, "a finished tool ran twice"
    assert len(site.ai.requests) == asked + 3
    assert events(other, "claimed")[-1]["attempt"] == 2


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
async def test_while_the_channels_are_away_answers_leave_and_afterwards_nothing_is_lost(
    site: Site, room: Chat, how: signal.Signals
) -> None:
    """A worker delivers by itself; what people write meanwhile, the platform keeps."""
    go, stalled = asyncio.Event(), site.ai.stalled
    site.ai.answers.append(Stall(go, after_chunks=1, then=Text("the first answer")))
    says(room, "first")
    await site.ai.wait_stalled(stalled + 1)
    site.channels.signal(how)
    await site.channels.ended()
    says(room, "second")
    go.set()
    assert await site.hears(room) == ["the first answer"]

    await site.up()
    assert await site.hears(room, 2) == ["the first answer", "echo: second"]
    entries = await site.tape(room)
    assert words(entries, "user") == ["first", "second"]
    assert outcomes(entries) == ["finished", "finished"]


async def test_sigterm_ends_all_within_the_grace_and_what_was_not_done_is_done_after_the_start(
    site: Site, room: Chat
) -> None:
    """Case C110: with the drain as it comes. One turn ends in it; one does not, and goes on afterwards."""
    go, never, late = asyncio.Event(), asyncio.Event(), site.tg.private(site.tg.person(next(_people), "Ben"))
    stalled = site.ai.stalled
    site.ai.script = lambda request: (
        Stall(never, after_chunks=1, then=Text("never said"))
        if request.last_user == "late"
        else Stall(go, after_chunks=1, then=Text("in time"))
    )
    says(room, "now")
    says(late, "late")
    await site.ai.wait_stalled(stalled + 2)
    for gateway in site.everybody:
        gateway.signal(signal.SIGTERM)
    go.set()
    async with asyncio.timeout(GRACE):
        assert [await gateway.ended() for gateway in site.everybody] == [0, 0, 0]
    assert site.heard(room) == ["in time"]
    assert not list(MessageIndex.of(await site.tape(room)).owed()), "it ended before its receipt"
    assert site.heard(late) == []

    site.ai.script = echo
    await site.up()
    assert await site.hears(late) == ["echo: late"]
    assert outcomes(await site.tape(late)) == ["finished"]


async def test_redis_may_be_started_anew_under_them(site: Site, room: Chat) -> None:
    """`docker compose restart redis`: its options keep what it had, and the gateways come back by themselves."""
    go, stalled = asyncio.Event(), site.ai.stalled
    site.ai.answers.append(Stall(go, after_chunks=1, then=Text("before")))
    says(room, "before")
    await site.ai.wait_stalled(stalled + 1)
    says(room, "waits in Redis")
    await site.tg.wait(lambda: not site.tg.pending)
    site.redis.kill()
    site.redis.start()
    go.set()

    says(room, "last")
    await site.tg.wait(lambda: "last" in "".join(site.heard(room)), 60)
    said = words(await site.tape(room), "user")
    assert said == ["before", "waits in Redis", "last"]
    assert all(gateway.alive for gateway in site.everybody)
