"""The floors: who may import whom, and that nothing heavy is imported before it is needed."""

import subprocess
import sys

from tests.house.code import REPOSITORY

HEAVY = {"aiogram", "aiohttp", "openai", "pydantic", "redis", "structlog", "markdown_it", "rapidfuzz"}

SHOW = "import sys; {}; print('loaded:', *sorted({{name.partition('.')[0] for name in sys.modules}}))"


def python(program: str) -> list[str]:
    """The modules that are loaded after a program ran in a fresh interpreter, in the repository's root."""
    shown = SHOW.format(program)
    done = subprocess.run([sys.executable, "-c", shown], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return done.stdout.rpartition("loaded:")[2].split()


def test_every_import_goes_down() -> None:
    """The contracts of import-linter in pyproject.toml."""
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " 0 broken" in done.stdout


def test_help_imports_nothing_but_the_standard_library_and_us() -> None:
    helped = "import contextlib, gateway.cli\nwith contextlib.suppress(SystemExit): gateway.cli.main(['--help'])\npass"
    before, after = python("import contextlib, argparse"), python(f"exec({helped!r})")

    assert set(after) - set(before) - set(sys.stdlib_module_names) == {"gateway"}


def test_the_package_alone_is_light_and_so_is_a_name_that_needs_little() -> None:
    before = set(python("pass"))

    assert HEAVY & (set(python("import gateway")) - before) == set()
    assert HEAVY & (set(python("from gateway import SessionKey, Reply, Entry")) - before) == set()


def test_a_channel_that_is_off_loads_no_sdk() -> None:
    assert "aiogram" not in python("import channels, channels.telegram, channels.web, channels.terminal")
