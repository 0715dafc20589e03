"""The services of compose.yaml as plain processes: the same commands, options and environments, on this machine."""

import os
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from gateway.tape.entries import Entry
from tests.deploy.written import Json, compose, gateways, role_of
from tests.platforms.openai import FakeOpenAI
from tests.platforms.telegram import Chat, FakeTelegram
from tests.scenarios.friends import session
from tests.support.gateway import Gateway, Home
from tests.support.redis import ServerProcess


class Site:
    """`async with Site(tg, ai) as site:` all services of compose.yaml run. What containers would give is given here:
    the folder of the volume, the name `redis`, free ports; `settings` are what an operator writes into gateway.env.
    """

    def __init__(self, tg: FakeTelegram, ai: FakeOpenAI, **settings: str) -> None:
        self.tg, self.ai = tg, ai
        command: list[str] = compose()["services"]["redis"]["command"]
        self.redis = ServerProcess("redis7", *command[1:], tcp=True)
        self._home = Home(tg, ai, **settings)
        self._running: dict[str, list[Gateway]] = {name: [] for name in gateways()}

    async def __aenter__(self) -> Self:
        try:
            self.redis.start()
            await self.up()
        except BaseException as error:  # also when cancelled: nobody else would end what has begun
            await self.__aexit__(type(error), error, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._home.__aexit__(kind, error, trace)
        self.redis.remove()

    @property
    def channels(self) -> Gateway:
        (only,) = self._running["channels"]
        return only

    @property
    def workers(self) -> Sequence[Gateway]:
        return tuple(self._running["worker"])

    @property
    def everybody(self) -> Sequence[Gateway]:
        return (self.channels, *self.workers)

    async def up(self) -> None:
        """Starts what is missing of each service, as `restart: unless-stopped` does; returns when it polls."""
        for name, service in gateways().items():
            alive = [gateway for gateway in self._running[name] if gateway.alive]
            missing = service.get("deploy", {}).get("replicas", 1) - len(alive)
            role, given = role_of(service["command"]), self._given(service)
            self._running[name] = alive + [await self._home.begin(role, **given) for _ in range(missing)]
        await self.channels.ready()
        await self.channels.polls()

    async def worker_on(self, text: str) -> Gateway:
        """The worker that has a turn in hand, once the model was asked about these words."""
        await self.ai.bell.until(lambda: any(text in request.text for request in self.ai.requests), 30)
        (busy,) = [worker for worker in self.workers if len(events(worker, "claimed")) > len(events(worker, "merged"))]
        return busy

    def healthy(self, name: str) -> int:
        """The exit status of the service's own check, with the address that its container would have."""
        test: list[str] = compose()["services"][name]["healthcheck"]["test"]
        assert test[0] == "CMD"
        words = test[1:]
        if name == "redis":
            words[1:1] = ["-p", str(self.redis.address)]
        else:
            words[0] = sys.executable
        port = self.channels.origin.rpartition(":")[2] if name == "channels" else ""
        world = {"PATH": os.environ["PATH"], "GATEWAY_WEB__PORT": port}
        return subprocess.run(words, env=world, check=False, capture_output=True, timeout=30).returncode

    def heard(self, room: Chat) -> list[str]:
        """What the bot has said in a chat."""
        return [sent.text for sent in self.tg.sent if sent.chat_id == room.id]

    async def hears(self, room: Chat, count: int = 1) -> list[str]:
        """The same, once there is so much."""
        await self.tg.wait(lambda: len(self.heard(room)) >= count, 60)
        return self.heard(room)

    async def tape(self, room: Chat) -> Sequence[Entry]:
        return await self._home.tape(session(room))

    def _given(self, service: Json) -> dict[str, str | None]:
        given: dict[str, str] = dict(service["environment"])
        assert given["GATEWAY_DATA_DIR"] in [mount.partition(":")[2] for mount in service["volumes"]]
        here = {"GATEWAY_DATA_DIR": str(self._home.data), "GATEWAY_REDIS__URL": f"{self.redis.url}/0"}
        if "GATEWAY_WEB__PORT" in given:
            here |= {"GATEWAY_WEB__HOST": "127.0.0.1", "GATEWAY_WEB__PORT": "0"}
        return {**given, **here}


def events(gateway: Gateway, name: str) -> list[Json]:
    """The log lines about turns of one kind: `claimed`, `merged`."""
    return [line for line in gateway.log if line["event"] == f"turn.{name}"]
