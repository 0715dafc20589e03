"""The gateway as people run it: `python -m gateway run`, a process of its own, in a home that a test throws away."""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from gateway.clock import Clock
from gateway.tape.entries import Entry
from gateway.tape.name import tape_name
from gateway.tape.query import Query
from gateway.tape.store_file import FileTapeStore
from tests.platforms.discord import FakeDiscord
from tests.platforms.openai import FakeOpenAI
from tests.platforms.server import Bell
from tests.platforms.slack import FakeSlack
from tests.platforms.telegram import FakeTelegram
from tests.support.locks import is_locked

T = TypeVar("T")

REPOSITORY = Path(__file__).parents[2]
PATIENCE = 60.0
"""Seconds for anything that a gateway does: long, since tests may share a busy machine."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a command said. `rows`: its output as one JSON object a line."""

    status: int
    out: str
    err: str

    @property
    def rows(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


class Gateway:
    """One running `gateway run`. `out`: the lines of its standard output; `log`: its log as objects, oldest first."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process, self._bell = process, Bell()
        self.out: list[str] = []
        self.log: list[dict[str, Any]] = []
        self.raw: list[str] = []
        assert process.stdout
        assert process.stderr
        self._readers = [
            asyncio.create_task(self._read(process.stdout, self.out.append)),
            asyncio.create_task(self._read(process.stderr, self._log_line)),
        ]

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    @property
    def is_polling(self) -> bool:
        """Whether it receives from Telegram, as far as it has said."""
        told = [line["state"] for line in self.log if line["event"] == "telegram.health"]
        return self.alive and told[-1:] == ["connected"]

    @property
    def link(self) -> str:
        """The login link of the chat page. AssertionError before it is printed."""
        found = self._link()
        assert found, self.told()
        return found

    @property
    def origin(self) -> str:
        """Where the page is served, without a slash at the end."""
        return self.link.partition("/?")[0]

    def told(self) -> str:
        """The end of all that it said, for a failure's message."""
        return "\n".join([f"exit status {self._process.returncode}", *self.out[-3:], *self.raw[-15:]])

    async def ready(self) -> Self:
        """Returns when the page is served."""
        await self.until(self._link)
        return self

    async def polls(self) -> Self:
        """Returns when it receives from Telegram."""
        return await self.connected("telegram")

    async def connected(self, *channels: str) -> Self:
        """Returns when these channels are connected, for a worker: when they can send."""
        for channel in channels:
            await self.logged(f"{channel}.health", state="connected")
        return self

    async def logged(self, event: str, *, count: int = 1, **fields: object) -> dict[str, Any]:
        """The `count`-th log line of this event with these fields, once it is there."""

        def found() -> dict[str, Any] | None:
            lines = [line for line in self.log if {"event": event, **fields}.items() <= line.items()]
            return lines[count - 1] if len(lines) >= count else None

        return await self.until(found)

    async def until(self, seen: Callable[[], T | None], timeout: float = PATIENCE) -> T:
        """What `seen` answers once that is true; looked at after each line. Ends early when the process does."""
        try:
            value = await self._bell.until(lambda: seen() or not self._reads(), timeout)
        except TimeoutError as late:
            raise AssertionError(f"not seen in {timeout:.0f} s; {self.told()}") from late
        found = seen()
        assert found, f"the process ended before; {self.told()} {value}"
        return found

    def signal(self, number: int) -> None:
        """Any signal, to this process alone."""
        self._process.send_signal(number)

    def freeze(self) -> None:
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal(signal.SIGCONT)

    async def kill(self) -> None:
        """kill -9. What it began goes on without it: its embedded server lives on."""
        with suppress(ProcessLookupError):
            self.signal(signal.SIGKILL)
        await self.ended()

    async def stop(self) -> int:
        """SIGTERM; the exit status."""
        with suppress(ProcessLookupError):
            self.signal(signal.SIGTERM)
        return await self.ended()

    async def ended(self, timeout: float = PATIENCE) -> int:
        """The exit status, once it ended by itself."""
        try:
            async with asyncio.timeout(timeout):
                await asyncio.wait(self._readers)  # a gather that is cancelled would cancel them
                return await self._process.wait()
        except TimeoutError as late:
            raise AssertionError(f"it does not end; {self.told()}") from late

    def _link(self) -> str | None:
        links = [line.partition("Open the chat page: ")[2] for line in self.out if "Open the chat page: " in line]
        return links[-1] if links else None

    def _reads(self) -> bool:
        return not all(reader.done() for reader in self._readers)

    def _log_line(self, line: str) -> None:
        self.raw.append(line)
        with suppress(ValueError):
            if isinstance(row := json.loads(line), dict):
                self.log.append(row)

    async def _read(self, stream: asyncio.StreamReader, keep: Callable[[str], None]) -> None:
        try:
            async for line in stream:
                keep(line.decode(errors="replace").rstrip("\n"))
                self._bell.ring()
        finally:
            asyncio.get_running_loop().call_soon(self._bell.ring)  # when this task is done


class Home:
    """`async with Home(telegram, model) as home:` a data folder, the gateways that use it, and nothing left of either.

    Gateways get the settings that point them at the fakes, and `settings` (`web__port="0"`) over them; else their
    environment is empty.
    """

    def __init__(
        self,
        telegram: FakeTelegram | None = None,
        model: FakeOpenAI | None = None,
        *,
        discord: FakeDiscord | None = None,
        slack: FakeSlack | None = None,
        **settings: str | None,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gw", dir="/tmp"))  # short: a socket's path has 107 bytes
        self.data = self.folder / "data"
        self.gateways: list[Gateway] = []
        self._settings: dict[str, str | None] = {"data_dir": str(self.data), "web__port": "0", "log__format": "json"}
        if telegram is not None:
            self._settings |= {"telegram__token": telegram.token, "telegram__api_base": telegram.url}
        if discord is not None:
            self._settings |= {
                "discord__token": discord.token,
                "discord__api_base": discord.url,
                "discord__gateway_url": discord.gateway_url,
            }
        if slack is not None:
            self._settings |= {
                "slack__bot_token": slack.bot_token,
                "slack__app_token": slack.app_token,
                "slack__api_base": slack.url,
            }
        if model is not None:
            self._settings |= {
                "model__base_url": model.url,
                "model__api_key": "key-of-the-tests",
                "model__name": model.models[0],
            }
        self._settings |= settings
        self._store: FileTapeStore | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for gateway in self.gateways:
            await gateway.kill()
        await self.end_embedded()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def start(self, role: str = "all", **settings: str | None) -> Gateway:
        """A gateway whose page is served."""
        return await (await self.begin(role, **settings)).ready()

    async def begin(self, role: str = "all", **settings: str | None) -> Gateway:
        """A gateway that has only just been started."""
        pipe = asyncio.subprocess.PIPE
        words = ("run", "--role", role)
        process = await self._spawn(*words, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe, **settings)
        self.gateways.append(Gateway(process))
        return self.gateways[-1]

    async def run(self, *words: str, stdin: str = "", **settings: str | None) -> Told:
        """`gateway <words>` until it ends."""
        pipe = asyncio.subprocess.PIPE
        process = await self._spawn(*words, stdin=pipe, stdout=pipe, stderr=pipe, **settings)
        try:
            async with asyncio.timeout(PATIENCE):
                out, err = await process.communicate(stdin.encode())
        except TimeoutError:
            process.kill()
            out, err = await process.communicate()
            raise AssertionError(f"`gateway {' '.join(words)}` does not end: {out!r} {err!r}") from None
        return Told(process.returncode or 0, out.decode(), err.decode())

    async def tape(self, session: str) -> Sequence[Entry]:
        """The entries of a session's tape, as the store reads them beside running gateways."""
        store = self._store = self._store or FileTapeStore(self.data / "tapes", workspace=str(self.data), clock=Clock())
        return await store.fetch_all(Query(tape_name(store.workspace, session)))

    def lines(self, session: str, pattern: str = ".jsonl") -> list[dict[str, Any]]:
        """The lines of the files of a session's tape as they stand on disk; `pattern`: `.jsonl.*.bak` for archives."""
        name = tape_name(str(self.data), session)
        files = sorted((self.data / "tapes").glob(f"{name}{pattern}"))
        return [json.loads(line) for file in files for line in file.read_bytes().decode().split("\n") if line]

    async def end_embedded(self) -> None:
        """Ends the embedded server that a killed gateway has left behind, and waits until it is gone."""
        lock = self.data / "redis" / "running.lock"
        if not lock.exists():
            return
        until = asyncio.get_running_loop().time() + PATIENCE
        while is_locked(lock):
            assert asyncio.get_running_loop().time() < until, "the embedded server does not end"
            with suppress(ProcessLookupError, ValueError):
                os.kill(int(lock.read_text()), signal.SIGKILL)
            await asyncio.sleep(0.02)

    def environment(self, **settings: str | None) -> dict[str, str]:
        """All that a process of this home knows of the world."""
        chosen = {name: value for name, value in (self._settings | settings).items() if value is not None}
        named = {name if name.isupper() else f"GATEWAY_{name.upper()}": value for name, value in chosen.items()}
        return {"PATH": os.defpath, "HOME": str(self.folder), "PYTHONPATH": str(REPOSITORY)} | named

    async def _spawn(self, *words: str, **options: Any) -> asyncio.subprocess.Process:
        streams = {name: options.pop(name) for name in ("stdin", "stdout", "stderr")}
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", *words),
            cwd=self.folder,
            env=self.environment(**options),
            start_new_session=True,
            limit=2**24,  # a log line with a traceback may be long
            **streams,
        )
