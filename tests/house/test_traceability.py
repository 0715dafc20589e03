"""Every schedule, every promise and every line of "done when" has a test that names it (required.txt)."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.house.code import REPOSITORY, files, functions

REQUIRED = Path(__file__).with_name("required.txt")


def required() -> list[str]:
    """The ids: what stands before two spaces."""
    lines = REQUIRED.read_text().splitlines()
    return [line.partition("  ")[0] for line in lines if line and not line.startswith("#")]


@cache
def told() -> tuple[tuple[str, str, str], ...]:
    """File, name and docstring of every test, contracts included: their classes run once for each implementation."""
    tests = ((path, f) for path in files("tests") for f in functions(path) if f.name.startswith("test_"))
    return tuple((path, test.name, ast.get_docstring(test) or "") for path, test in tests)


def naming(wanted: str) -> dict[str, str]:
    """The tests that name an id, and their files: `test_f8b_...` and "F8b" name F8 as well."""
    by_name = re.compile(rf"(?:^|_){wanted.lower().replace(' ', '_')}[a-z]?(?:_|$)")
    by_docstring = re.compile(rf"(?<!\w){wanted}[a-z]?(?!\w)")
    return {name: path for path, name, text in told() if by_name.search(name) or by_docstring.search(text)}


@pytest.mark.parametrize("wanted", required())
def test_what_is_required_has_a_test_that_names_it(wanted: str) -> None:
    assert naming(wanted), f"no test names {wanted}: say it in a docstring of the test that proves it"


def test_an_id_is_found_whole_and_not_within_another() -> None:
    assert not re.search(r"(?<!\w)P1[a-z]?(?!\w)", "P14 and P1x1")
    assert "test_f15_a_second_store_on_the_same_server_is_refused" not in naming("F1")
    assert "test_f8b_a_thawed_worker_runs_no_tool" in naming("F8")


def test_the_promises_stand_in_the_readme_with_their_tests() -> None:
    """Each row of its table ends in files; what names the promise is in one of them."""
    rows = re.findall(r"^\| (P\d+) \|.*\|([^|]+)\|$", (REPOSITORY / "README.md").read_text(), re.MULTILINE)
    places = {promise: re.findall(r"`(tests/[^`]+)`", cell) for promise, cell in rows}

    assert list(places) == [wanted for wanted in required() if re.fullmatch(r"P\d+", wanted)]
    assert [path for paths in places.values() for path in paths if not (REPOSITORY / path).exists()] == []
    assert [promise for promise, paths in places.items() if not set(naming(promise).values()) & set(paths)] == []
