"""The Dockerfile: what a linter says, what it copies, and who runs in it."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.deploy.written import DEPLOY, VARIABLES, image, role_of, told
from tests.house.code import REPOSITORY
from tests.house.test_package import BUILD, needed


def of_stage(stage: int, word: str) -> list[str]:
    """What follows an instruction in one stage, each time it stands there."""
    return [rest for name, rest in image()[stage] if name == word]


def sources() -> list[str]:
    """What the build copies out of the repository."""
    return [source for rest in of_stage(0, "COPY") for source in rest.split()[:-1]]


def test_hadolint_finds_nothing() -> None:
    assert told("hadolint", str(DEPLOY / "Dockerfile")) == (0, "")


def test_everything_that_is_copied_is_there_and_is_let_through() -> None:
    """.dockerignore keeps everything away but what it names, so that no secret gets into a layer."""
    lines = [line for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if not line.startswith("#")]

    assert [source for source in sources() if not (REPOSITORY / source).exists()] == []
    assert lines[0] == "*"
    assert {line[1:] for line in lines if line.startswith("!")} == set(sources())


def test_what_is_copied_builds_the_whole_program(tmp_path: Path) -> None:
    """The wheel out of nothing but the copied files has every file that the program needs."""
    for source in sources():
        path = REPOSITORY / source
        if path.is_dir():
            shutil.copytree(path, tmp_path / source, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, tmp_path / source)
    built = subprocess.run(
        [sys.executable, "-c", BUILD, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr[-2000:]
    with zipfile.ZipFile(tmp_path / built.stdout.split()[-1]) as wheel:
        assert needed() - set(wheel.namelist()) == set()
    assert any("-c constraints.txt" in rest for rest in of_stage(0, "RUN"))


def test_both_stages_are_the_same_slim_python_of_the_one_version() -> None:
    """What was installed in the one runs in the other, and neither brings a compiler."""
    bases = {of_stage(stage, "FROM")[0].partition(" AS ")[0] for stage in (0, -1)}

    assert len(bases) == 1
    assert re.fullmatch(r"python:3\.11-slim-[a-z]+", bases.pop())
    assert "apt" not in " ".join(rest for stage in image() for _, rest in stage)


def test_the_program_runs_as_a_user_who_is_not_root_and_owns_the_data_alone() -> None:
    user, group = of_stage(-1, "USER")[0].split(":")
    made = " ".join(of_stage(-1, "RUN"))

    assert int(user) > 0
    assert int(group) > 0
    assert f"useradd --uid {user} " in made
    assert f"groupadd --gid {group} " in made
    assert "install -d -o gateway -g gateway -m 0700 /data" in made
    assert json.loads(of_stage(-1, "VOLUME")[0]) == ["/data"]


def test_the_image_runs_the_gateway_and_stops_it_in_order() -> None:
    assert json.loads(of_stage(-1, "ENTRYPOINT")[0]) == ["gateway"]
    assert role_of(json.loads(of_stage(-1, "CMD")[0])) == "all"
    assert of_stage(-1, "STOPSIGNAL") == ["SIGTERM"]


def test_the_image_sets_real_settings_alone() -> None:
    given = dict(re.findall(r"(GATEWAY_\w+)=(\S+)", " ".join(of_stage(-1, "ENV"))))

    assert set(given) <= VARIABLES
    assert given["GATEWAY_DATA_DIR"] == "/data"


def test_no_secret_of_an_operator_is_committed() -> None:
    """The copy of env.example that holds tokens is ignored by git where compose.yaml wants it."""
    assert "gateway.env" in (DEPLOY / ".gitignore").read_text().split()
    assert os.fspath(DEPLOY.relative_to(REPOSITORY)) not in sources()
