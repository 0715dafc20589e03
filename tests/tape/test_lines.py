"""Lines are the same from either end, whatever the blocks."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.message import TurnId
from gateway.tape import lines
from gateway.tape.codec import encode
from gateway.tape.entries import Entry, Event, Message, Meta
from gateway.tape.lines import Shrunk, backward, committed, forward, highest_id
from tests.tape.given import NOW


@pytest.fixture(params=[1, 2, 3, 7, 64])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(lines, "BLOCK", request.param)
    return request.param  # type: ignore[no-any-return]


@given(content=st.lists(st.sampled_from([b"\n", b"a", b"bcd", b"{}", b"\xff\0"]), max_size=12).map(b"".join))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_both_ways_give_the_lines_of_the_file(block: int, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    expected, place = [], 0
    for data in content.split(b"\n"):
        expected.append((place, data))
        place += len(data) + 1
    with path.open("rb") as file:
        there = [(line.start, line.data) for line in forward(file.fileno(), 0, len(content))]
        back = [(line.start, line.data) for line in backward(file.fileno(), len(content))]
        for start, _ in expected:
            part = [(line.start, line.data) for line in backward(file.fileno(), len(content), start)]
            assert part == [line for line in expected if line[0] >= start][::-1]

    assert back == expected[::-1]
    assert there == (expected if expected[-1][1] else expected[:-1])


MINE, THEIRS = Meta(turn=TurnId("m1")), Meta(turn=TurnId("m0"))
OPEN = encode(Entry(1, Message("user", "x"), NOW, MINE))
MARK = encode(Entry(2, Event("turn", {}), NOW, MINE))
SIDE = encode(Entry(3, Event("audit"), NOW, Meta(turn=TurnId("m1"), context=False, more={"side": True})))
NOTE = encode(Entry(3, Event("loop.step"), NOW, Meta(turn=TurnId("m1"), context=False)))
FOREIGN = encode(Entry(4, Message("user", "x"), NOW))
BAD = b"\0\0\0\n"


@pytest.mark.parametrize(
    ("kept", "cut"),
    [
        ([], []),
        ([], [OPEN]),
        ([], [NOTE, OPEN]),
        ([OPEN, MARK], []),
        ([OPEN, MARK], [OPEN, OPEN]),
        ([OPEN, MARK], [NOTE]),
        ([OPEN, MARK, SIDE], []),
        ([OPEN, MARK, SIDE], [OPEN]),
        ([FOREIGN], [OPEN]),
        ([OPEN, FOREIGN], []),
        ([OPEN, MARK], [OPEN, BAD, OPEN]),
        ([OPEN, MARK], [OPEN, BAD]),
        ([OPEN, MARK, BAD], [OPEN]),
        ([OPEN, MARK, BAD], []),
        ([FOREIGN, BAD, BAD], []),
        ([OPEN, MARK], [MARK[:-1]]),
        ([OPEN, MARK], [OPEN, MARK[:-1]]),
        ([OPEN, MARK], [OPEN[:-5]]),
        ([OPEN, MARK], [OPEN, OPEN[:-1]]),
        ([FOREIGN, FOREIGN[:-1]], []),
        ([FOREIGN, SIDE[:-1]], []),
        ([FOREIGN], [FOREIGN[:-2]]),
    ],
)
def test_what_counts_ends_before_half_a_line_and_half_a_merge(
    block: int, tmp_path: Path, kept: list[bytes], cut: list[bytes]
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"".join(kept + cut))
    with path.open("rb") as file:
        size = path.stat().st_size
        for count in range(len(kept) + 1):
            floor = len(b"".join(kept[:count]))
            assert committed(file.fileno(), size, floor) == len(b"".join(kept))


def test_a_file_that_shrinks_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(FOREIGN * 3)
    with path.open("rb") as file:
        for read in (forward(file.fileno(), 0, 9999), backward(file.fileno(), 9999)):
            with pytest.raises(Shrunk):
                list(read)


def test_the_highest_id_is_looked_for_back_to_the_last_entry_of_ours(tmp_path: Path) -> None:
    rows = [
        Entry(90, Message("user", "x"), NOW),
        Entry(91, Event("turn"), NOW, THEIRS),
        Entry(95, Message("user", "x"), NOW),
        Entry(3, Message("user", "x"), NOW),
    ]
    path = tmp_path / "file"
    path.write_bytes(b"".join(map(encode, rows)))
    with path.open("rb") as file:
        assert highest_id(file.fileno(), path.stat().st_size) == 95
        assert highest_id(file.fileno(), len(encode(rows[0]))) == 90
        assert highest_id(file.fileno(), 0) == 0
