"""The habits of the house, as far as a program can see them. An exception has an owner and a reason, here."""

import ast
from collections.abc import Iterator

from tests.house.code import PROGRAM, Function, files, functions, tree

CATCH_ALL = {
    "gateway/turn/worker.py": "a fault of ours in a turn: the other sessions go on",
    "gateway/turn/delivery.py": "a fault of ours in a delivery: the other routes go on",
    "gateway/agent/step.py": "a tool may fail in any way: the model goes on from the error's text",
    "gateway/web/guard.py": "a fault of ours in a route: the person gets one sentence",
    "gateway/redact.py": "somebody else's __repr__ may raise anything, and a log line must not fail",
    "channels/handover.py": "a fault of ours at one update: those behind it must come in",
    "channels/supervise.py": "a fault of ours ends a round, never the channel",
    "channels/lanes.py": "whoever put an item hears how its handling ended; those behind it are handled",
}
"""Who may catch every Exception, and why. Everybody else catches what he can name."""

WAITS = {
    "tests/contracts/lease.py": "blocks the loop on purpose: that is what is tested",
    "tests/platforms/faults.py": "a delay that a fake platform injects when told to",
    "tests/platforms/openai_answers.py": "a slow answer that the fake model gives when told to",
    "tests/session/servers.py": "moves a real server's clock by one tick, between two stamps",
}
"""Tests and fakes that sleep, neither in a loop that asks for a condition nor with the reason beside it; and why."""

HARMLESS = {
    *("re.compile", "frozenset", "tuple", "range", "partial", "timedelta", "datetime", "Path", "NewType", "TypeVar"),
    *("chr", "str.maketrans", "structlog.get_logger", "BeforeValidator"),
}
"""What a module may call while it is imported: it makes a value and touches nothing. Ours are known by their capital
letter (they are classes of values) or by standing in the same file."""

CHANGES = {"append", "add", "update", "pop", "clear", "extend", "insert", "remove", "setdefault", "popitem", "discard"}


def handlers(path: str) -> Iterator[tuple[ast.ExceptHandler, set[str]]]:
    """Every `except` of a file, with the names that it catches."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ExceptHandler):
            caught = [node.type] if not isinstance(node.type, ast.Tuple) else node.type.elts
            yield node, {"everything" if name is None else ast.unparse(name) for name in caught}


def test_only_owners_catch_every_exception() -> None:
    catching = {
        path for path in files(*PROGRAM) for _, caught in handlers(path) if caught & {"everything", "Exception"}
    }

    assert catching == set(CATCH_ALL), "a new owner needs a reason; one that is gone leaves the list"


def test_who_catches_cancellation_passes_it_on() -> None:
    """`except BaseException` cleans up and raises again; so does whoever catches CancelledError."""
    swallowed = [
        f"{path}:{node.lineno}"
        for path in files(*PROGRAM)
        for node, caught in handlers(path)
        if any(name.endswith(("BaseException", "CancelledError")) for name in caught)
        and not isinstance(node.body[-1], ast.Raise)
    ]

    assert swallowed == []


def groups(path: str) -> set[str]:
    """The names that stand for a TaskGroup in a file: such a group keeps its tasks itself."""
    found = set()
    for node in ast.walk(tree(path)):
        match node:
            case ast.withitem(context_expr=ast.Call(func), optional_vars=ast.Name(name)) if "TaskGroup" in ast.unparse(
                func
            ):
                found.add(name)
            case ast.arg(name, annotation) if annotation is not None and "TaskGroup" in ast.unparse(annotation):
                found.add(name)
    return found


def test_no_task_is_forgotten() -> None:
    """A task that nobody holds may be collected in mid-flight, and its error is never seen."""
    forgotten = []
    for path in files(*PROGRAM):
        parents = groups(path)
        for node in ast.walk(tree(path)):
            match node:
                case ast.Expr(ast.Call(ast.Attribute(owner, "create_task" | "ensure_future"))):
                    if ast.unparse(owner) not in parents:
                        forgotten.append(f"{path}:{node.lineno}")

    assert forgotten == []


def calls_at_import(node: ast.stmt) -> Iterator[ast.Call]:
    """What a statement of a module calls when the module is imported: not what stands in functions and lambdas."""
    left: list[ast.AST] = [node]
    while left:
        item = left.pop()
        if isinstance(item, ast.Call):
            yield item
        if not isinstance(item, (Function, ast.Lambda)):
            left += ast.iter_child_nodes(item)


def work_at_import(path: str) -> list[str]:
    """What a module does when it is imported but make values."""
    working, own = [], {node.name for node in functions(path)}
    for node in tree(path).body:
        match node:
            case ast.Assign() | ast.AnnAssign():
                names = [ast.unparse(call.func) for call in calls_at_import(node)]
                working += [n for n in names if n not in HARMLESS | own and not n[0].isupper() and "." not in n[1:]]
                working += [n for n in names if n.split(".")[0] in ("os", "socket", "subprocess", "asyncio", "open")]
            case ast.If(ast.Name("TYPE_CHECKING")) | ast.Expr(ast.Constant()):
                pass
            case ast.Import() | ast.ImportFrom() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                pass
            case _:
                working.append(ast.unparse(node)[:60])
    return [f"{path}: {work}" for work in working]


def test_an_import_does_no_work() -> None:
    modules = [path for path in files(*PROGRAM) if path != "gateway/__main__.py"]

    assert [work for path in modules for work in work_at_import(path)] == []


def state(path: str) -> list[str]:
    """What a function of a module changes of the module itself."""
    top = {
        name.id
        for node in tree(path).body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    changed = []
    for node in ast.walk(tree(path)):
        match node:
            case ast.Global(names):
                changed += names
            case ast.Call(ast.Attribute(ast.Name(name), verb)) if name in top and verb in CHANGES:
                changed.append(f"{name}.{verb}")
            case ast.Subscript(ast.Name(name), ctx=ast.Store() | ast.Del()) if name in top:
                changed.append(f"{name}[...]")
    return [f"{path}: {name}" for name in changed]


def test_a_module_keeps_no_state() -> None:
    """What a module names at its top never changes: no `global`, no constant that a function writes to."""
    assert [name for path in files(*PROGRAM) for name in state(path)] == []


def port_verbs() -> set[str]:
    """The names that protocols promise: the promise stands at the port, and an implementation need not repeat it."""
    return {
        verb.name
        for path in files(*PROGRAM)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in node.bases)
        for verb in node.body
        if isinstance(verb, Function)
    }


def undocumented(path: str, verbs: set[str]) -> Iterator[str]:
    """The public names of a file that say nothing about themselves. A value of nothing but fields says all by them."""
    module = tree(path)
    if module.body and not ast.get_docstring(module):
        yield path
    for node in module.body:
        if not isinstance(node, (ast.ClassDef, Function)) or node.name.startswith("_"):
            continue
        if not ast.get_docstring(node) and not all(isinstance(part, (ast.AnnAssign, ast.Pass)) for part in node.body):
            yield f"{path}:{node.lineno} {node.name}"
        for inner in node.body if isinstance(node, ast.ClassDef) else []:
            named = isinstance(inner, Function) and not inner.name.startswith("_")
            if named and not ast.get_docstring(inner) and inner.name not in verbs:
                yield f"{path}:{inner.lineno} {node.name}.{inner.name}"


def test_every_public_name_says_its_promise() -> None:
    verbs = port_verbs()

    assert [name for path in files(*PROGRAM) for name in undocumented(path, verbs)] == []
