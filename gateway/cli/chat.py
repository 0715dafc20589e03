"""`gateway chat`"""

import asyncio
import fcntl
from argparse import Namespace, _SubParsersAction
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import md5
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.cli.common import folder_of, logs_for, settings_of
from gateway.errors import GatewayError

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
    folder = folder_of(settings)
    redactor = logs_for(settings, level="error")

    def build(parts: "Parts") -> Sequence["Channel"]:
        from gateway.doors import terminal

        return terminal(parts, arguments.session)

    with _alone(folder, arguments.session):
        asyncio.run(run(settings, build, redactor=redactor, only="terminal"))
    return 0


@contextmanager
def _alone(folder: Path, session: str) -> Iterator[None]:
    """Holds a conversation for this terminal: two of them would take each other's answers. Raises Busy."""
    locks = folder / "terminals"
    locks.mkdir(mode=0o700, exist_ok=True)
    name = md5(session.encode(errors="surrogatepass"), usedforsecurity=False).hexdigest()
    with (locks / f"{name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(f"another terminal is in the conversation {session!r}: end it, or use --session NAME") from None
        yield


class Busy(GatewayError):
    """The conversation is another terminal's."""
