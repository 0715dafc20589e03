"""/help, and /start, with which Telegram greets a bot"""

from gateway.turn.commands.command import Acted, Asked, Handler, anyone
from gateway.turn.commands.parse import Command


async def _help(asked: Asked) -> Acted:
    from gateway.turn.commands import HANDLERS  # the list holds this command as well

    lines = [
        f"/{h.usage} - {h.summary}" for h in HANDLERS if asked.desk.may(asked.message, h.need(Command(h.name, "", "")))
    ]
    hello = "Hello. " if asked.command.name == "start" else ""
    return Acted(
        f"{hello}Write to me as you would to a person. Commands:\n\n" + "\n".join(f"- {line}" for line in lines)
    )


HELP = Handler("help", "help", "what I understand", anyone, _help)
