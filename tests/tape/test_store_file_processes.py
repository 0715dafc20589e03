"""Several processes on one folder."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from gateway.clock import Clock
from gateway.errors import Broken
from gateway.tape.entries import Event
from gateway.tape.identity import identify
from gateway.tape.query import Query
from gateway.tape.store_file import FileTapeStore
from tests.tape.given import TAPE, later

ROOT = Path(__file__).parents[2]
COUNT = 500


def writer(folder: Path, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.tape.writer_process", str(folder), name, str(COUNT)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def test_two_processes_share_a_tape_and_a_store(tmp_path: Path) -> None:
    writers = [writer(tmp_path, name) for name in ("a", "b")]
    uuids = set()
    for process in writers:
        assert process.stdout
        uuids.add(process.stdout.readline().strip())
    for process in writers:
        process.communicate("go\n", timeout=120)
        assert process.returncode == 0

    store = FileTapeStore(tmp_path, clock=Clock())
    entries = await store.fetch_all(Query(TAPE))
    sides = [e.fact.name for e in entries if isinstance(e.fact, Event) and e.fact.name.startswith(("a-", "b-"))]
    turns = [e.meta.turn for e in entries if isinstance(e.fact, Event) and e.fact.name == "turn"]

    assert uuids == {store.uuid}
    assert [entry.id for entry in entries] == list(range(1, len(entries) + 1))
    assert sorted(sides) == sorted(f"{name}-{n}" for name in "ab" for n in range(COUNT))
    assert sorted(map(str, turns)) == sorted(f"{name}-m{n}" for name in "ab" for n in range(0, COUNT, 20))
    assert set((await store.recorded(TAPE, later(days=-1))).turns) == set(turns)
    assert not (tmp_path / f"{TAPE}.torn").exists()


def test_the_workspace_that_was_given_first_stays(tmp_path: Path) -> None:
    first = FileTapeStore(tmp_path, clock=Clock(), workspace="here")
    second = FileTapeStore(tmp_path, clock=Clock(), workspace="there")

    assert (second.workspace, second.uuid) == ("here", first.uuid)
    assert json.loads((tmp_path / "store.json").read_bytes())["schema"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store.json"]


def test_of_many_that_come_first_one_names_the_store(tmp_path: Path) -> None:
    gate = Barrier(8)

    def come(folder: Path) -> str:
        gate.wait()
        return identify(folder, "here").uuid

    with ThreadPoolExecutor(8) as pool:
        for number in range(20):
            folder = tmp_path / str(number)
            folder.mkdir()
            assert len(set(pool.map(come, [folder] * 8))) == 1
            assert [path.name for path in folder.iterdir()] == ["store.json"]


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"uuid": "x", "schema": 2, "workspace": ""}', b"\xff"])
def test_a_store_whose_identity_cannot_be_read_does_not_start(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "store.json").write_bytes(content)

    with pytest.raises(Broken, match=r"store\.json"):
        FileTapeStore(tmp_path, clock=Clock())


async def test_what_the_disk_refuses_is_said_in_our_words(tmp_path: Path) -> None:
    store = FileTapeStore(tmp_path, clock=Clock())
    (tmp_path / f"{TAPE}.jsonl").mkdir()

    with pytest.raises(Broken, match="disk"):
        await store.window(TAPE)
