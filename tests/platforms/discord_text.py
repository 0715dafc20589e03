"""Whom a text of Discord mentions, and whom `allowed_mentions` lets it call."""

import re
from dataclasses import dataclass
from typing import Any, Final

Json = dict[str, Any]

CODE: Final = re.compile(r"```.*?```|``.*?``|`[^`\n]*`", re.DOTALL)
USER: Final = re.compile(r"<@!?(\d+)>")
ROLE: Final = re.compile(r"<@&(\d+)>")
EVERYONE: Final = re.compile(r"@(everyone|here)\b")
ALL: Final = ("users", "roles", "everyone")


@dataclass(frozen=True, slots=True)
class Mentions:
    """Ids of people and roles in the order of a text, without doubles; `everyone` for @everyone and @here."""

    users: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    everyone: bool = False

    def allowed(self, rules: Json | None, default: tuple[str, ...] = ALL) -> "Mentions":
        """What is left under `allowed_mentions`: kinds in `parse`, else the ids that it lists."""
        rules = {"parse": default} if rules is None else rules
        parse = rules.get("parse") or ()
        users, roles = ({str(one) for one in rules.get(kind) or ()} for kind in ("users", "roles"))
        return Mentions(
            tuple(user for user in self.users if "users" in parse or user in users),
            tuple(role for role in self.roles if "roles" in parse or role in roles),
            self.everyone and "everyone" in parse,
        )


def mentioned(text: str) -> Mentions:
    """What stands in a text outside code: Discord reads no mention inside it."""
    plain = CODE.sub(" ", text)
    users, roles = USER.findall(plain), ROLE.findall(plain)
    return Mentions(tuple(dict.fromkeys(users)), tuple(dict.fromkeys(roles)), EVERYONE.search(plain) is not None)
