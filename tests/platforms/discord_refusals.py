"""What Discord refuses, with its own codes and words (facts 2.1)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

Json = dict[str, Any]

REFUSALS: Final[Mapping[int, tuple[int, str]]] = {
    0: (404, "404: Not Found"),
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10013: (404, "Unknown User"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    30032: (400, "Maximum number of application commands reached (100)"),
    40060: (400, "Interaction has already been acknowledged."),
    50001: (403, "Missing Access"),
    50003: (403, "Cannot execute action on a DM channel"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50008: (400, "Cannot send messages in a non-text channel"),
    50013: (403, "Missing Permissions"),
    50027: (401, "Invalid Webhook Token"),
    50083: (400, "Thread is archived"),
    50109: (400, "The request body contains invalid JSON."),
    160005: (403, "Thread is locked"),
    200000: (400, "Message was blocked by automatic moderation"),
    240000: (400, "Message blocked by harmful links filter"),
}
"""Status and message of each code that the fake knows; `Channel.refuses` takes one of them."""

LONGEST_CONTENT: Final = 2000
LONGEST_NONCE: Final = 25
MOST_COMMANDS: Final = 100
MOST_OPTIONS: Final = 25
COMMAND_NAME: Final = re.compile(r"[-_'\w]{1,32}")

EMPTY: Final = ("BASE_TYPE_REQUIRED", "This field is required")


class Refusal(Exception):
    """An error answer of the REST API."""

    def __init__(self, status: int, code: int, message: str, errors: Json | None = None) -> None:
        super().__init__(f"{status} {code} {message}")
        self.status = status
        self.body: Json = {"message": message, "code": code} | ({"errors": errors} if errors else {})


def refusal(code: int) -> Refusal:
    """The refusal with this code, in Discord's words."""
    status, message = REFUSALS[code]
    return Refusal(status, code, message)


def invalid(path: str, code: str, message: str) -> Refusal:
    """50035: one field of the form (`content`, `0.name`) is wrong."""
    errors: Json = {"_errors": [{"code": code, "message": message}]}
    for part in reversed(path.split(".")):
        errors = {part: errors}
    return Refusal(400, 50035, "Invalid Form Body", errors)


def too_long(path: str, most: int) -> Refusal:
    return invalid(path, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")


def check_content(body: Json, *, files: bool = False) -> str:
    """The content as Discord keeps it: at most 2000 code points, blanks at its ends gone, not empty."""
    content = body.get("content") or ""
    if not isinstance(content, str):
        raise invalid("content", "STRING_TYPE_CONVERT", "Could not interpret value as string.")
    if len(content) > LONGEST_CONTENT:
        raise too_long("content", LONGEST_CONTENT)
    if not content.strip() and not files and not any(body.get(kind) for kind in ("embeds", "components", "poll")):
        raise refusal(50006)
    return content.strip()


def check_nonce(nonce: object) -> str | None:
    """A nonce of at most 25 characters, as a string; None where there is none."""
    if nonce is None:
        return None
    if isinstance(nonce, bool) or not isinstance(nonce, str | int):
        raise invalid("nonce", "NONCE_TYPE_INVALID_TYPE", "This field must be a string or integer.")
    if len(str(nonce)) > LONGEST_NONCE:
        raise invalid("nonce", "NONCE_TYPE_TOO_LONG", "Must be 25 or fewer characters long.")
    return str(nonce)


def check_mentions(rules: Json | None) -> None:
    """`allowed_mentions` names a kind in `parse` or lists its ids, not both."""
    for kind in ("users", "roles"):
        if rules and kind in (rules.get("parse") or ()) and rules.get(kind):
            words = f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.'
            raise invalid("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", words)


def check_limit(value: str | None, *, default: int = 50, most: int = 100) -> int:
    """A page size from a query."""
    limit = default if value is None else int(value)
    if limit < 1:
        raise invalid("limit", "NUMBER_TYPE_MIN", "int value should be greater than or equal to 1.")
    if limit > most:
        raise invalid("limit", "NUMBER_TYPE_MAX", f"int value should be less than or equal to {most}.")
    return limit


def check_snowflake(path: str, value: str) -> int:
    if not value.isdecimal():
        raise invalid(path, "NUMBER_TYPE_COERCE", f'Value "{value}" is not snowflake.')
    return int(value)


def check_commands(commands: Sequence[Json]) -> None:
    """Refuse a set of application commands that Discord would not register."""
    if len(commands) > MOST_COMMANDS:
        raise refusal(30032)
    seen = set[str]()
    for at, command in enumerate(commands):
        _check_named(str(at), command)
        if command["name"] in seen:
            words = "Application command names must be unique"
            raise invalid(str(at), "APPLICATION_COMMANDS_DUPLICATE_NAME", words)
        seen.add(command["name"])
        _check_options(f"{at}.options", command.get("options") or [])


def _check_named(path: str, named: Json) -> None:
    name, description = named.get("name") or "", named.get("description") or ""
    if not name:
        raise invalid(f"{path}.name", *EMPTY)
    if not COMMAND_NAME.fullmatch(name) or name != name.lower():
        words = "Command name is invalid"
        raise invalid(f"{path}.name", "APPLICATION_COMMAND_INVALID_NAME", words)
    if named.get("type", 1) == 1 and not description:
        raise invalid(f"{path}.description", *EMPTY)
    if len(description) > 100:
        raise invalid(f"{path}.description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")


def _check_options(path: str, options: Sequence[Json]) -> None:
    if len(options) > MOST_OPTIONS:
        raise too_long(path, MOST_OPTIONS)
    optional = False
    for at, option in enumerate(options):
        _check_named(f"{path}.{at}", option | {"type": 1})
        if optional and option.get("required"):
            words = "Required options must be placed before non-required options"
            raise invalid(f"{path}.{at}", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", words)
        optional = optional or not option.get("required")
    if len({option["name"] for option in options}) < len(options):
        raise invalid(path, "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", "Option name already exists")
