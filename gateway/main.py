"""The composition root: settings become parts, parts become one running gateway, and it stops in order."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress

import structlog

from gateway.agent.loop import Agent
from gateway.agent.model import Model
from gateway.channel import Channel, KnowsAdmins
from gateway.clock import Clock
from gateway.errors import Broken, Refused, Retryable
from gateway.message import IncomingMessage, Route
from gateway.parts import Parts, Role
from gateway.redact import Redactor
from gateway.session.binding_redis import RedisMemory, bind_store
from gateway.session.embedded import EmbeddedServer
from gateway.session.inbox_redis import RedisInbox
from gateway.session.lock_redis import RedisHolder
from gateway.session.outbox_redis import RedisOutbox
from gateway.session.server_redis import RedisServer
from gateway.session.tokens_redis import RedisTokens
from gateway.session.wakes_redis import RedisWakes
from gateway.settings import DiscordSettings, Settings, SlackSettings, TelegramSettings
from gateway.tape.store import TapeStore
from gateway.tape.store_file import FileTapeStore
from gateway.tape.store_memory import MemoryTapeStore
from gateway.tools import TOOLS
from gateway.turn.access import Access, Rules
from gateway.turn.approvals import Approvals
from gateway.turn.delivery import ROUTE_TTL, Delivery
from gateway.turn.desk import GatewayDesk
from gateway.turn.intake import Intake
from gateway.turn.pipeline import Pipeline
from gateway.turn.progress import Progress
from gateway.turn.sweep import Sweep
from gateway.turn.work import Work
from gateway.turn.worker import Worker

log = structlog.get_logger()


Build = Callable[[Parts], Sequence[Channel]]
AWAY = "nothing is taken in until it is back; trying again"
Revive = Callable[[], Awaitable[None]]


def open_store(settings: Settings, clock: Clock) -> tuple[TapeStore, str]:
    """The tape store that the settings name, and its workspace."""
    if settings.tape.store == "memory":
        return MemoryTapeStore(clock=clock, workspace=str(settings.data_dir)), str(settings.data_dir)
    store = FileTapeStore(settings.data_dir / "tapes", workspace=str(settings.data_dir), clock=clock)
    return store, store.workspace


def open_model(settings: Settings) -> Model:
    """The model that the settings name, or the demo where they name none."""
    model = settings.model
    if model.api_key is None and model.base_url is None:
        from gateway.agent.model_demo import DemoModel

        return DemoModel()
    from gateway.agent.model_openai import OpenAIModel

    key = "none" if model.api_key is None else model.api_key.get_secret_value()
    return OpenAIModel(model.name, api_key=key, base_url=model.base_url, deadline=model.timeout)


def rules_of(settings: Settings) -> dict[str, Rules]:
    """Who may what, by channel. Whoever holds the page's token or the keyboard is the owner."""
    return {
        "telegram": _rules(settings.telegram),
        "discord": _rules(settings.discord),
        "slack": _rules(settings.slack),
        "web": Rules(admins=frozenset({"web:owner"})),
        "terminal": Rules(admins=frozenset({"terminal:owner"})),
    }


def _rules(section: TelegramSettings | DiscordSettings | SlackSettings) -> Rules:
    roles = isinstance(section, DiscordSettings) and bool(section.admin_roles)
    return Rules(
        frozenset(section.admins),
        frozenset(section.allow),
        section.access,
        section.group_access,
        section.platform_admins or roles,
    )


@asynccontextmanager
async def redis_at(settings: Settings) -> AsyncIterator[tuple[str, Revive]]:
    """The address of the named server, or of the embedded one while the body runs; and how to bring it back."""
    if settings.redis.url is not None:
        yield settings.redis.url.get_secret_value(), _hope
        return
    async with EmbeddedServer(settings.data_dir / "redis") as server:
        yield server.url, server.revive


async def _hope() -> None:
    """Somebody else's server comes back by itself."""


async def run(
    settings: Settings, build: Build, *, redactor: Redactor, role: Role = Role.ALL, only: str | None = None
) -> None:
    """Runs the channels that `build` makes until a signal, or until one of them ends by itself (a terminal).

    `only`: work for sessions of this channel alone. Raises Refused for settings that cannot work together.
    """
    clock = Clock()
    store, workspace = open_store(settings, clock)
    async with redis_at(settings) as (url, revive):
        server = RedisServer(url)
        try:
            await _run(settings, build, server, revive, store, workspace, clock, redactor, role, only)
        finally:
            await server.close()


async def _run(
    settings: Settings,
    build: Build,
    server: RedisServer,
    revive: Revive,
    store: TapeStore,
    workspace: str,
    clock: Clock,
    redactor: Redactor,
    role: Role,
    only: str | None,
) -> None:
    ttl = settings.session.lease_ttl
    route_ttl = min(ttl, ROUTE_TTL)
    inbox, outbox = RedisInbox(server, clock, ttl=ttl, only=only), RedisOutbox(server, clock, ttl=route_ttl)
    wakes = RedisWakes(server, clock)
    channels: tuple[Channel, ...] = ()

    def find(route: Route) -> Channel | None:
        return next((c for c in channels if (c.name, c.account) == (route.channel, route.account) and c.can_send), None)

    def platform(route: Route) -> KnowsAdmins | None:
        found = find(route)
        return found if isinstance(found, KnowsAdmins) else None

    access = Access(rules_of(settings), Approvals(store, workspace, clock), platform)
    desk = GatewayDesk(store, workspace, inbox, outbox, access)
    intake = Intake(inbox, outbox, store, workspace, access, desk, clock, redact=redactor.redact)
    holder, tokens = RedisHolder(server, clock, ttl=ttl), RedisTokens(server)
    parts = Parts(settings, role, clock, redactor, store, workspace, inbox, outbox, holder, tokens)
    channels = tuple(build(parts))
    agent = Agent(
        open_model(settings),
        TOOLS,
        clock=clock,
        system_prompt=redactor.redact(settings.model.system_prompt),
        context_window=settings.model.context_window,
    )
    work = Work(
        store=store,
        agent=agent,
        desk=desk,
        access=access,
        progress=Progress(find, clock, redactor.redact),
        clock=clock,
        redact=redactor.redact_values,
    )
    pipeline = Pipeline(store=store, workspace=workspace, inbox=inbox, work=work, clock=clock)
    worker = Worker(
        inbox, pipeline, clock, workspace=workspace, ttl=ttl, at_once=settings.session.at_once, ready=wakes.ready
    )
    wakes.marked = worker.marked
    delivery = Delivery(
        outbox, store, workspace, lambda: channels, clock, due=wakes.due, redact=redactor.redact, ttl=route_ttl
    )
    sweep = Sweep(outbox, store, RedisMemory(server), clock)
    stop, leave = asyncio.Event(), asyncio.Event()

    async def receive(message: IncomingMessage) -> None:
        if stop.is_set():
            raise Retryable("the gateway is stopping")
        await intake.receive(message)

    async def serve(channel: Channel) -> None:
        await channel.run(None if role is Role.WORKER else receive)
        stop.set()

    with _signals(stop, leave):
        await _unless(stop, _bind(server, store, clock))
        if stop.is_set():
            return
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(serve(c), name=c.name) for c in channels]
            running += [group.create_task(part.run()) for part in (wakes, delivery, sweep)]
            if role is not Role.CHANNELS:
                running.append(group.create_task(worker.run()))
            running.append(group.create_task(_watch(server, revive, clock)))
            await stop.wait()
            worker.close()
            await _drained(worker, delivery, leave, seconds=settings.session.drain)
            for task in running:
                task.cancel()
    log.info("gateway.stopped")


async def _unless(stop: asyncio.Event, work: Coroutine[None, None, None]) -> None:
    """Does the work, unless the stop comes first."""
    doing, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({doing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            doing.result()
    finally:
        doing.cancel()
        stopping.cancel()


async def _bind(server: RedisServer, store: TapeStore, clock: Clock) -> None:
    """Binds the store to the server; waits for a server that is away, and says so each time."""
    while True:
        try:
            return await bind_store(server, store.uuid)
        except Retryable as away:
            log.warning("redis.away", reason=str(away), advice=AWAY)
            await clock.wait(2)


async def _watch(server: RedisServer, revive: Revive, clock: Clock) -> None:
    """Says once that the server is away, once that it is back, and brings our own back meanwhile."""
    away = False
    while True:
        try:
            await server.generation()
            if away:
                log.info("redis.back")
            away = False
        except Retryable as gone:
            if not away:
                log.warning("redis.away", reason=str(gone), advice=AWAY)
            away = True
            try:
                await revive()
            except (Broken, Refused) as problem:
                log.warning("redis.not_revived", reason=str(problem))
        await clock.wait(1)


async def _drained(worker: Worker, delivery: Delivery, leave: asyncio.Event, *, seconds: float) -> None:
    """Lets running turns end and finished replies leave, so long. What is left resumes at the next start."""
    left = asyncio.create_task(leave.wait())
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (worker.busy or await delivery.owes()) and not left.done():
                await asyncio.wait({left}, timeout=0.05)
    left.cancel()
    if worker.busy or delivery.busy:
        log.info("gateway.leaves_work", turns=worker.busy, replies=delivery.busy)


@contextmanager
def _signals(stop: asyncio.Event, leave: asyncio.Event) -> Iterator[None]:
    """The first SIGTERM or SIGINT stops in order, the second leaves at once."""
    loop = asyncio.get_running_loop()

    def heard() -> None:
        if stop.is_set():
            leave.set()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, heard)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
