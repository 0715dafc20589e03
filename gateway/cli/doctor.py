"""`gateway doctor`: tries every part that the settings name, and says what to do about what does not work."""

import asyncio
import json
import sys
from argparse import Namespace, _SubParsersAction
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from gateway.cli.checks import discord, model, slack, telegram
from gateway.cli.checks.finding import Check, Finding, tried
from gateway.cli.common import logs_for, settings_of
from gateway.errors import GatewayError

if TYPE_CHECKING:
    from gateway.settings import Settings


def add(commands: "_SubParsersAction[Any]") -> None:
    """Adds the command to the command line."""
    parser = commands.add_parser("doctor", help="check settings, data folder, Redis, tapes, model and tokens")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.set_defaults(act=lambda a: asyncio.run(_doctor(a)))


def _checks() -> dict[str, Check]:
    here: dict[str, Check] = {"data folder": _folder, "Redis": _redis, "tapes": _tapes, "model": model.check}
    return here | {"telegram": telegram.check, "discord": discord.check, "slack": slack.check}


async def _doctor(arguments: Namespace) -> int:
    settings = settings_of(arguments)
    redactor = logs_for(settings, level="critical")
    failed = False
    for part, check in _checks().items():
        for finding in await tried(part, check, settings):
            failed |= finding.state == "fail"
            detail, advice = redactor.redact(finding.detail), redactor.redact(finding.advice)
            shown = replace(finding, detail=detail, advice=advice)
            line = json.dumps(asdict(shown), ensure_ascii=False) if arguments.json else str(shown)
            sys.stdout.write(f"{line}\n")
    return 1 if failed else 0


async def _folder(settings: "Settings") -> Sequence[Finding]:
    folder = settings.data_dir
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    probe = folder / ".doctor"
    probe.write_text("x")
    probe.unlink()
    return [Finding("data folder", "ok", str(folder))]


async def _redis(settings: "Settings") -> Sequence[Finding]:
    from gateway.main import redis_at
    from gateway.session.server_redis import RedisServer

    kind = "embedded server" if settings.redis.url is None else "redis.url"
    async with redis_at(settings) as (url, _):
        server = RedisServer(url)
        try:
            await server.generation()
        except GatewayError as away:
            return [Finding("Redis", "fail", str(away), "start the server, or mend redis.url")]
        finally:
            await server.close()
    return [Finding("Redis", "ok", f"{kind} answers")]


async def _tapes(settings: "Settings") -> Sequence[Finding]:
    from gateway.clock import Clock
    from gateway.main import open_store

    store, _ = open_store(settings, Clock())
    count = len(await store.list_tapes())
    if settings.tape.store == "memory":
        return [Finding("tapes", "warn", "in memory", 'they are gone when the gateway ends: set tape.store to "file"')]
    return [Finding("tapes", "ok", f"{count} in {settings.data_dir / 'tapes'}")]
