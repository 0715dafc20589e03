"""What the commands share: settings, logs, an open store."""

import os
import sys
from argparse import Namespace, _SubParsersAction
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gateway.errors import Refused

if TYPE_CHECKING:
    from gateway.redact import Redactor
    from gateway.settings import Settings
    from gateway.tape.store import TapeStore


def add_later(commands: "_SubParsersAction[Any]", names: Iterable[str], of: str) -> None:
    """Adds what a later release brings: absent from the help, refused in so many words, whatever follows."""

    def refuse(_arguments: Namespace) -> int:
        raise Refused(f"that is not in this release; `{of} --help` lists what is")

    for name in names:
        late = commands.add_parser(name, add_help=False, prefix_chars="\0")  # no word after it is an option
        late.add_argument("rest", nargs="*")
        late.set_defaults(act=refuse)


def settings_of(arguments: Namespace) -> "Settings":
    """The settings of the file and the environment. Raises BadSetting."""
    from gateway.settings import load

    return load(os.environ, arguments.config)


def logs_for(settings: "Settings", secrets: list[str], *, level: str | None = None) -> "Redactor":
    """Configures the log and returns the one redactor."""
    from gateway.logs import configure
    from gateway.redact import Redactor

    redactor = Redactor(secrets)
    form = settings.log.format or ("console" if sys.stderr.isatty() else "json")
    configure(form, level or settings.log.level, redactor)
    return redactor


def store_of(settings: "Settings") -> "tuple[TapeStore, str]":
    """The tape store that a running gateway with these settings uses, or would use, and its workspace."""
    from gateway.clock import Clock
    from gateway.main import open_store

    if settings.tape.store == "memory":
        raise Refused('tapes in memory are gone when their gateway ends; set tape.store to "file" to keep them')
    logs_for(settings, settings.secrets(), level="warning")
    return open_store(settings, Clock())
