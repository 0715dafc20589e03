"""The command line. A group a file; nothing heavy is imported before a command needs it."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from gateway import __version__
from gateway.cli.common import add_later
from gateway.errors import GatewayError, Refused

GROUPS = ("init", "run", "chat", "doctor", "tape", "access")
LATER = ("sessions", "inbox", "outbox")
"""Names that a later release brings: refused in so many words, so that nobody takes them for typing errors."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command. Returns 0 (good), 1 (the thing asked failed) or 2 (wrong usage or settings)."""
    words = list(sys.argv[1:] if argv is None else argv)
    arguments = _parser().parse_args(words)
    try:
        return int(arguments.act(arguments))
    except Refused as error:
        return fail(str(error), 2)
    except GatewayError as error:
        return fail(str(error), 1)
    except BrokenPipeError:
        return 1


def fail(line: str, status: int) -> int:
    """Says in one line each on standard error what is wrong and what to do."""
    for one in line.splitlines():
        sys.stderr.write(f"gateway: {one}\n")
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gateway",
        description="One chat bot in Telegram, Discord, Slack, a web page and a terminal; its memory is a tape.",
    )
    parser.add_argument("--version", action="version", version=f"gateway {__version__}")
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="settings (TOML); default: gateway.toml, if it is there"
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for group in GROUPS:
        import_module(f"gateway.cli.{group}").add(commands)
    add_later(commands, LATER, "gateway")
    return parser
