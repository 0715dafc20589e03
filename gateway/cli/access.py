"""`gateway access list|approve|revoke`"""

import asyncio
import json
import sys
from argparse import Namespace, _SubParsersAction
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gateway.cli.common import settings_of, store_of

if TYPE_CHECKING:
    from gateway.turn.approvals import Approvals


def add(commands: "_SubParsersAction[Any]") -> None:
    """Adds the group to the command line."""
    group = commands.add_parser("access", help="who may talk: list, approve, revoke").add_subparsers(
        title="commands", required=True, metavar="COMMAND"
    )
    listing = group.add_parser("list", help="everybody who asked, with their codes")
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    listing.set_defaults(act=lambda a: asyncio.run(_list(a)))
    for name, state in (("approve", "approved"), ("revoke", "revoked")):
        one = group.add_parser(name, help=f"{name} a person by code or id")
        one.add_argument("who", help="the code that the bot told them, or their id")
        one.set_defaults(act=lambda a, state=state: asyncio.run(_decide(a, state)))


async def _list(arguments: Namespace) -> int:
    for person in await _approvals(arguments).everybody():
        if arguments.json:
            sys.stdout.write(json.dumps(asdict(person), ensure_ascii=False) + "\n")
        else:
            sys.stdout.write(f"{person.code}  {person.state:<9} {person.channel}:{person.id}  {person.name}\n")
    return 0


async def _decide(arguments: Namespace, state: str) -> int:
    from gateway.message import Author

    person = await _approvals(arguments).decide(arguments.who, state, by=Author("cli", "command line"))
    if person is None:
        sys.stderr.write(f"gateway: nobody asked as {arguments.who!r}; `gateway access list` lists who did\n")
        return 1
    sys.stdout.write(f"{person.name} ({person.channel}:{person.id}) is {state}\n")
    return 0


def _approvals(arguments: Namespace) -> "Approvals":
    from gateway.clock import Clock
    from gateway.turn.approvals import Approvals

    store, workspace = store_of(settings_of(arguments))
    return Approvals(store, workspace, Clock())
