"""`gateway run`"""

import asyncio
import os
import secrets as random
import sys
from argparse import Namespace, _SubParsersAction
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.cli.common import WEB_TOKEN, folder_of, logs_for, settings_of, web_token
from gateway.errors import Refused

if TYPE_CHECKING:
    from gateway.channel import Channel
    from gateway.parts import Parts


def add(commands: "_SubParsersAction[Any]") -> None:
    """Adds the command to the command line."""
    parser = commands.add_parser("run", help="start the gateway: every channel whose token is set, and the web page")
    parser.add_argument(
        "--role",
        choices=("all", "channels", "worker"),
        default="all",
        help="channels: connections and the web page; worker: turns, in as many processes as you like (default: all)",
    )
    parser.set_defaults(act=run)


def run(arguments: Namespace) -> int:
    """Runs until a signal."""
    from gateway.main import run as run_gateway
    from gateway.parts import Role

    settings = settings_of(arguments)
    folder = folder_of(settings)
    token = settings.web.token.get_secret_value() if settings.web.token else made_token(folder)
    redactor = logs_for(settings)

    def build(parts: "Parts") -> Sequence["Channel"]:
        from gateway.doors import served

        return served(parts, web_token=token, announce=_announce)

    asyncio.run(run_gateway(settings, build, redactor=redactor, role=Role(arguments.role)))
    return 0


def made_token(folder: Path) -> str:
    """The page's token, made at the first start and kept in the data folder, readable by its owner alone.

    It appears whole or not at all, and two starts at once agree on one; what cannot be read is made anew.
    """
    path = folder / WEB_TOKEN
    if path.exists() and web_token(folder) is None:
        path.unlink()
    draft = folder / f"{WEB_TOKEN}.{os.getpid()}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(random.token_urlsafe(24))
    with suppress(FileExistsError):
        path.hardlink_to(draft)
    draft.unlink()
    found = web_token(folder)
    if found is None:
        raise Refused(f"{path} cannot be read; delete it, or set web.token")
    return found


def _announce(link: str) -> None:
    sys.stdout.write(f"Open the chat page: {link}\n")
    sys.stdout.flush()
