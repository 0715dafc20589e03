"""Where updates go that nobody can read: kept whole for people, out of the way of those behind them."""

import asyncio
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from gateway.errors import Retryable


class PoisonFolder:
    """A folder of raw updates, `<name>.json` each, readable by this user alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def keep(self, raw: Mapping[str, object], name: str) -> Path:
        """Returns when the update is on disk: only then may the platform forget it. Retryable when it cannot be.

        `name`: the platform's id of the update, empty for one that has none.
        """
        try:
            return await asyncio.to_thread(self._write, raw, name)
        except OSError as error:
            raise Retryable(f"cannot write to {self._folder}: {error.strerror or type(error).__name__}") from error

    def _write(self, raw: Mapping[str, object], name: str) -> Path:
        data = json.dumps(raw, indent=1).encode()
        name = quote(name, safe="")[:200] or f"unnumbered-{hashlib.sha256(data).hexdigest()[:16]}"
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path, new = self._folder / f"{name}.json", self._folder / f"{name}.new"
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        return new.replace(path)
