"""What has been chosen so far, and what the settings make of it."""

import os
from pathlib import Path

from gateway.cli.setup.config_file import Value
from gateway.settings import BadSetting, Settings, load

_ADDRESSES = ("api_base", "gateway_url", "base_url")


class Choices:
    """Values by the names of settings, in the order in which they were taken. `environment`: its settings alone."""

    def __init__(self, environment: Settings) -> None:
        self._environment = environment
        self._taken: dict[str, Value] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._taken

    def all(self) -> dict[str, Value]:
        """All that is chosen."""
        return dict(self._taken)

    def settings(self) -> Settings:
        """The settings with what is chosen, and nothing else set."""
        return self._with({})

    def take(self, name: str, value: Value) -> str:
        """Chooses, where the settings allow it; else nothing is chosen, and the answer is what is wrong in one line."""
        try:
            self._with({name: value})
        except BadSetting as bad:
            return bad.problems[0].partition(": ")[2].removesuffix(" (environment)")
        self._taken[name] = value
        return ""

    def drop(self, *names: str) -> None:
        """Takes choices back; a section's name takes back all of it."""
        for name in [taken for taken in self._taken if taken in names or taken.partition(".")[0] in names]:
            del self._taken[name]

    def adopt_addresses(self, section: str) -> None:
        """Chooses the addresses of a section that the environment sets: a server of one's own, a fake."""
        there, usual = getattr(self._environment, section), Settings.model_fields[section].default
        for key in _ADDRESSES:
            address = getattr(there, key, None)
            if address and address != getattr(usual, key):
                self._taken[f"{section}.{key}"] = address

    def _with(self, more: dict[str, Value]) -> Settings:
        variables = {f"GATEWAY_{name.replace('.', '__').upper()}": _text(v) for name, v in (self._taken | more).items()}
        return load(variables, Path(os.devnull))


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else ",".join(value)
