"""Who a store on disk is: fixed when its folder is first used, so that tapes keep their names when it moves."""

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from gateway.errors import Broken
from gateway.tape.archive import sync_folder, write_whole

SCHEMA = 1
"""Number of the format of the folder; it stands in `store.json`."""


@dataclass(frozen=True, slots=True)
class Identity:
    """`workspace` is the text that names of tapes are made from."""

    uuid: str
    workspace: str


def identify(folder: Path, workspace: str) -> Identity:
    """Reads the folder's identity, or gives it one. Of several processes that come first, one wins for all."""
    path = folder / "store.json"
    if not path.exists():
        name = str(uuid4())
        new = folder / f"store.{name}.new"
        row = {"uuid": name, "schema": SCHEMA, "workspace": workspace}
        write_whole(new, json.dumps(row).encode() + b"\n", durable=True)
        with suppress(FileExistsError):
            os.link(new, path)
        new.unlink()
        sync_folder(folder)
    try:
        match json.loads(path.read_bytes()):
            case {"uuid": str(uuid), "schema": 1, "workspace": str(known)}:
                return Identity(uuid, known)
    except ValueError:
        pass
    raise Broken(f"{path} is damaged or of a later release; put back the copy of a backup")
