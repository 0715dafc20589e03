"""What README says is so: settings, commands, links and words are compared with the program."""

import re
import shlex
from pathlib import Path

import pytest

from gateway.cli import GROUPS, LATER, _parser
from gateway.settings import Settings, names
from gateway.turn.commands import HANDLERS
from tests.house.code import REPOSITORY, files

README = (REPOSITORY / "README.md").read_text()
PAGES = ("README.md", "channels/README.md")


def table(heading: str) -> list[list[str]]:
    """The rows under a heading, without the head."""
    section = re.split(r"^## ", README, flags=re.MULTILINE)
    text = next(part for part in section if part.startswith(heading))
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return rows[2:]


def code(cell: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def test_every_setting_stands_in_the_table_in_its_order() -> None:
    assert [code(row[0])[0] for row in table("Settings")] == names()


def test_the_defaults_in_the_table_are_those_of_the_program() -> None:
    """Where the table has a value; some defaults are words, such as "off"."""
    told = {code(row[0])[0]: code(row[1]) for row in table("Settings")}
    words = {"data_dir", "model.base_url", "model.api_key"}
    for name, values in told.items():
        if values and name not in words:
            section, _, key = name.rpartition(".")
            default = getattr(Settings.model_fields[section].default, key)
            shown = f"{default:g}" if isinstance(default, float) else str(default)
            shown = shown.lower() if isinstance(default, bool) else shown
            assert [shown] == values, name


def test_every_chat_command_stands_in_the_table() -> None:
    assert [code(row[0])[0] for row in table("In the chat")] == [f"/{handler.usage}" for handler in HANDLERS]


def test_every_group_of_the_command_line_stands_in_the_table() -> None:
    assert [code(row[0])[0].split()[1] for row in table("Command line")] == list(GROUPS)


def shell_lines() -> list[list[str]]:
    """Every `gateway ...` that a reader may type, wherever it stands, without what is optional."""
    text = re.sub(r"```text\n.*?```", "", README, flags=re.DOTALL)
    found = re.findall(r"(?<!from)(?:\s|/|`)gateway\s+([a-z][^`|&]*)[`&\n]", text)
    return [[word for word in shlex.split(line) if not set("[]") & set(word)] for line in found]


def test_every_command_that_the_readme_shows_is_one() -> None:
    lines = [line for line in shell_lines() if line[0] in (*GROUPS, *LATER)]

    assert len(lines) > 8
    for line in lines:
        try:
            _parser().parse_args(line)
        except SystemExit:
            raise AssertionError(f"README shows `gateway {' '.join(line)}`, which is none") from None


@pytest.mark.parametrize("page", PAGES)
def test_every_link_and_every_path_leads_somewhere(page: str) -> None:
    text, here = (REPOSITORY / page).read_text(), (REPOSITORY / page).parent
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("http")]
    paths = re.findall(r"`((?:tests|gateway|channels)/[^`<*]+)`", text)
    missing = [link for link in links if not (here / link).exists()]
    missing += [path for path in paths if not (REPOSITORY / path).exists()]

    assert missing == []


def test_every_room_of_the_house_on_one_page_is_there() -> None:
    """Folders and modules of `gateway` that the page names, and each that there is."""
    page = README.partition("## The house on one page")[2].partition("```text")[2].partition("```")[0]
    named = set(re.findall(r"[a-z_]+", page.replace("_redis", "")))
    folders = {Path(p).parts[1] for p in files("gateway") if len(Path(p).parts) > 2}
    modules = {Path(p).stem for p in files("gateway") if len(Path(p).parts) == 2} - {"__init__", "__main__"}

    assert (folders | modules) - named == set()


def test_every_channel_says_what_is_done_and_what_is_not() -> None:
    told = re.findall(r"^## (\w+)$", (REPOSITORY / "channels/README.md").read_text(), re.MULTILINE)
    there = {Path(p).parts[1] for p in files("channels") if Path(p).name == "adapter.py"}

    assert sorted(told) == sorted(there)
