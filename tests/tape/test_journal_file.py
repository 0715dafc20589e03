"""Journals on disk, when processes die and thaw."""

import asyncio
import shutil
from pathlib import Path

import pytest

from gateway.errors import AttemptClosed, TapeMoved
from gateway.message import TurnId
from gateway.tape.filelock import locked
from gateway.tape.journal_file import JournalFolder
from tests.tape.given import (
    TAPE,
    called,
    finished,
    fork_of,
    message,
    returned,
    said,
    turn,
)
from tests.tape.on_disk import facts, opened, until_somebody_waits_for


def journals(folder: Path) -> list[Path]:
    return sorted(p for p in (folder / "journals").rglob("*") if p.is_file())


async def test_a_journal_that_was_cut_at_any_byte_gives_the_steps_before(fast: Path) -> None:
    tmp_path = fast
    claim = await opened(tmp_path).claim(TAPE, [message("m1")])
    ops = called("c1"), returned("c1", "北京\n"), said("\u2028")
    for op in ops:
        await claim.write(op)
    (path,) = journals(tmp_path)
    content = path.read_bytes()
    head = content.index(b"\n") + 1
    for cut in range(head, len(content) + 1):
        for old in journals(tmp_path):
            old.unlink()
        path.write_bytes(content[:cut])
        taken = await opened(tmp_path).claim(TAPE, [message("m1")])
        assert taken.attempt == 2
        assert taken.ops == ops[: content[:cut].count(b"\n") - 1]
        await taken.write(said("more"))
        assert (await opened(tmp_path).claim(TAPE, [message("m1")])).ops == (*taken.ops, said("more"))


async def test_a_write_after_half_a_line_loses_no_step(tmp_path: Path) -> None:
    claim = await opened(tmp_path).claim(TAPE, [message("m1")])
    await claim.write(called("c1"))
    (path,) = journals(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"op": "ret')
    await claim.write(returned("c1"), durable=True)

    assert (await opened(tmp_path).claim(TAPE, [message("m1")])).ops == (called("c1"), returned("c1"))


async def test_a_claim_whose_file_never_reached_the_disk_gives_the_steps_of_the_one_before(tmp_path: Path) -> None:
    first = await opened(tmp_path).claim(TAPE, [message("m1")])
    await first.write(called("c1"), durable=True)
    await opened(tmp_path).claim(TAPE, [message("m1")])
    journals(tmp_path)[1].write_bytes(b"")

    third = await opened(tmp_path).claim(TAPE, [message("m1")])

    assert (third.attempt, third.ops) == (3, (called("c1"),))


async def test_the_journals_of_a_recorded_turn_go_and_those_of_others_stay(tmp_path: Path) -> None:
    store = opened(tmp_path)
    await store.claim(TAPE, [message("other")])
    await store.claim(TAPE, [message("m1")])
    await turn(store, message("m1"))

    assert len(journals(tmp_path)) == 1
    assert JournalFolder(tmp_path / "journals").attempts(TAPE, TurnId("other")) == [1]


async def test_journals_that_a_crash_left_after_the_merge_do_no_harm(tmp_path: Path) -> None:
    store = opened(tmp_path)
    claim = await store.claim(TAPE, [message("m1")])
    fork = fork_of(await store.window(TAPE), claim, said())
    saved = shutil.copytree(tmp_path / "journals", tmp_path.parent / "journals")
    record = await store.merge(claim, fork, finished(claim))
    shutil.copytree(saved, tmp_path / "journals", dirs_exist_ok=True)
    before = await facts(tmp_path)

    with pytest.raises(TapeMoved):
        await opened(tmp_path).claim(TAPE, [message("m1")])
    assert await opened(tmp_path).merge(claim, fork, finished(claim, "other")) == record
    assert await facts(tmp_path) == before


async def test_a_frozen_writer_finds_its_journal_closed_by_another_process(tmp_path: Path) -> None:
    frozen = await opened(tmp_path).claim(TAPE, [message("m1")])
    with locked(tmp_path / f"{TAPE}.lock"):
        thawing = asyncio.ensure_future(frozen.write(called("c1"), durable=True))
        await until_somebody_waits_for(tmp_path / f"{TAPE}.lock")
        content = journals(tmp_path)[0].read_bytes()
        journals(tmp_path)[0].with_name(journals(tmp_path)[0].name.replace(".1.", ".2.")).write_bytes(content)

    with pytest.raises(AttemptClosed):
        await thawing
    assert journals(tmp_path)[0].read_bytes() == content
