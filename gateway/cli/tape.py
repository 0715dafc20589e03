"""`gateway tape list|show|search|anchors`"""

import asyncio
import json
import sys
from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gateway.cli.common import add_later, settings_of, store_of
from gateway.errors import GatewayError

if TYPE_CHECKING:
    from gateway.tape.entries import Entry

LATER = ("view", "export", "import", "verify", "prune", "erase")


def add(commands: "_SubParsersAction[Any]") -> None:
    """Adds the group to the command line."""
    group = commands.add_parser("tape", help="look at the tapes: list, show, search, anchors").add_subparsers(
        title="commands", required=True, metavar="COMMAND"
    )
    listing = group.add_parser("list", help="all tapes")
    listing.set_defaults(act=lambda a: asyncio.run(_list(a)))
    for name, text, act in (
        ("show", "the entries of one tape", _show),
        ("search", "find words on one tape", _search),
        ("anchors", "the phases of one tape", _anchors),
    ):
        one: ArgumentParser = group.add_parser(name, help=text)
        one.add_argument("tape", help="a session key such as web/local/main, or a tape's name")
        one.set_defaults(act=lambda a, act=act: asyncio.run(act(a)))
        if name == "search":
            one.add_argument("words", nargs="+")
            one.add_argument("--limit", type=int, default=20)
        one.add_argument("--json", action="store_true", help="one JSON object a line")
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    add_later(group, LATER, "gateway tape")


async def _list(arguments: Namespace) -> int:
    store, _ = store_of(settings_of(arguments))
    for tape in await store.list_tapes():
        entries = await store.fetch_all(_query(tape))
        row = {"tape": tape, "session": _session(entries), "entries": len(entries), "last": _last(entries)}
        if arguments.json:
            _out(json.dumps(row, ensure_ascii=False))
        else:
            _out(f"{tape}  {row['entries']:>6}  {row['last']}  {row['session'] or '(the gateway itself)'}")
    return 0


async def _show(arguments: Namespace) -> int:
    from gateway.tape.codec import encode

    for entry in await _entries(arguments):
        line = encode(entry).decode()
        _out(line.rstrip("\n") if arguments.json else _plain(entry, line))
    return 0


async def _search(arguments: Namespace) -> int:
    from gateway.tape.codec import encode
    from gateway.tape.search import search

    hits = search(await _entries(arguments), " ".join(arguments.words), limit=arguments.limit)
    for hit in hits:
        _out(
            encode(hit.entry).decode().rstrip("\n")
            if arguments.json
            else f"{hit.entry.id:>6}  {hit.entry.date:%Y-%m-%d %H:%M:%S}  {_tame(hit.snippet)}"
        )
    if not hits:
        raise Nothing("nothing on that tape matches")
    return 0


async def _anchors(arguments: Namespace) -> int:
    from gateway.tape.codec import encode
    from gateway.tape.entries import Anchor

    for entry in await _entries(arguments):
        if isinstance(entry.fact, Anchor):
            line = encode(entry).decode()
            _out(line.rstrip("\n") if arguments.json else _plain(entry, line))
    return 0


async def _entries(arguments: Namespace) -> "Sequence[Entry]":
    from gateway.tape.name import tape_name

    store, workspace = store_of(settings_of(arguments))
    name: str = arguments.tape
    tape = tape_name(workspace, name) if "/" in name else name
    if tape not in await store.list_tapes():
        raise Nothing(f"no tape of {name!r}; `gateway tape list` lists them")
    return await store.fetch_all(_query(tape))


class Nothing(GatewayError):
    """There is no such thing."""


def _query(tape: str) -> Any:
    from gateway.tape.query import Query

    return Query(tape)


def _session(entries: "Sequence[Entry]") -> str | None:
    for entry in entries:
        if isinstance(session := entry.meta.more.get("session"), str):
            return session
    return None


def _last(entries: "Sequence[Entry]") -> str | None:
    return f"{entries[-1].date:%Y-%m-%d %H:%M:%S}" if entries else None


def _plain(entry: "Entry", line: str) -> str:
    row = json.loads(line)
    payload = json.dumps(row["payload"], ensure_ascii=False)
    aside = "" if entry.meta.context else "  (beside the context)"
    return f"{entry.id:>6}  {entry.date:%Y-%m-%d %H:%M:%S}  {row['kind']:<11} {payload}{aside}"


def _tame(text: str) -> str:
    """The text without what would steer the terminal that it is printed on."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def _out(line: str) -> None:
    sys.stdout.write(line + "\n")
