"""What `pip install .` brings: every file that the program needs, and nothing else."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import gateway
from tests.house.code import REPOSITORY, files

BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
METADATA = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
ROOT = ("pyproject.toml", "README.md", "LICENSE")


def needed() -> set[str]:
    """Every file of the program's folders but those that only people read."""
    return {p for p in files("gateway", "channels", ending="") if not p.endswith((".md", ".pyc"))}


def test_the_wheel_holds_every_file_of_the_program_and_no_test(tmp_path: Path) -> None:
    """In a copy, by the build system itself and without a network."""
    for name in (*ROOT, *files("gateway", "channels", ending="")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    built = subprocess.run(
        [sys.executable, "-c", BUILD, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr[-2000:]
    with zipfile.ZipFile(tmp_path / built.stdout.split()[-1]) as wheel:
        inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
        about = {name.rpartition("/")[2] for name in wheel.namelist() if ".dist-info/" in name}

    assert needed() - inside == set()
    assert {name.partition("/")[0] for name in inside} == {"gateway", "channels"}
    assert {"LICENSE", "entry_points.txt"} <= about


def test_the_version_is_said_once_and_the_same() -> None:
    assert METADATA["project"]["version"] == gateway.__version__


def test_the_constraints_are_names_and_versions_alone_and_cover_what_is_declared() -> None:
    lines = [line for line in (REPOSITORY / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in lines}
    declared = METADATA["project"]["dependencies"] + METADATA["project"]["optional-dependencies"]["test"]
    names = {"".join(c if c.isalnum() or c in "-_." else " " for c in d).split()[0].lower() for d in declared}

    assert all(line.count("==") == 1 and "/" not in line and " " not in line for line in lines)
    assert names - pinned == set()
