"""env.example and README: they name what there is, and everything that an operator must know."""

import re

import pytest

from gateway.cli import GROUPS, _parser
from gateway.settings import Settings, load, names
from tests.deploy.written import DEPLOY, VARIABLES, example, unit

README = (DEPLOY / "README.md").read_text()
EXAMPLE = (DEPLOY / "env.example").read_text()


def secrets() -> set[str]:
    """The variables of all settings that do not print."""
    found = set()
    for name in names():
        section, _, key = name.rpartition(".")
        fields = type(Settings.model_fields[section].default).model_fields if section else Settings.model_fields
        if "SecretStr" in str(fields[key].annotation):
            found.add("GATEWAY_" + name.replace(".", "__").upper())
    return found


def test_every_name_is_a_setting() -> None:
    assert set(example()) <= VARIABLES


def test_every_secret_is_there_and_named_as_one() -> None:
    assert len(secrets()) >= 8
    assert secrets() - set(example()) == set()
    assert secrets() - set(re.findall(r"`(GATEWAY_\w+)`", README.partition("## Secrets")[2])) == set()


def test_as_it_is_it_sets_nothing_and_with_every_line_on_it_is_good() -> None:
    """So that the copy runs at once, with the demo model; and each value shows the form of a real one."""
    assert re.findall(r"^[^#\n].*$", EXAMPLE, re.MULTILINE) == []
    settings = load(example())
    assert settings.telegram.admins == ("1001", "1002")


def test_no_comment_stands_behind_a_value() -> None:
    """Compose would cut it off, systemd would take it for a part of the value."""
    assert [line for value in example().values() for line in [value] if re.search(r"[\s#$'\"]", line)] == []


def test_it_sets_nothing_that_its_readers_set() -> None:
    """systemd lets the file win over the unit: a data folder in it would be one that the service may not write."""
    own = {line.partition("=")[0] for line in unit()["Environment"]}

    assert own & set(example()) == set()


def test_every_setting_and_command_that_the_readme_names_is_one() -> None:
    named = set(re.findall(r"GATEWAY_[A-Z_]+", README))
    dotted = set(re.findall(r"`((?:session|telegram|web|model|redis)\.[a-z_]+)`", README))
    commands = [line.split() for line in re.findall(r"(?<!from)[ /`]gateway ([a-z][^`|&\n#]*)", README)]
    lines = [words for words in commands if words[0] in GROUPS]

    assert named <= VARIABLES
    assert dotted <= set(names())
    assert len(lines) >= 4
    for words in lines:
        try:
            _parser().parse_args(words)
        except SystemExit:
            raise AssertionError(f"README shows `gateway {' '.join(words)}`, which is none") from None


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)]+)\)", README))
def test_every_file_that_the_readme_names_is_there(link: str) -> None:
    assert (DEPLOY / link).exists()
