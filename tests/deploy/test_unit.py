"""The systemd unit: what systemd itself says of it, and that its times and words are the program's."""

import re
import shutil
from pathlib import Path

import pytest

from tests.deploy.written import DEPLOY, DRAIN, MARGIN, VARIABLES, role_of, seconds, told, unit

EXPOSURE = "20"
"""Tenths: systemd calls a service "OK" from 2.0 downwards. One without any hardening has 9.6."""

EMBEDDED = 20.0
"""Seconds that the embedded server's orderly end may take: its lock, and its own patience."""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The unit with a program that this machine has: systemd looks whether it is there, and nothing else differs."""
    path = tmp_path / "gateway.service"
    program = shutil.which("true")
    path.write_text(
        (DEPLOY / "systemd" / "gateway.service").read_text().replace("/opt/gateway/bin/gateway", f"{program}")
    )
    return path


def verified(path: Path) -> tuple[int, str]:
    return told("systemd-analyze", "verify", "--man=no", "--generators=no", str(path))


def test_systemd_finds_nothing_wrong(installed: Path) -> None:
    assert verified(installed) == (0, "")


def test_systemd_would_find_a_word_that_is_none(installed: Path) -> None:
    """Else the test above proves nothing."""
    installed.write_text(installed.read_text().replace("KillMode=mixed", "KillMod=mixed"))

    assert "KillMod" in verified(installed)[1]


def test_systemd_finds_the_service_well_shut_in(installed: Path) -> None:
    status, out = told("systemd-analyze", "security", "--offline=yes", f"--threshold={EXPOSURE}", str(installed))

    assert status == 0, out[-500:]


def test_the_way_to_keep_secrets_out_of_the_environment_is_good_too(installed: Path) -> None:
    """The drop-in that README shows."""
    shown = re.findall(r"```ini\n(.*?)```", (DEPLOY / "README.md").read_text(), re.DOTALL)
    assert len(shown) == 1
    folder = installed.with_name("gateway.service.d")
    folder.mkdir()
    program = shutil.which("true")
    (folder / "override.conf").write_text(shown[0].replace("/opt/gateway/bin/gateway", f"{program}"))
    command = re.findall(r"^ExecStart=(\S.*)$", shown[0], re.MULTILINE)

    assert verified(installed) == (0, "")
    assert [role_of(line) for line in command] == ["all"]


def test_it_starts_the_gateway_with_its_data_in_the_folder_of_its_state() -> None:
    given = dict(line.split("=", 1) for line in unit()["Environment"])

    assert [role_of(line) for line in unit()["ExecStart"]] == ["all"]
    assert {name for name in given if name.startswith("GATEWAY_")} <= VARIABLES
    assert given["GATEWAY_DATA_DIR"] == "%S/" + unit()["StateDirectory"][0]
    assert unit()["StateDirectoryMode"] == ["0700"]
    assert unit()["User"] != ["root"]


def test_a_stop_has_more_time_than_the_drain_and_the_embedded_server() -> None:
    assert seconds(unit()["TimeoutStopSec"][0]) >= DRAIN + MARGIN + EMBEDDED


def test_what_a_restart_does_not_mend_is_not_tried_again() -> None:
    """Exit status 2 is the gateway's word for wrong usage and wrong settings."""
    assert unit()["Restart"] == ["on-failure"]
    assert unit()["RestartPreventExitStatus"] == ["2"]
