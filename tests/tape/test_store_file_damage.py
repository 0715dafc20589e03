"""Files that other programs wrote, changed or damaged: nothing is hidden, nothing is repaired in passing."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from gateway.message import MessageId
from gateway.tape.codec import encode
from gateway.tape.entries import Anchor, Entry, Event, Message, Meta
from gateway.tape.query import Query
from gateway.tape.store_file import FileTapeStore
from tests.support.clock import ManualClock
from tests.tape.given import NOW, TAPE, entries_of, later, message, reset, side, speech, turn

SAMPLES = Path(__file__).parent / "samples"


def opened(folder: Path) -> FileTapeStore:
    return FileTapeStore(folder, clock=ManualClock(NOW))


def numbered(count: int, start: int = 1) -> list[Entry]:
    return [Entry(n, Message("user", f"words {n}"), NOW) for n in range(start, start + count)]


def lines(entries: list[Entry]) -> list[bytes]:
    return [encode(entry) for entry in entries]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(b"\0" * 4096 + b"\n", id="a block of NULs"),
        pytest.param(encode(numbered(1, 50)[0])[:-20] + b"\xe9\x87\n", id="cut UTF-8"),
        pytest.param(b"{not json}\n", id="no JSON"),
        pytest.param(b"[1, 2]\n", id="no object"),
        pytest.param(b'{"kind": "message", "payload": {}}\n', id="no id"),
        pytest.param(b'{"id": 1' + b"0" * 5000 + b"}\n", id="a number too long"),
        pytest.param(b"[" * 100_000 + b"\n", id="too deep"),
    ],
)
async def test_damage_in_the_middle_hides_no_other_line_and_is_told_and_left(tmp_path: Path, damage: bytes) -> None:
    good = lines(numbered(100))
    content = b"".join([*good[:49], damage, *good[50:]])
    path = tmp_path / f"{TAPE}.jsonl"
    path.write_bytes(content)
    store = opened(tmp_path)

    with capture_logs() as logs:
        entries = await store.fetch_all(Query(TAPE))
        await store.fetch_all(Query(TAPE))
    added = await store.append(TAPE, [side()])

    assert [entry.id for entry in entries] == [*range(1, 50), *range(51, 101)]
    assert [(log["event"], log["lines"]) for log in logs] == [("tape.damaged", 1)]
    assert added[0].id == 101
    assert path.read_bytes().startswith(content)


@pytest.mark.parametrize(
    "lost", [pytest.param(b"\0" * 512, id="NULs"), pytest.param(encode(numbered(1, 50)[0])[:30], id="a half line")]
)
async def test_a_line_that_damage_ran_into_is_still_found(tmp_path: Path, lost: bytes) -> None:
    good = lines(numbered(100))
    (tmp_path / f"{TAPE}.jsonl").write_bytes(b"".join([*good[:49], lost, *good[50:]]))

    with capture_logs() as logs:
        entries = await opened(tmp_path).fetch_all(Query(TAPE))

    assert [entry.id for entry in entries] == [*range(1, 50), *range(51, 101)]
    assert logs


async def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    odd = "a\u2028b\u2029c\u0085d\x0be\x0cf\rg\x1ch"
    entry = Entry(1, Message("user", odd), NOW)
    raw = encode(entry)
    (tmp_path / f"{TAPE}.jsonl").write_bytes(raw)

    assert "\u2028".encode() in raw
    assert await opened(tmp_path).fetch_all(Query(TAPE)) == [entry]


async def test_lines_that_end_as_on_windows_and_blank_lines_are_no_damage(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf\n\n" + b"\r\n".join(line.rstrip(b"\n") for line in lines(numbered(3))) + b"\r\n  \n"
    (tmp_path / f"{TAPE}.jsonl").write_bytes(content[4:])

    with capture_logs() as logs:
        assert [e.id for e in await opened(tmp_path).fetch_all(Query(TAPE))] == [1, 2, 3]
    assert not logs


async def test_half_a_character_in_an_escape_is_read_as_a_sign_that_it_is_lost(tmp_path: Path) -> None:
    (tmp_path / f"{TAPE}.jsonl").write_bytes(
        b'{"id": 1, "kind": "message", "payload": {"role": "user", "content": "a\\ud83d b \\ud83d\\ude00"}}\n'
    )

    assert speech(await opened(tmp_path).fetch_all(Query(TAPE))) == ["a\ufffd b 😀"]


@pytest.mark.parametrize("sample", ["0.2-form", "0.5.1", "0.6.0a3"])
async def test_a_tape_of_another_program_is_read_and_continued(tmp_path: Path, sample: str) -> None:
    content = (SAMPLES / f"bub-{sample}.jsonl").read_bytes()
    path = tmp_path / f"{TAPE}.jsonl"
    path.write_bytes(content)
    store = opened(tmp_path)
    before = await store.fetch_all(Query(TAPE))
    count = content.count(b"\n")

    window = await store.window(TAPE)
    await turn(store, message("m1", "ours"))

    assert [entry.id for entry in before] == list(range(1, count + 1))
    assert window.version == count
    assert window.anchor is not None
    assert path.read_bytes().startswith(content)
    assert (await store.fetch_all(Query(TAPE)))[count].id == count + 1
    assert "ours" in speech((await store.window(TAPE)).entries)


async def test_duplicate_and_falling_ids_are_kept_and_new_ones_are_above_all(tmp_path: Path) -> None:
    entries = [Entry(n, Message("user", f"{n}"), NOW) for n in (7, 7, 90, 3, 3)]
    entries.insert(3, Entry(4, Anchor("phase"), NOW))
    (tmp_path / f"{TAPE}.jsonl").write_bytes(b"".join(lines(entries)))
    store = opened(tmp_path)

    assert await store.fetch_all(Query(TAPE)) == entries
    assert (await store.append(TAPE, [side()]))[0].id == 91
    await turn(store, message("m1"))
    assert (await opened(tmp_path).append(TAPE, [side()]))[0].id == (await store.fetch_all(Query(TAPE)))[-1].id


async def test_a_whole_last_line_of_another_program_counts_and_is_completed_by_a_writer(tmp_path: Path) -> None:
    content = b"".join(lines(numbered(3)))[:-1]
    path = tmp_path / f"{TAPE}.jsonl"
    path.write_bytes(content)
    store = opened(tmp_path)

    assert len(await store.fetch_all(Query(TAPE))) == 3
    assert path.read_bytes() == content
    await store.append(TAPE, [side()])
    assert path.read_bytes().startswith(content + b"\n")
    assert [e.id for e in await store.fetch_all(Query(TAPE))] == [1, 2, 3, 4]


async def test_a_half_last_line_of_another_program_is_put_aside(tmp_path: Path) -> None:
    content = b"".join(lines(numbered(3)))
    path = tmp_path / f"{TAPE}.jsonl"
    path.write_bytes(content[:-30])
    store = opened(tmp_path)

    assert len(await store.fetch_all(Query(TAPE))) == 2
    await store.append(TAPE, [side()])
    assert [e.id for e in await store.fetch_all(Query(TAPE))] == [1, 2, 3]
    assert (tmp_path / f"{TAPE}.torn").read_bytes() == encode(numbered(3)[2])[:-30] + b"\n"


async def test_what_another_program_writes_behind_our_back_is_seen(tmp_path: Path) -> None:
    store = opened(tmp_path)
    await turn(store, message("m1"))
    base = await store.window(TAPE)
    with (tmp_path / f"{TAPE}.jsonl").open("ab") as file:
        file.write(encode(Entry(base.version + 1, Message("user", "theirs"), NOW)))

    window = await store.window(TAPE)

    assert window.version == base.version + 1
    assert speech(window.entries)[-1] == "theirs"
    assert (await store.append(TAPE, [side()]))[0].id == window.version + 1


@pytest.mark.parametrize("way", ["replaced", "written over", "cut", "cut and grown", "changed in place", "removed"])
async def test_a_file_that_was_changed_by_others_is_read_anew(tmp_path: Path, way: str) -> None:
    path = tmp_path / f"{TAPE}.jsonl"
    path.write_bytes(b"".join(lines([Entry(1, Anchor("a"), NOW), *numbered(5, 2)])))
    store = opened(tmp_path)
    await store.window(TAPE)
    await store.recorded(TAPE, later(days=-1))
    other = lines([Entry(1, Anchor("b"), NOW), *numbered(8, 12)])
    match way:
        case "replaced":
            (tmp_path / "x").write_bytes(b"".join(other))
            (tmp_path / "x").replace(path)
        case "written over":
            path.write_bytes(b"".join(other))
        case "cut":
            os.truncate(path, len(b"".join(lines([Entry(1, Anchor("a"), NOW), *numbered(2, 2)]))))
        case "cut and grown":
            os.truncate(path, 0)
            path.write_bytes(b"".join(other * 2))
        case "changed in place":
            path.write_bytes(path.read_bytes().replace(b"words 3", b"sdrow 3"))
            os.utime(path, ns=(1, 1))
        case "removed":
            path.unlink()

    assert await store.window(TAPE) == await opened(tmp_path).window(TAPE)
    assert await store.fetch_all(Query(TAPE)) == await opened(tmp_path).fetch_all(Query(TAPE))


async def test_a_damaged_record_hides_neither_the_turn_nor_the_tape(tmp_path: Path) -> None:
    data = {"turn": "m1", "messages": ["m1"], "outcome": "finished", "reply": {"turn": 1}}
    mark = Entry(1, Event("turn", data), NOW, Meta())  # type: ignore[arg-type]
    (tmp_path / f"{TAPE}.jsonl").write_bytes(encode(mark))

    assert (await opened(tmp_path).recorded(TAPE, later(days=-1))).find(MessageId("m1"))


async def test_the_index_goes_back_through_archives_by_date_and_no_further(tmp_path: Path) -> None:
    clock = ManualClock(NOW)
    store = FileTapeStore(tmp_path, clock=clock)
    for day in range(6):
        await turn(store, message(f"m{day}", at=clock.now()))
        await reset(store, f"r{day}")
        clock.advance(timedelta(days=1).total_seconds())
    for path in sorted(tmp_path.glob("*.bak"))[:2]:
        path.chmod(0)
        path.unlink()
        path.mkdir()  # whoever opens it fails

    found = set((await FileTapeStore(tmp_path, clock=clock).recorded(TAPE, later(days=2, hours=-1))).messages)

    assert {"m2", "r2", "m3", "r3", "m4", "r4", "m5", "r5"} <= found


async def test_an_index_goes_back_further_when_asked_and_does_not_grow_for_ever(tmp_path: Path) -> None:
    clock = ManualClock(NOW)
    store = FileTapeStore(tmp_path, clock=clock)
    await turn(store, message("m0"))
    await turn(store, message("m1"))
    clock.advance(timedelta(days=30).total_seconds())
    await turn(store, message("m2", at=clock.now()))
    day = timedelta(days=1)

    assert "m0" not in (await store.recorded(TAPE, clock.now() - day)).messages
    assert set((await store.recorded(TAPE, NOW - day)).messages) == {"m0", "m1", "m2"}
    clock.advance(1)
    await turn(store, message("m3", at=clock.now()))
    assert set((await store.recorded(TAPE, NOW - day)).messages) == {"m0", "m1", "m2", "m3"}


async def test_the_cost_of_a_look_follows_the_window_and_not_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"{TAPE}.jsonl"
    old = [Entry(n, Message("user", f"words {n}"), later(days=-30)) for n in range(1, 20_000)]
    path.write_bytes(b"".join(lines(old)))
    with path.open("ab") as file:
        file.write(b"".join(lines([Entry(30_000, Anchor("phase"), NOW), *numbered(5, 30_001)])))
    store = opened(tmp_path)
    await turn(store, message("m1"))
    read, pread = [0], os.pread

    def counted(fd: int, count: int, start: int) -> bytes:
        read[0] += count
        return pread(fd, count, start)

    monkeypatch.setattr(os, "pread", counted)
    cold = opened(tmp_path)
    window = await cold.window(TAPE)
    await turn(cold, message("m2"))
    first, read[0] = read[0], 0
    await turn(cold, message("m3"))

    assert (window.generation, speech(window.entries)[-2:]) == (1, ["hello", "answer"])
    assert path.stat().st_size > 2_000_000
    assert first < 500_000
    assert read[0] < 100_000


async def test_entries_survive_in_the_cache_as_on_disk(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for number in range(5):
        await turn(store, message(f"m{number}", "a\ud800b"))
        await store.append(TAPE, [side()])

        assert await store.window(TAPE) == await opened(tmp_path).window(TAPE)
    assert await store.fetch_all(Query(TAPE)) == entries_of((tmp_path / f"{TAPE}.jsonl").read_bytes())
