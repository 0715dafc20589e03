"""Who takes part in the fake Slack: its people, and the names of the one app."""

from dataclasses import dataclass
from typing import Any, Final

Json = dict[str, Any]

BOT_USER: Final = "UBOT"
BOT_ID: Final = "BBOT"
APP_ID: Final = "A1"
BOT_NAME: Final = "gateway"


@dataclass(frozen=True, slots=True)
class Person:
    """A member of the workspace, by an id that begins with U or W."""

    id: str
    name: str
    is_bot: bool = False
    is_admin: bool = False
    is_owner: bool = False

    def user(self, team: str) -> Json:
        """The object that `users.info` answers; an owner is an admin too."""
        return {
            "id": self.id,
            "team_id": team,
            "name": self.name.lower(),
            "real_name": self.name,
            "deleted": False,
            "tz": "Europe/Berlin",
            "profile": {"real_name": self.name, "display_name": self.name},
            "is_admin": self.is_admin or self.is_owner,
            "is_owner": self.is_owner,
            "is_primary_owner": False,
            "is_bot": self.is_bot,
            "is_app_user": False,
        }
