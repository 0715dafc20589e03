"""`gateway doctor`: tries every part that the settings name, and says what to do about what does not work."""

import asyncio
import json
import sys
from argparse import Namespace, _SubParsersAction
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from gateway.cli.common import logs_for, settings_of
from gateway.errors import GatewayError

if TYPE_CHECKING:
    from gateway.settings import Settings

PATIENCE = 10.0
"""Seconds that one check may take."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`state`: ok, warn or fail. `advice` is what to do, where there is something."""

    part: str
    state: str
    detail: str
    advice: str = ""


def add(commands: "_SubParsersAction[Any]") -> None:
    """Adds the command to the command line."""
    parser = commands.add_parser("doctor", help="check settings, data folder, Redis, tapes, model and tokens")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.set_defaults(act=lambda a: asyncio.run(_doctor(a)))


async def _doctor(arguments: Namespace) -> int:
    settings = settings_of(arguments)
    redactor = logs_for(settings, level="critical")
    failed = False
    for check in (_folder, _redis, _tapes, _model, _telegram):
        finding = await _checked(check, settings)
        failed |= finding.state == "fail"
        shown = {name: redactor.redact(text) for name, text in asdict(finding).items()}
        if arguments.json:
            sys.stdout.write(json.dumps(shown, ensure_ascii=False) + "\n")
        else:
            advice = f"\n       {shown['advice']}" if shown["advice"] else ""
            sys.stdout.write(f"{shown['state']:<4} {shown['part']}: {shown['detail']}{advice}\n")
    return 1 if failed else 0


async def _checked(check: "Callable[[Settings], Awaitable[Finding]]", settings: "Settings") -> Finding:
    part = check.__name__.strip("_")
    try:
        async with asyncio.timeout(PATIENCE):
            return await check(settings)
    except TimeoutError:
        return Finding(part, "fail", f"no answer within {PATIENCE:.0f} s", "is the address right and reachable?")
    except (GatewayError, OSError) as error:
        return Finding(part, "fail", str(error))


async def _folder(settings: "Settings") -> Finding:
    folder = settings.data_dir
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    probe = folder / ".doctor"
    probe.write_text("x")
    probe.unlink()
    return Finding("data folder", "ok", str(folder))


async def _redis(settings: "Settings") -> Finding:
    from gateway.main import redis_at
    from gateway.session.server_redis import RedisServer

    kind = "embedded server" if settings.redis.url is None else "redis.url"
    async with redis_at(settings) as (url, _):
        server = RedisServer(url)
        try:
            await server.generation()
        except GatewayError as away:
            return Finding("Redis", "fail", str(away), "start the server, or mend redis.url")
        finally:
            await server.close()
    return Finding("Redis", "ok", f"{kind} answers")


async def _tapes(settings: "Settings") -> Finding:
    from gateway.clock import Clock
    from gateway.main import open_store

    store, _ = open_store(settings, Clock())
    count = len(await store.list_tapes())
    if settings.tape.store == "memory":
        return Finding("tapes", "warn", "in memory", 'they are gone when the gateway ends: set tape.store to "file"')
    return Finding("tapes", "ok", f"{count} in {settings.data_dir / 'tapes'}")


async def _model(settings: "Settings") -> Finding:
    model = settings.model
    if model.api_key is None and model.base_url is None:
        return Finding("model", "warn", "the built-in demo answers", "set OPENAI_API_KEY, or OPENAI_BASE_URL")
    base = (model.base_url or "https://api.openai.com/v1").rstrip("/")
    headers = {} if model.api_key is None else {"Authorization": f"Bearer {model.api_key.get_secret_value()}"}
    status, _ = await _get(f"{base}/models", headers)
    match status:
        case 200 | 404 | 405:
            return Finding("model", "ok", f"{base} answers")
        case 401 | 403:
            return Finding("model", "fail", f"{base} refuses the key", "set model.api_key (or OPENAI_API_KEY) anew")
        case None:
            return Finding("model", "fail", f"{base} cannot be reached", "mend model.base_url, or start that server")
        case _:
            return Finding("model", "warn", f"{base} answers with status {status}")


async def _telegram(settings: "Settings") -> Finding:
    telegram = settings.telegram
    if telegram.token is None:
        return Finding("telegram", "ok", "off (telegram.token is not set)")
    base = telegram.api_base.rstrip("/")
    status, body = await _get(f"{base}/bot{telegram.token.get_secret_value()}/getMe", {})
    match status, body:
        case 200, {"result": {"username": str(name)}}:
            return Finding("telegram", "ok", f"the token is @{name}'s")
        case 401 | 404, _:
            return Finding("telegram", "fail", "the token is wrong", "copy it anew from @BotFather (/token)")
        case None, _:
            return Finding("telegram", "fail", f"{base} cannot be reached", "mend the network, or telegram.api_base")
        case _:
            return Finding("telegram", "warn", f"{base} answers with status {status}")


async def _get(url: str, headers: dict[str, str]) -> tuple[int | None, object]:
    import aiohttp

    try:
        async with aiohttp.ClientSession() as client, client.get(url, headers=headers) as answer:
            return answer.status, json.loads(await answer.text() or "null")
    except ValueError:
        return 200, None
    except aiohttp.ClientError:
        return None, None
