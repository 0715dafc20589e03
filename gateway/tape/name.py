"""The names of tapes. A name is a file's name too, so a store refuses every other spelling."""

import re
from hashlib import md5

from gateway.errors import Refused

_SAFE = re.compile(r"[A-Za-z0-9_-]{1,200}")


def tape_name(workspace: str, session: str) -> str:
    """The tape of a session, as Bub names it too. `session` is the text of the session key."""
    return f"{_short(workspace)}__{_short(session)}"


def service_name(workspace: str) -> str:
    """The tape of the gateway itself: last seen ids, aliases, approvals."""
    return f"{_short(workspace)}__service"


def sidecar_name(tape: str, name: str) -> str:
    """A sibling tape that holds related data outside the main context."""
    return safe(f"{tape}__sidecar__{name}")


def is_sidecar(tape: str) -> bool:
    """Whether the tape is some other tape's sidecar."""
    return "__sidecar__" in tape


def is_safe(name: str) -> bool:
    """Whether a store takes this name."""
    return _SAFE.fullmatch(name) is not None


def safe(name: str) -> str:
    """The name itself. Raises Refused for one that could leave the folder, or that no file may have."""
    if not is_safe(name):
        raise Refused(f"not a tape name: {name[:80]!r}; use up to 200 of A-Z a-z 0-9 _ -")
    return name


def _short(text: str) -> str:
    return md5(text.encode(errors="surrogatepass"), usedforsecurity=False).hexdigest()[:16]
