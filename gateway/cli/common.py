"""What the commands share: settings, logs, an open store."""

import os
import sys
from argparse import Namespace, _SubParsersAction
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.errors import Refused

WEB_TOKEN = "web-token"  # noqa: S105 - a file's name

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


def folder_of(settings: "Settings") -> Path:
    """The data folder, made if it is not there. Raises Refused for one that cannot be."""
    folder = settings.data_dir
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise Refused(f"data_dir: {folder} cannot be used ({error.strerror}); name another folder") from error
    return folder


def web_token(folder: Path) -> str | None:
    """The page's token as it is kept in the data folder, if it is there and whole."""
    try:
        return (folder / WEB_TOKEN).read_text().strip() or None
    except (OSError, ValueError):
        return None


def logs_for(settings: "Settings", *, level: str | None = None) -> "Redactor":
    """Configures the log and returns the one redactor, which knows the page's token too."""
    from gateway.logs import configure
    from gateway.redact import Redactor

    kept = web_token(settings.data_dir)
    redactor = Redactor([*settings.secrets(), *([kept] if kept else [])])
    form = settings.log.format or ("console" if sys.stderr.isatty() else "json")
    configure(form, level or settings.log.level, redactor)
    return redactor


def store_of(settings: "Settings") -> "tuple[TapeStore, str]":
    """The tape store that a running gateway with these settings uses, or would use, and its workspace."""
    from gateway.clock import Clock
    from gateway.main import open_store

    if settings.tape.store == "memory":
        raise Refused('tapes in memory are gone when their gateway ends; set tape.store to "file" to keep them')
    folder_of(settings)
    logs_for(settings, level="warning")
    return open_store(settings, Clock())
