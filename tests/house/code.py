"""The repository as the house's tests read it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
GOLDEN = Path(__file__).with_name("golden")
PROGRAM = ("gateway", "channels")
_NOT_OURS = {"__pycache__", ".venv"}


def files(*folders: str, ending: str = ".py") -> list[str]:
    """The paths of all files with this ending, from the repository's root, sorted."""
    found = (path for folder in folders for path in (REPOSITORY / folder).rglob(f"*{ending}") if path.is_file())
    return sorted(str(path.relative_to(REPOSITORY)) for path in found if not _NOT_OURS & set(path.parts))


@cache
def tree(path: str) -> ast.Module:
    """A Python file, parsed."""
    return ast.parse((REPOSITORY / path).read_text(), path)


def imports(path: str) -> Iterator[tuple[int, str]]:
    """Line and full name of every module that a file imports, wherever in the file."""
    for node in ast.walk(tree(path)):
        match node:
            case ast.Import(names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module


Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(path: str) -> Iterator[Function]:
    """Every function of a file, methods and inner ones too."""
    return (node for node in ast.walk(tree(path)) if isinstance(node, Function))
