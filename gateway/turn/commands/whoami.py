"""/whoami"""

from gateway.turn.commands.command import Acted, Asked, Handler, anyone

_ROLES = {
    True: "you are an admin here",
    False: "you are not an admin here",
    None: "whether you are an admin here I am finding out, so ask again in a moment",
}


async def _whoami(asked: Asked) -> Acted:
    message, desk = asked.message, asked.desk
    kind = "your own session" if message.private else "a shared session"
    role = _ROLES[desk.is_admin(message)]
    return Acted(f"Your id is `{message.author.id}`; {role}. This is {kind}: `{message.session}`.")


WHOAMI = Handler("whoami", "whoami", "your id, your rights, this session's key", anyone, _whoami, control=True)
