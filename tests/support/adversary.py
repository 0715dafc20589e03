"""A seeded scheduler over the real pipeline: it kills, freezes and thaws at every port call; people write meanwhile.

The same seed gives the same schedule. A run ends when everything is quiet and every frozen process was thawed.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from gateway.channel import Ambiguous
from gateway.errors import Retryable
from gateway.message import IncomingMessage
from gateway.turn.sweep import Sweep
from tests.support.gate import Gate, Killed
from tests.support.promises import check
from tests.support.world import ADMIN, INBOX, OUTBOX, ROOMS, STORE, Process, World

WORDS = ("plain", "plain", "plain", "tool", "tool", "/handoff", "/reset", "/stop", "/search")


@dataclass
class Faults:
    """How many of each a schedule may have."""

    kill: int = 1
    freeze: int = 1
    suspend: int = 0
    wipe: int = 0
    duplicate: int = 1
    side: int = 1
    away: int = 0  # a server that cannot be asked, or that did it and could not say so
    ambiguous: int = 0


@dataclass
class Misfortune:
    """What the server's side of a fault is: a lease that runs out, data that is lost."""

    expire: Callable[[], Awaitable[None]]
    expire_route: Callable[[], Awaitable[None]]
    wipe: Callable[[], Awaitable[None]]


@dataclass
class Adversary:
    """One schedule."""

    world: World
    misfortune: Misfortune
    seed: int
    faults: Faults
    messages: int = 5
    rooms: int = 1
    seen: set[str] = field(default_factory=set)
    log: list[str] = field(default_factory=list)
    excused: Counter[tuple[str, int]] = field(default_factory=Counter)
    wiped: bool = False

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.left = {name: getattr(self.faults, name) for name in Faults.__dataclass_fields__}
        self.to_say = self.messages
        self.gates: list[Gate] = []
        self.frozen: list[Gate] = []
        self.arriving: list[asyncio.Task[None]] = []
        self.fifo = asyncio.Lock()

    async def run(self) -> None:
        """Plays the schedule and judges the end."""
        try:
            async with asyncio.timeout(60):
                await self._play()
                await self._calm()
                await check(self.world, excused=self.excused, wiped=self.wiped)
        except BaseException as error:
            error.add_note(f"seed {self.seed}:\n  " + "\n  ".join(self.log[-120:]))
            raise

    async def _play(self) -> None:
        await self._say()
        processes = [self._spawn() for _ in range(2)]
        for _ in range(400):
            quiet = True
            for i, process in enumerate(processes):
                if process.gate.dead:
                    processes[i] = process = self._spawn()
                if process.gate.thaw.is_set():
                    quiet &= not await self._work(process)
            await asyncio.gather(*self.arriving)
            if self.to_say:
                await self._say()
            elif quiet and not self.frozen:
                return
            elif quiet:
                self._thaw(self.frozen.pop(0))
                await self._settle_down()
        raise AssertionError("the schedule never became quiet")

    async def _work(self, process: Process) -> bool:
        """Lets one process do a turn and a delivery side by side with the faults; returns whether it did anything."""
        await self.world.inbox.recover()
        await self.world.outbox.recover([("chat", "bot")])
        tasks = [asyncio.create_task(process.turns()), asyncio.create_task(process.deliveries())]
        process.gate.tasks = tasks  # type: ignore[attr-defined]
        return await self._join(process, tasks)

    async def _join(self, process: Process, tasks: list[asyncio.Task[bool]]) -> bool:
        while True:
            for _ in range(50):
                await asyncio.sleep(0)
                if all(t.done() for t in tasks) or process.gate.dead or not process.gate.thaw.is_set():
                    break
            if not process.gate.thaw.is_set():
                return True
            if process.gate.dead or all(t.done() for t in tasks):
                break
        if process.gate.dead:
            await self._bury(tasks)
            return True
        return any([await t for t in tasks])

    async def _bury(self, tasks: list[asyncio.Task[bool]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.misfortune.expire()
        await self.misfortune.expire_route()

    def _spawn(self) -> Process:
        gate = Gate(self._decide, self.seen)
        self.gates.append(gate)
        process = Process(self.world, gate)
        gate.process = process  # type: ignore[attr-defined]
        return process

    async def _decide(self, gate: Gate, place: str) -> None:
        self.log.append(f"P{self.gates.index(gate)} {place}")
        for _ in range(self.dice.randrange(3)):
            await asyncio.sleep(0)
        roll = self.dice.random()
        if gate.dead or gate in self.frozen:
            return  # by another task of the same process, while this one slept
        if roll < 0.03 and self._spend("kill"):
            self.log.append(f"P{self.gates.index(gate)} KILLED at {place}")
            self._excuse(gate)
            gate.dead = True
            raise Killed(place)
        if roll < 0.06 and gate not in self.frozen and (how := self._freezes()):
            self.log.append(f"P{self.gates.index(gate)} FROZEN ({how}) at {place}")
            self._excuse(gate)
            gate.thaw.clear()
            self.frozen.append(gate)
            if how == "freeze":
                gate.process.clock.ahead += 1000  # type: ignore[attr-defined]
            await self.misfortune.expire()
            await self.misfortune.expire_route()
        elif roll < 0.10 and self.to_say:
            await self._say()
        elif roll < 0.12 and self._spend("side"):
            await self._arrives(self._new("/whoami", ADMIN))
        elif roll < 0.14 and self.world.accepted and self._spend("duplicate"):
            again = self.dice.choice(self.world.accepted)
            self.log.append(f"{again.id} is delivered again")
            await self._arrives(again)
        elif roll < 0.17 and place == "chat.send:after" and self._spend("ambiguous"):
            self.log.append("no answer comes to the send")
            self._excuse(gate)
            raise Ambiguous("no answer")
        elif roll < 0.17 and self._can_be_away(place) and self._spend("away"):
            self.log.append(f"P{self.gates.index(gate)} IS TOLD NOTHING at {place}")
            self._excuse(gate)
            raise Retryable("away")
        elif roll < 0.18 and self._spend("wipe"):
            self.log.append("REDIS LOSES EVERYTHING")
            self.wiped = True
            for each in self.gates:
                self._excuse(each)
            await self.misfortune.wipe()

    @staticmethod
    def _can_be_away(place: str) -> bool:
        """Ports of the server and the store say so; so does a platform that was never reached."""
        return place.split(".")[0] in ("inbox", "outbox", "store") or place == "chat.send:before"

    async def _decide_at_the_door(self, gate: Gate, place: str) -> None:
        """What may happen to a process while it takes a message in: then the platform brings it again."""
        self.log.append(f"door {place}")
        for _ in range(self.dice.randrange(3)):
            await asyncio.sleep(0)
        roll = self.dice.random()
        if roll < 0.04 and self._spend("kill"):
            self.log.append(f"door KILLED at {place}")
            raise Killed(place)
        if roll < 0.08 and self._spend("away"):
            self.log.append(f"door IS TOLD NOTHING at {place}")
            raise Retryable("away")

    def _freezes(self) -> str:
        for how in ("freeze", "suspend"):
            if self._spend(how):
                return how
        return ""

    def _spend(self, fault: str) -> bool:
        if self.left[fault] <= 0:
            return False
        self.left[fault] -= 1
        return True

    def _excuse(self, gate: Gate) -> None:
        """A part that is under way may be shown twice: its process could not know."""
        if gate.under_way is not None:
            self.excused[gate.under_way] += 1

    def _thaw(self, gate: Gate) -> None:
        self.log.append(f"P{self.gates.index(gate)} THAWED")
        gate.thaw.set()

    async def _settle_down(self) -> None:
        """Lets thawed processes run until they are done."""
        for gate in list(self.gates):
            tasks = getattr(gate, "tasks", [])
            if gate.thaw.is_set() and not gate.dead and not all(t.done() for t in tasks):
                await self._join(gate.process, tasks)  # type: ignore[attr-defined]

    async def _say(self) -> None:
        self.to_say -= 1
        number, word = len(self.world.accepted), self.dice.choice(WORDS)
        text = {"plain": f"word{number:03}", "tool": f"tool{number:03}", "/search": f"/search word{number:03}"}.get(
            word, word
        )
        author = ADMIN if text.startswith("/") or self.dice.random() < 0.7 else "bob"
        await self._arrives(self._new(text, author))

    def _new(self, text: str, author: str) -> IncomingMessage:
        message = self.world.message(text, author, room=ROOMS[self.dice.randrange(self.rooms)])
        self.log.append(f"{author} says {text!r} ({message.id})")
        self.world.accepted.append(message)
        return message

    async def _arrives(self, message: IncomingMessage) -> None:
        """Whoever waits for it may die: the platform does not."""
        task = asyncio.create_task(self._bring(message))
        self.arriving.append(task)
        await asyncio.shield(task)

    async def _bring(self, message: IncomingMessage) -> None:
        """As a platform does: one after the other, and again until it is told."""
        async with self.fifo:
            while True:
                gate, world = Gate(self._decide_at_the_door, self.seen), self.world
                intake = world.intake_over(
                    gate.wrap("inbox", world.inbox, INBOX),
                    gate.wrap("outbox", world.outbox, OUTBOX),
                    gate.wrap("store", world.store, STORE),
                )
                try:
                    return await intake.receive(message)
                except (Killed, Retryable):
                    self.log.append(f"{message.id} is brought again")

    async def _calm(self) -> None:
        """No more faults: a fresh process, and the sweep, finish what is left."""
        self.left = dict.fromkeys(self.left, 0)
        while self.frozen:
            self._thaw(self.frozen.pop(0))
        await self._settle_down()
        await asyncio.gather(*self.arriving)
        process = Process(self.world, Gate(self._nothing, self.seen))
        sweep = Sweep(self.world.outbox, self.world.store, None, self.world.clock)  # type: ignore[arg-type]
        for _ in range(3):
            self._pass_time(100)  # for what was put off
            await self.misfortune.expire()
            await self.misfortune.expire_route()
            for _ in range(200):
                await self.world.inbox.recover()
                await self.world.outbox.recover([("chat", "bot")])
                if not (await process.turns() | await process.deliveries()):
                    break
                self._pass_time()
            await sweep.once()

    def _pass_time(self, seconds: float = 5) -> None:
        advance = getattr(self.world.clock, "advance", None)
        if advance is not None:
            advance(seconds)

    @staticmethod
    async def _nothing(_gate: Gate, _place: str) -> None:
        return None
