"""/whoami"""

from gateway.turn.commands.command import Acted, Asked, Handler, anyone


async def _whoami(asked: Asked) -> Acted:
    message, desk = asked.message, asked.desk
    role = "an admin" if desk.is_admin(message) else "not an admin"
    kind = "your own session" if message.private else "a shared session"
    return Acted(f"Your id is `{message.author.id}`; you are {role} here. This is {kind}: `{message.session}`.")


WHOAMI = Handler("whoami", "whoami", "your id, your rights, this session's key", anyone, _whoami, control=True)
