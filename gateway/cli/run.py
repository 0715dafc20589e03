"""`gateway run`"""

import asyncio
import os
import secrets as random
import sys
from argparse import Namespace, _SubParsersAction
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.cli.common import logs_for, settings_of

if TYPE_CHECKING:
    from gateway.channel import Channel
    from gateway.parts import Parts


def add(commands: "_SubParsersAction[Any]") -> None:
    """Adds the command to the command line."""
    parser = commands.add_parser("run", help="start the gateway: every channel whose token is set, and the web page")
    parser.set_defaults(act=run)


def run(arguments: Namespace) -> int:
    """Runs until a signal."""
    from gateway.main import run as run_gateway

    settings = settings_of(arguments)
    settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    token = settings.web.token.get_secret_value() if settings.web.token else web_token(settings.data_dir)
    redactor = logs_for(settings, [*settings.secrets(), token])

    def build(parts: "Parts") -> Sequence["Channel"]:
        from gateway.doors import served

        return served(parts, web_token=token, announce=_announce)

    asyncio.run(run_gateway(settings, build, redactor=redactor))
    return 0


def web_token(folder: Path) -> str:
    """The page's token, made at the first start and kept in the data folder, readable by its owner alone."""
    path = folder / "web-token"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(handle, "w") as file:
        file.write(random.token_urlsafe(24))
    return path.read_text().strip()


def _announce(link: str) -> None:
    sys.stdout.write(f"Open the chat page: {link}\n")
    sys.stdout.flush()
