"""The embedded server, with real processes: adopted by all, owned by none (DESIGN section 11, schedule F14)."""

import asyncio
import fcntl
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gateway.errors import Broken, Refused
from gateway.session.embedded import EmbeddedServer
from tests.session.embedded_user import begin, enter

PATIENCE = 30  # seconds


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Redis]:
    client = Redis.from_url(url, decode_responses=True)
    try:
        yield client
    finally:
        await client.aclose()


async def pid_of(url: str) -> int:
    async with connected(url) as client:
        return int((await client.info("server"))["process_id"])


def running(folder: Path) -> bool:
    """Whether a server holds the folder's lock, which the kernel takes from it when it is gone."""
    with (folder / "running.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


async def gone(folder: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        while running(folder):
            await asyncio.to_thread(os.sched_yield)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder, whose server is stopped when a test has failed and left it running."""
    path = tmp_path / "redis"
    yield path
    if path.exists() and running(path):
        os.kill(int((path / "running.lock").read_text()), signal.SIGKILL)


async def test_it_starts_and_answers_and_stops_with_its_only_user(folder: Path) -> None:
    async with EmbeddedServer(folder) as server:
        assert server.url.startswith("unix://")
        async with connected(server.url) as client:
            assert await client.ping()
            assert await client.config_get("appendonly") == {"appendonly": "yes"}
            assert await client.config_get("appendfsync") == {"appendfsync": "everysec"}
            assert await client.config_get("save") == {"save": ""}
            assert await client.config_get("port") == {"port": "0"}
    assert not running(folder)
    assert not (folder / "redis.sock").exists()


async def test_data_is_kept_from_one_run_to_the_next(folder: Path) -> None:
    async with EmbeddedServer(folder) as server, connected(server.url) as client:
        await client.set("key", "value")
    async with EmbeddedServer(folder) as server, connected(server.url) as client:
        assert await client.get("key") == "value"


async def test_the_server_lives_on_when_who_started_it_leaves_before_another(folder: Path) -> None:
    """F14."""
    first = await enter(folder)
    second = await enter(folder)
    assert second.url == first.url
    pid = await pid_of(first.url)
    await first.leave()
    assert await pid_of(second.url) == pid
    await second.leave()
    assert not running(folder)


async def test_the_server_lives_on_when_who_adopted_it_leaves_before_another(folder: Path) -> None:
    first = await enter(folder)
    second = await enter(folder)
    await second.leave()
    assert await pid_of(first.url)
    await first.leave()
    assert not running(folder)


async def test_two_users_in_one_process_count_as_two(folder: Path) -> None:
    async with EmbeddedServer(folder) as server:
        async with EmbeddedServer(folder):
            pass
        assert await pid_of(server.url)
    assert not running(folder)


async def test_a_server_that_outlived_a_kill_is_used_again_with_its_data_and_stopped_by_the_next(folder: Path) -> None:
    """F14."""
    first = await enter(folder)
    async with connected(first.url) as client:
        await client.set("key", "value")
    pid = await pid_of(first.url)
    await first.kill()
    assert running(folder)
    async with EmbeddedServer(folder) as server:
        assert await pid_of(server.url) == pid
        async with connected(server.url) as client:
            assert await client.get("key") == "value"
    assert not running(folder)


async def test_a_killed_user_does_not_keep_the_server_from_being_stopped(folder: Path) -> None:
    first = await enter(folder)
    second = await enter(folder)
    await first.kill()
    await second.leave()
    assert not running(folder)


async def test_a_killed_server_is_started_again_with_its_data_past_its_stale_socket(folder: Path) -> None:
    first = await enter(folder)
    async with connected(first.url) as client:
        await client.set("key", "value")
    os.kill(await pid_of(first.url), signal.SIGKILL)
    await gone(folder)
    assert (folder / "redis.sock").exists()
    async with EmbeddedServer(folder) as server, connected(server.url) as client:
        assert await client.get("key") == "value"
        await first.leave()
        assert await client.ping()
    assert not running(folder)


async def test_leaving_after_the_server_died_is_quiet(folder: Path) -> None:
    async with EmbeddedServer(folder) as server:
        os.kill(await pid_of(server.url), signal.SIGKILL)
        await gone(folder)
    assert not running(folder)


async def test_leaving_a_server_that_does_not_stop_is_quiet_and_bounded(folder: Path) -> None:
    async with EmbeddedServer(folder) as server:
        other = EmbeddedServer(folder, patience=1)
        await other.__aenter__()
        pid = await pid_of(server.url)
    os.kill(pid, signal.SIGSTOP)
    try:
        await other.__aexit__(None, None, None)
        assert running(folder)
    finally:
        os.kill(pid, signal.SIGCONT)


async def test_a_server_that_lost_its_socket_is_not_joined_by_a_second_one_on_its_data(folder: Path) -> None:
    async with EmbeddedServer(folder) as server:
        pid = await pid_of(server.url)
        (folder / "redis.sock").rename(folder / "elsewhere")
        with pytest.raises(Broken, match=f"process {pid}"):
            await EmbeddedServer(folder, patience=0.1).__aenter__()
        (folder / "elsewhere").rename(folder / "redis.sock")


async def test_a_server_that_is_stopped_in_its_tracks_is_neither_doubled_nor_waited_for_without_end(
    folder: Path,
) -> None:
    async with EmbeddedServer(folder) as server:
        pid = await pid_of(server.url)
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(Broken, match="does not answer"):
                await EmbeddedServer(folder, patience=0.1).__aenter__()
        finally:
            os.kill(pid, signal.SIGCONT)
        assert await pid_of(server.url) == pid


@pytest.mark.parametrize("name", ["with a space", "mit ümläut 漢字 🎈", "x" * 150, "quote\"d 'it", "漢" * 60])
async def test_any_folder_will_do(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    user = await enter(folder)
    async with EmbeddedServer(folder) as server:
        assert server.url == user.url
        async with connected(server.url) as client:
            assert await client.set("key", "value")
            assert await client.config_get("dir") == {"dir": str(folder)}
        await user.leave()
    assert not running(folder)


async def test_a_long_folder_has_a_private_socket_of_its_own_elsewhere(tmp_path: Path) -> None:
    """F14."""
    urls = set()
    for name in ("x" * 150, "y" * 150):
        async with EmbeddedServer(tmp_path / name) as server:
            path = Path(server.url.removeprefix("unix://"))
            assert len(os.fsencode(path)) < 104
            assert path.parent.stat().st_mode & 0o777 == 0o700
            assert path.parent.stat().st_uid == os.getuid()
            urls.add(server.url)
    assert len(urls) == 2


async def test_a_folder_is_the_same_by_any_of_its_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    (folder.parent / "link").symlink_to(folder)
    monkeypatch.chdir(folder.parent)
    link, relative = EmbeddedServer(folder.parent / "link"), EmbeddedServer(Path("redis"))
    async with EmbeddedServer(folder) as server, link, relative:
        assert server.url == relative.url == link.url


async def test_two_processes_that_start_at_the_same_moment_get_one_server(tmp_path: Path) -> None:
    for number in range(10):
        folder = tmp_path / str(number)
        users = [await begin(folder), await begin(folder)]
        await asyncio.gather(*(user.entered() for user in users))
        assert len({await pid_of(user.url) for user in users}) == 1
        await asyncio.gather(*(user.leave() for user in users))
        assert not running(folder)


async def test_many_who_come_and_go_at_once_always_find_a_server(folder: Path) -> None:
    async def visit() -> None:
        for _ in range(5):
            async with EmbeddedServer(folder) as server, connected(server.url) as client:
                await client.incr("visits")

    await asyncio.gather(*(visit() for _ in range(6)))
    async with EmbeddedServer(folder) as server, connected(server.url) as client:
        assert await client.get("visits") == "30"


async def test_the_server_inherits_its_own_lock_alone_and_not_our_terminal(folder: Path) -> None:
    async with EmbeddedServer(folder) as server:
        process = Path(f"/proc/{await pid_of(server.url)}")
        held = {path.resolve().name for path in (process / "fd").iterdir()}
        assert "running.lock" in held
        assert not held & {"start.lock", "attached.lock"}
        assert os.getsid(int(process.name)) == int(process.name)  # the terminal's Ctrl-C does not reach it


async def test_what_the_server_keeps_is_for_its_owner_alone(folder: Path) -> None:
    async with EmbeddedServer(folder):
        assert folder.stat().st_mode & 0o077 == 0
        for path in folder.rglob("*"):
            assert path.stat().st_mode & 0o077 == 0, path


async def test_a_server_that_cannot_start_says_why(folder: Path) -> None:
    folder.mkdir()
    (folder / "appendonlydir").write_text("in the way")
    with pytest.raises(Broken, match=r"does not start.*appendonlydir"):
        await EmbeddedServer(folder).__aenter__()
    assert not running(folder)


async def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Refused, match="cannot be used"):
        await EmbeddedServer(tmp_path / "file" / "redis").__aenter__()


async def test_a_start_that_is_cancelled_leaves_no_server_behind(folder: Path) -> None:
    folder.mkdir()
    stopped = 0
    for _ in range(20):
        task = asyncio.create_task(EmbeddedServer(folder).__aenter__())
        while not task.done() and not (folder / "server.log").exists():
            await asyncio.to_thread(os.sched_yield)
        task.cancel()
        try:
            server = await task
        except asyncio.CancelledError:
            stopped += 1
        else:
            await server.__aexit__(None, None, None)
        assert not running(folder)
        (folder / "server.log").unlink()
    assert stopped
