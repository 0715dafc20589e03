"""The settings files as `gateway init` writes them: every setting explained, the chosen ones active, secrets apart."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from gateway.cli.setup.words import EXAMPLES, SECRETS, SECTIONS, WORDS
from gateway.errors import Refused
from gateway.settings import Settings, names

Value = str | bool | tuple[str, ...]
"""What may be chosen: a text, a switch, or ids."""


def config_text(chosen: Mapping[str, Value], secrets: Path) -> str:
    """The file that everybody may read. `chosen`: by the names of settings; `secrets`: the other file."""
    lines = [
        "# The settings of the gateway. Take the # away from a line to change what it says: it says the default, or an",
        "# example. A variable of the environment wins: GATEWAY_TELEGRAM__ADMINS is telegram.admins.",
        f"# Keys and tokens stand in {secrets.name}, which nobody else may read. `gateway doctor` tries all of it.",
        "",
    ]
    section = ""
    for name in names():
        of, _, key = name.rpartition(".")
        if of != section:
            section = of
            lines += ["", f"# {SECTIONS[of]}", f"[{of}]"]
        lines.append(f"# {explained(name)}")
        if name in chosen and not _is_secret(name, chosen[name]):
            lines.append(f"{key} = {_toml(chosen[name])}")
        elif name in chosen:
            lines.append(f"# {key} stands in {secrets.name}")
        elif name in SECRETS:
            lines.append(f'# {key} is a secret: put {name} = "..." into {secrets.name}')
        else:
            lines.append(f"# {key} = {EXAMPLES.get(name) or _toml(_default(name))}")
    return "\n".join(lines) + "\n"


def secrets_text(chosen: Mapping[str, Value]) -> str:
    """The file for its owner alone; an empty text where there is no secret."""
    kept = [f"{name} = {_toml(value)}" for name, value in chosen.items() if _is_secret(name, value)]
    head = "# Keys and tokens of the gateway. For its owner alone (chmod 600); keep it out of version control."
    return "\n".join([head, *kept]) + "\n" if kept else ""


def shown(chosen: Mapping[str, Value], secrets: Path) -> Iterator[str]:
    """Each line that will be active; of a secret, its file."""
    for name, value in chosen.items():
        yield f"{name} = {_toml(value)}" if not _is_secret(name, value) else f"{name}: in {secrets.name}, mode 600"


def explained(name: str) -> str:
    """What a setting is, in one line."""
    return WORDS.get(name) or WORDS[name.rpartition(".")[2]]


def write(texts: Mapping[Path, tuple[str, int]]) -> None:
    """Writes files (text, mode) that appear whole, all of them or none, and never over one that is there.

    Raises Refused where that cannot be.
    """
    drafts = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in texts}
    try:
        for path, (text, mode) in texts.items():
            with os.fdopen(
                os.open(drafts[path], os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8"
            ) as file:
                file.write(text)
        for path, draft in drafts.items():
            path.hardlink_to(draft)  # a rename would replace what somebody has put there meanwhile
    except BaseException as error:
        for path, draft in drafts.items():
            if path.exists() and draft.exists() and path.samefile(draft):
                path.unlink()
        if isinstance(error, OSError):
            raise Refused(f"{error.filename2 or error.filename} cannot be written ({error.strerror})") from error
        raise
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def _is_secret(name: str, value: Value) -> bool:
    """By its name, or as an address that holds a password."""
    return name in SECRETS or (isinstance(value, str) and "://" in value and "@" in value)


def _default(name: str) -> object:
    section, _, key = name.rpartition(".")
    default: object = getattr(Settings.model_fields[section].default, key)
    return default


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
