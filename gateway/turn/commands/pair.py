"""/pair [code]"""

from gateway.turn.commands.command import Acted, Asked, Handler, Need
from gateway.turn.commands.parse import Command


def _need(_command: Command) -> Need:
    return Need.ADMIN


async def _pair(asked: Asked) -> Acted:
    return Acted(await asked.desk.pair(asked.message, asked.command.rest))


PAIR = Handler("pair", "pair [code]", "approve a person who asked to talk; without a code: who asks", _need, _pair)
