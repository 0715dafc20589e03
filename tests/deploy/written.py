"""What stands in `deploy/`, as tests read it."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from gateway.cli import _parser
from gateway.cli.run import run
from gateway.settings import Settings, names
from tests.house.code import REPOSITORY

DEPLOY = REPOSITORY / "deploy"
VARIABLES = {"GATEWAY_" + name.replace(".", "__").upper() for name in names()}
DRAIN = Settings(data_dir=Path("/data")).session.drain
MARGIN = 15.0
"""Seconds beyond the drain that an orderly stop may take: the page's last words, leases given back."""

Json = dict[str, Any]


def compose() -> Json:
    """compose.yaml, its anchors resolved."""
    found: Json = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


def gateways() -> dict[str, Json]:
    """The services of compose.yaml that are gateways: everything but Redis."""
    return {name: service for name, service in compose()["services"].items() if name != "redis"}


def unit() -> dict[str, list[str]]:
    """The values of each name of the unit, in the order in which they stand."""
    found: dict[str, list[str]] = {}
    for line in (DEPLOY / "systemd" / "gateway.service").read_text().splitlines():
        if match := re.match(r"([A-Za-z]+)=(.*)", line):
            found.setdefault(match[1], []).append(match[2])
    return found


def image() -> list[list[tuple[str, str]]]:
    """The stages of the Dockerfile: instruction and the rest of the line, continued lines joined."""
    stages: list[list[tuple[str, str]]] = []
    text = (DEPLOY / "Dockerfile").read_text()
    kept = "\n".join(line for line in text.splitlines() if line and not line.startswith("#"))
    for line in kept.replace("\\\n", " ").splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            stages.append([])
        stages[-1].append((word, " ".join(rest.split())))
    return stages


def example() -> dict[str, str]:
    """The names of env.example with the values that stand there, whether they are switched on or not."""
    lines = re.findall(r"^#?([A-Z_0-9]+)=(.*)$", (DEPLOY / "env.example").read_text(), re.MULTILINE)
    return dict(lines)


def seconds(duration: str) -> float:
    """A duration in whole seconds, as compose (`30s`) and systemd (`45`) write it."""
    return float(duration.removesuffix("s"))


def role_of(command: str | list[str]) -> str:
    """The role that a command line gives to `gateway run`; the program's name may stand before it."""
    words = shlex.split(command) if isinstance(command, str) else command
    arguments = _parser().parse_args(words[1:] if Path(words[0]).name == "gateway" else words)
    assert arguments.act is run
    role: str = arguments.role
    return role


def told(program: str, *words: str) -> tuple[int, str]:
    """Exit status and output of a program that stands beside this Python, or on the PATH."""
    beside = Path(sys.executable).with_name(program)
    done = subprocess.run(
        [str(beside) if beside.exists() else program, *words], capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, done.stdout + done.stderr
