"""The tests' own habits: they never sleep, never step aside, and their names are sentences."""

import ast
from collections.abc import Iterator

from tests.house.code import REPOSITORY, files, functions, tree
from tests.house.test_habits import WAITS

PATCHES = {
    "tests/platforms/sdk_discord.py": "discord.py takes no address: it stands in two of its classes",
    "tests/tape/test_lines.py": "small blocks, so that short files have many",
    "tests/tape/test_store_file_damage.py": "counts how often the kernel is asked",
}
"""Who replaces a part at run time, and why. Everybody else is given the part."""

AROUND = ("skip", "skipif", "xfail", "importorskip")


def sleeps(path: str) -> Iterator[ast.Call]:
    """Every sleep of a file but those that let others run, that a loop makes which asks for a condition, or whose line
    says why."""
    lines = (REPOSITORY / path).read_text().splitlines()
    asking = {inner for node in ast.walk(tree(path)) if isinstance(node, ast.While) for inner in ast.walk(node)}
    for node in ast.walk(tree(path)):
        match node:
            case ast.Call(args=[ast.Constant(0)]):
                pass
            case ast.Call(ast.Attribute(attr="sleep") | ast.Name("sleep")):
                if node not in asking and "  # " not in lines[node.lineno - 1]:
                    yield node


def test_no_test_sleeps() -> None:
    """It waits for what it wants to see, with a deadline: quick where the machine is, patient elsewhere."""
    sleeping = {path for path in files("tests") if any(sleeps(path))}

    assert sleeping == set(WAITS), "a new one needs a reason in WAITS; one that is gone leaves the list"


def test_no_test_steps_aside() -> None:
    """What is missing fails: a test that did not run proves nothing."""
    aside = [
        f"{path}:{node.lineno}"
        for path in files("tests")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr in AROUND and ast.unparse(node).startswith("pytest.")
    ]

    assert aside == []


def test_a_tests_name_is_a_sentence() -> None:
    tests = [function.name for path in files("tests") for function in functions(path) if function.name[:5] == "test_"]
    curt = [name for name in tests if name.count("_") < 2]

    assert curt == []


def test_parts_are_given_and_not_patched() -> None:
    patching = {
        path
        for path in files("tests")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("monkeypatch.setattr", "mock.patch", "patch")
    }

    assert patching == set(PATCHES), "a new one needs a reason in PATCHES; one that is gone leaves the list"


def test_the_projects_files_name_no_registry_and_no_place_on_somebodys_machine() -> None:
    names = ("py" + "pi.org", "python" + "hosted", "/work" + "/", "index" + "-url")
    told = [
        f"{path} names {name}"
        for ending in (".py", ".md", ".toml", ".txt", ".lua", "run")
        for path in files(".", ending=ending)
        for name in names
        if not path.startswith(".") and name in (REPOSITORY / path).read_text()
    ]

    assert told == []
