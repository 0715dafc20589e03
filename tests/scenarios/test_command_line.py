"""The command line beside a running gateway, and without one."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.gateway import REPOSITORY, Home
from tests.support.page import Page

pytestmark = pytest.mark.asyncio(loop_scope="module")

SESSION = "web/local/main"
NO_SDK = ("aiogram", "aiohttp", "openai", "pydantic", "rapidfuzz", "redis", "structlog", "markdown_it")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home() -> AsyncIterator[Home]:
    """A home whose page has seen two exchanges and a handoff; its gateway still runs."""
    async with Home() as folder:
        gateway = await folder.start()
        async with Page(gateway) as page:
            await page.asks("the heron nests in the reeds")
            await page.asks("/handoff part-two a note")
            await page.asks("what time is it?")
        yield folder
        assert gateway.alive, gateway.told()


async def told(*words: str) -> tuple[int, str, str]:
    """A Python program that uses the command line, and says what it loaded."""
    code = (
        f"import sys; from gateway.cli import main\ntry: main({list(words)!r})\n"
        "finally: sys.stderr.write(' '.join(sys.modules))"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code),
        cwd=REPOSITORY,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("run", "--help"), ("tape", "--help")], ids=" ".join)
async def test_help_loads_no_sdk(words):
    """Contents 1: `gateway --help` imports no SDK and answers at once."""
    _, out, loaded = await told(*words)
    assert "gateway" in out
    assert not [module for module in NO_SDK if module in loaded.split()]


async def test_help_names_what_is_there_and_nothing_of_later():
    """Contents 7: what later releases bring is absent from `--help`."""
    _, out, _ = await told("--help")
    assert all(name in out for name in ("init", "run", "chat", "doctor", "tape", "access"))
    assert not [name for name in ("sessions", "inbox", "outbox") if f" {name} " in out]
    _, out, _ = await told("tape", "--help")
    assert all(name in out for name in ("list", "show", "search", "anchors"))
    assert not [name for name in ("view", "export", "import", "verify", "prune", "erase") if f" {name} " in out]


@pytest.mark.parametrize(
    "words",
    [
        ("sessions", "list"),
        ("inbox", "list"),
        ("outbox", "retry"),
        ("tape", "view", "x"),
        ("tape", "export", "x"),
        ("tape", "verify"),
        ("tape", "prune"),
        ("tape", "erase", "x"),
        ("tape", "verify", "--repair"),
        ("tape", "export", "x", "--json"),
        ("--config", "none.toml", "inbox", "--help"),
    ],
    ids=" ".join,
)
async def test_what_later_releases_bring_is_refused_in_so_many_words(home, words):
    """Contents 7: "not in this release", exit 2, one line."""
    told = await home.run(*words)
    assert told.status == 2
    [line] = told.err.splitlines()
    assert "not in this release" in line


@pytest.mark.parametrize(
    "words", [("tape",), ("nonsense",), ("tape", "show"), ("access", "approve"), ("run", "--what")]
)
async def test_a_wrong_usage_is_exit_2(home, words):
    """DESIGN 11: exit status 2 for wrong usage."""
    told = await home.run(*words)
    assert told.status == 2
    assert told.err


async def test_tape_list_names_each_tape_with_its_session(home):
    """Contents 7: `tape list --json` -> {"tape", "session", "entries", ...}, beside a running gateway."""
    told = await home.run("tape", "list", "--json")
    assert told.status == 0, told.err
    [row] = [r for r in told.rows if r["session"] == SESSION]
    assert row["entries"] == len(await home.tape(SESSION))
    plain = await home.run("tape", "list")
    assert SESSION in plain.out
    assert row["tape"] in plain.out


async def test_tape_show_prints_the_entries_as_they_stand_on_disk(home):
    """Contents 7: by session key and by tape name."""
    by_key = await home.run("tape", "show", SESSION, "--json")
    assert by_key.rows == home.lines(SESSION)
    [row] = [r for r in (await home.run("tape", "list", "--json")).rows if r["session"] == SESSION]
    assert (await home.run("tape", "show", row["tape"], "--json")).out == by_key.out
    assert "the heron nests in the reeds" in (await home.run("tape", "show", SESSION)).out


async def test_tape_search_finds_words_over_anchors_and_says_so_when_there_are_none(home):
    """Contents 7: exit 0 with hits, 1 without."""
    found = await home.run("tape", "search", SESSION, "heron", "--json")
    assert found.status == 0
    assert "the heron nests in the reeds" in [r["payload"].get("content") for r in found.rows]
    assert "heron" in (await home.run("tape", "search", SESSION, "heron")).out
    assert (await home.run("tape", "search", SESSION, "xylophone quartz")).status == 1


async def test_tape_anchors_lists_the_phases(home):
    """Contents 7."""
    told = await home.run("tape", "anchors", SESSION, "--json")
    assert [r["payload"]["name"] for r in told.rows] == ["session/start", "part-two"]


@pytest.mark.parametrize("act", ["show", "search", "anchors"])
async def test_a_tape_that_is_not_there_is_one_line_and_exit_1(home, act):
    """DESIGN 11: the thing asked failed."""
    words = ("heron",) if act == "search" else ()
    told = await home.run("tape", act, "web/local/nowhere", *words)
    assert told.status == 1
    assert len(told.err.splitlines()) == 1
    assert not told.out


async def test_doctor_says_what_works_and_what_to_do(home):
    """Contents 7: with nothing set, and beside a running gateway."""
    told = await home.run("doctor", "--json")
    assert told.status == 0, told.out
    found = {row["part"]: row for row in told.rows}
    assert found["model"]["state"] == "warn"
    assert "OPENAI_API_KEY" in found["model"]["advice"]
    assert {found[part]["state"] for part in ("data folder", "Redis", "tapes", "telegram")} == {"ok"}
    assert "ok   Redis" in (await home.run("doctor")).out


async def test_doctor_names_what_does_not_work(home):
    """Contents 7: exit 1, each with advice; secrets are not shown."""
    token = "77:" + "AAsecretsecret" * 3
    nowhere = {"model__base_url": "http://127.0.0.1:1/v1", "telegram__api_base": "http://127.0.0.1:1"}
    told = await home.run(
        "doctor", "--json", redis__url="redis://:hunter2hunter2@127.0.0.1:1", telegram__token=token, **nowhere
    )
    assert told.status == 1
    found = {row["part"]: row for row in told.rows}
    assert {part for part, row in found.items() if row["state"] == "fail"} == {"Redis", "model", "telegram"}
    assert all(row["advice"] for row in found.values() if row["state"] == "fail")
    assert token not in told.out + told.err
    assert "hunter2" not in told.out + told.err


async def test_chat_answers_a_pipe_and_ends_with_it(home):
    """DESIGN 11: `gateway chat` beside a running gateway, on the same data."""
    told = await home.run("chat", "--session", "piped", stdin="hello\n/status\nwhat time is it?\n")
    assert told.status == 0, told.err
    assert "demo" in told.out.lower()
    assert "Nothing is running" in told.out
    rows = (await home.run("tape", "show", "terminal/piped/local", "--json")).rows
    said = [r["payload"]["content"] for r in rows if r["kind"] == "message" and r["payload"]["role"] == "user"]
    assert said == ["hello", "what time is it?"]
    assert all(json.dumps(r) for r in rows)


async def test_the_command_line_works_without_a_gateway():
    """DESIGN 11: beside a running gateway and without one."""
    async with Home() as folder:
        chat = await folder.run("chat", stdin="hello\n")
        assert chat.status == 0, chat.err
        shown = await folder.run("tape", "show", "terminal/main/local", "--json")
        assert "hello" in [r["payload"].get("content") for r in shown.rows]
        assert (await folder.run("tape", "list", "--json")).status == 0
        memory = await folder.run("tape", "list", tape__store="memory")
        assert memory.status == 2
        assert len(memory.err.splitlines()) == 1
