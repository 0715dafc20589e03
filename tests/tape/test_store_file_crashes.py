"""A process dies at every place of a write, and the tape is straight."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.errors import TapeMoved
from gateway.tape.codec import encode
from gateway.tape.entries import Entry, Event, Meta
from gateway.tape.filelock import locked
from gateway.tape.fork import note
from gateway.tape.query import Query
from gateway.tape.store_file import FileTapeStore
from tests.tape.given import (
    NOW,
    TAPE,
    called,
    entries_of,
    finished,
    fork_of,
    later,
    message,
    reset,
    returned,
    said,
    side,
    speech,
    turn,
)
from tests.tape.on_disk import facts, opened, until_somebody_waits_for


async def rich_turn(store: FileTapeStore, name: str) -> None:
    """A turn that begins with a note, as one that only runs a command does, and says odd letters."""
    claim = await store.claim(TAPE, [message(name, "重点\u2028😀")])
    fork = fork_of(await store.window(TAPE), claim, called("c1"), returned("c1", "\n"), said())
    fork._body.insert(0, fork_of(await store.window(TAPE), claim, note("command", {"name": "x"}, NOW)).drafts[-1])
    await store.merge(claim, fork, finished(claim))


@pytest.fixture(params=["a first turn", "a later turn", "a turn after facts from the side"])
async def merged(request: pytest.FixtureRequest, fast: Path) -> tuple[Path, bytes, bytes]:
    """A folder, its tape before a merge, and after it."""
    folder = fast / "tapes"
    path = folder / f"{TAPE}.jsonl"
    store = opened(folder)
    if request.param != "a first turn":
        await turn(store, message("m0"))
    if request.param == "a turn after facts from the side":
        await store.append(TAPE, [side(turn="m0"), side(), side(turn="m1")])
    before = path.read_bytes() if path.exists() else b""
    await rich_turn(store, "m1")
    return folder, before, path.read_bytes()


async def test_a_merge_that_was_cut_at_any_byte_is_no_part_of_the_tape(merged: tuple[Path, bytes, bytes]) -> None:
    """F5."""
    folder, before, after = merged
    path = folder / f"{TAPE}.jsonl"
    old = entries_of(before)
    warm = opened(folder)
    for cut in range(len(before), len(after)):
        path.write_bytes(after[:cut])
        for reader in (warm, opened(folder)):
            assert await reader.fetch_all(Query(TAPE)) == old
            window = await reader.window(TAPE)
            assert window.version == max((e.id for e in old if e.moves), default=0)
            if cut % 10 == 0 or cut > len(after) - 3:
                assert "m1" not in (await reader.recorded(TAPE, later(days=-1))).messages
                assert await reader.list_tapes() == ([TAPE] if old else [])
        assert path.read_bytes() == after[:cut], "a reader has written"


async def test_the_next_writer_puts_half_a_merge_aside_whatever_it_writes(merged: tuple[Path, bytes, bytes]) -> None:
    """F5."""
    folder, before, after = merged
    path, torn = folder / f"{TAPE}.jsonl", folder / f"{TAPE}.torn"
    last = max((e.id for e in entries_of(before)), default=0)
    for number, cut in enumerate(range(len(before), len(after))):
        path.write_bytes(after[:cut])
        torn.unlink(missing_ok=True)
        store = opened(folder)
        if number % 10 == 0:
            await turn(store, message("m2"))
        else:
            await store.append(TAPE, [side()])
        content = path.read_bytes()
        assert content.startswith(before)
        assert entries_of(content[len(before) :])[0].id == last + 1
        assert "m1" not in (await store.recorded(TAPE, later(days=-1))).messages
        if cut > len(before):
            assert torn.read_bytes().removesuffix(b"\n") == after[len(before) : cut].removesuffix(b"\n")
        else:
            assert not torn.exists()


async def test_a_whole_merge_is_left_alone(merged: tuple[Path, bytes, bytes]) -> None:
    folder, _, after = merged
    await opened(folder).append(TAPE, [side()])

    assert (folder / f"{TAPE}.jsonl").read_bytes().startswith(after)
    assert not (folder / f"{TAPE}.torn").exists()


async def test_a_reader_beside_a_writer_sees_the_merge_when_it_is_whole(merged: tuple[Path, bytes, bytes]) -> None:
    """F7: readers never write."""
    folder, before, after = merged
    path = folder / f"{TAPE}.jsonl"
    path.write_bytes(before)
    reader = opened(folder)
    with path.open("ab", buffering=0) as writer:
        for start in range(len(before), len(after), 97):
            assert await reader.fetch_all(Query(TAPE)) == entries_of(before)
            writer.write(after[start : start + 97])

    assert await reader.fetch_all(Query(TAPE)) == entries_of(after)
    assert (await reader.window(TAPE)) == (await opened(folder).window(TAPE))


async def test_a_long_merge_that_was_cut_between_two_lines_is_no_part_of_the_tape(tmp_path: Path) -> None:
    store = opened(tmp_path)
    await turn(store, message("m0"))
    before = (tmp_path / f"{TAPE}.jsonl").read_bytes()
    claim = await store.claim(TAPE, [message("m1", "x" * 100_000)])
    notes = (note("loop.step", {"n": n, "pad": "y" * 1000}, NOW) for n in range(300))
    await store.merge(claim, fork_of(await store.window(TAPE), claim, *notes, said()), finished(claim))
    lines = (tmp_path / f"{TAPE}.jsonl").read_bytes()[len(before) :].splitlines(keepends=True)

    for count in (1, 2, 150, len(lines) - 1):
        (tmp_path / f"{TAPE}.jsonl").write_bytes(before + b"".join(lines[:count]))
        assert await facts(tmp_path) == entries_of(before)


async def test_facts_from_the_side_need_no_mark(tmp_path: Path) -> None:
    store = opened(tmp_path)
    await store.append(TAPE, [side(turn="m1"), side()])
    added = await store.append(TAPE, [side(turn="m1")])

    assert (await facts(tmp_path))[-1:] == list(added)
    await opened(tmp_path).append(TAPE, [side()])
    assert len(await facts(tmp_path)) == 4
    assert not (tmp_path / f"{TAPE}.torn").exists()


async def test_a_writer_that_waits_while_the_tape_is_archived_lands_on_the_new_one(tmp_path: Path) -> None:
    """F6."""
    store, other = opened(tmp_path), opened(tmp_path)
    await turn(store, message("m1"))
    path, archive = tmp_path / f"{TAPE}.jsonl", tmp_path / f"{TAPE}.jsonl.20261201T090000Z.bak"
    old = path.read_bytes()
    await reset(other, "r1")
    new = path.read_bytes()
    path.write_bytes(old)
    archive.unlink()
    with locked(tmp_path / f"{TAPE}.lock"):
        waiting = asyncio.ensure_future(store.append(TAPE, [side("late")]))
        await until_somebody_waits_for(tmp_path / f"{TAPE}.lock")
        path.rename(archive)
        path.write_bytes(new)
    await waiting

    assert archive.read_bytes() == old
    entries = await facts(tmp_path)
    assert entries[:-1] == entries_of(new)
    assert entries[-1].id == entries_of(new)[-1].id + 1


async def test_a_merge_that_waits_while_the_tape_is_archived_is_refused(tmp_path: Path) -> None:
    """F6."""
    store, other = opened(tmp_path), opened(tmp_path)
    await turn(store, message("m0"))
    claim = await store.claim(TAPE, [message("m1")])
    fork = fork_of(await store.window(TAPE), claim, said())
    with locked(tmp_path / f"{TAPE}.lock"):
        first = asyncio.ensure_future(reset(other, "r1"))
        await until_somebody_waits_for(tmp_path / f"{TAPE}.lock")
    await first

    with pytest.raises(TapeMoved):
        await store.merge(claim, fork, finished(claim))


def states_of_a_reset(folder: Path, old: bytes, new: bytes) -> Iterator[str]:
    """Puts the folder into each state that a crash in a reset can leave, and names it."""
    path, prepared = folder / f"{TAPE}.jsonl", folder / f"{TAPE}.jsonl.new"
    archive = folder / f"{TAPE}.jsonl.20261201T090000Z.bak"

    def put(living: bytes | None, coming: bytes | None, archived: bytes | None) -> None:
        for place, content in ((path, living), (prepared, coming), (archive, archived)):
            place.unlink(missing_ok=True)
            if content is not None:
                place.write_bytes(content)

    for cut in range(0, len(new) + 1, 7):
        put(old or None, new[:cut], None)
        yield "old"
    put(old or None, new, None)
    yield "old" if old else "new"
    if old:
        put(None, new, old)
        yield "new"
    put(new, None, old or None)
    yield "new"


@pytest.mark.parametrize("first", [False, True])
async def test_a_crash_anywhere_in_a_reset_leaves_the_old_tape_or_archive_and_new_one(
    tmp_path: Path, first: bool
) -> None:
    """F6."""
    folder = tmp_path / "tapes"
    store = opened(folder)
    path = folder / f"{TAPE}.jsonl"
    if not first:
        await turn(store, message("m1"))
    old = path.read_bytes() if not first else b""
    await reset(store, "r1")
    new = path.read_bytes()
    for expected in states_of_a_reset(folder, old, new):
        content = old if expected == "old" else new
        listing = sorted(p.name for p in folder.iterdir())
        assert await facts(folder) == entries_of(content)
        assert await opened(folder).list_tapes() == ([TAPE] if content else [])
        assert sorted(p.name for p in folder.iterdir()) == listing, "a reader has written"
        again = opened(folder)
        if expected == "new":
            assert "r1" in (await again.recorded(TAPE, later(days=-1))).messages
            with pytest.raises(TapeMoved):
                await again.claim(TAPE, [message("r1")])
        await again.append(TAPE, [side()])
        assert path.read_bytes().startswith(content)
        assert not (folder / f"{TAPE}.jsonl.new").exists()
        archives = [p.read_bytes() for p in folder.glob("*.bak")]
        assert archives == ([old] if expected == "new" and old else [])
        assert (await facts(folder))[-1].id == max((e.id for e in entries_of(content)), default=0) + 1


async def test_archives_are_never_overwritten(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for number in range(4):
        await turn(store, message(f"m{number}", f"words {number}"))
        await reset(store, f"r{number}")

    archives = sorted(tmp_path.glob(f"{TAPE}.jsonl.*.bak"))
    assert [p.name[len(TAPE) + 7 : -4] for p in archives] == [f"20261201T09000{n}Z" for n in range(4)]
    assert [speech(entries_of(p.read_bytes()))[0] for p in archives] == [f"words {n}" for n in range(4)]


async def test_a_discarded_tape_is_deleted(tmp_path: Path) -> None:
    store = opened(tmp_path)
    await turn(store, message("m1", "secret words"))
    await reset(store, "r1", archive=False)

    assert not [p for p in tmp_path.rglob("*") if p.is_file() and b"secret" in p.read_bytes()]
    assert (await store.window(TAPE)).generation > 1


async def test_ids_go_on_when_the_tape_was_archived_by_hand(tmp_path: Path) -> None:
    store = opened(tmp_path)
    await turn(store, message("m1"))
    last = (await facts(tmp_path))[-1].id
    (tmp_path / f"{TAPE}.jsonl").rename(tmp_path / f"{TAPE}.jsonl.20261201T080000Z.bak")

    assert [entry.id for entry in await store.append(TAPE, [side()])] == [last + 1]


async def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    store = opened(tmp_path / "tapes")
    await turn(store, message("m1"))
    await reset(store, "r1")
    await store.claim(TAPE, [message("m2")])
    with (tmp_path / "tapes" / f"{TAPE}.jsonl").open("ab") as file:
        file.write(b"half")
    await store.append(TAPE, [side()])

    paths = [p for p in (tmp_path / "tapes").rglob("*") if p.is_file()]
    assert len(paths) == 6
    assert {p.stat().st_mode & 0o077 for p in paths} == {0}


async def test_a_mark_from_a_merge_is_what_ends_it_not_the_word(tmp_path: Path) -> None:
    foreign = Entry(1, Event("turn", {"about": "something else"}), NOW, Meta())
    (tmp_path / f"{TAPE}.jsonl").write_bytes(encode(foreign))

    assert await facts(tmp_path) == [foreign]
