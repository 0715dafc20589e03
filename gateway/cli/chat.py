"""`gateway chat`"""

import asyncio
from argparse import Namespace, _SubParsersAction
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gateway.cli.common import logs_for, settings_of

if TYPE_CHECKING:
    from gateway.channel import Channel
    from gateway.parts import Parts


def add(commands: "_SubParsersAction[Any]") -> None:
    """Adds the command to the command line."""
    parser = commands.add_parser("chat", help="talk to the bot in this terminal, or through a pipe")
    parser.add_argument("--session", default="main", metavar="NAME", help="which conversation (default: main)")
    parser.set_defaults(act=chat)


def chat(arguments: Namespace) -> int:
    """Runs until the input ends."""
    from gateway.main import run

    settings = settings_of(arguments)
    settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    redactor = logs_for(settings, settings.secrets(), level="error")

    def build(parts: "Parts") -> Sequence["Channel"]:
        from gateway.doors import terminal

        return terminal(parts, arguments.session)

    asyncio.run(run(settings, build, redactor=redactor, only="terminal"))
    return 0
