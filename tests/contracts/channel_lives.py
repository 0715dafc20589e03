"""What a channel promises of the life of the process that it is in: a wrong token, a stop, a kill."""

import asyncio
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.contracts.stand import Place, Said, Stand
from tests.contracts.stands import STANDS, Ground, line
from tests.platforms.openai import Request, Stall, Text, echo
from tests.scenarios.friends import outcomes, words
from tests.support.gateway import Gateway


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in each channel; the model stood still in the middle of every answer."""

    people: Mapping[str, Any]
    places: Mapping[str, Place]
    said: Mapping[str, Said]
    go: asyncio.Event

    def answer(self, name: str) -> str:
        """What the model says to it, once `go` is set."""
        return f"the answer in {name}"


async def ask_everywhere(ground: Ground) -> Asked:
    """Somebody asks in every channel at once. Returns when all their turns are in the model call."""
    go = asyncio.Event()

    def script(request: Request) -> Any:
        if not request.last_user.startswith("question in "):
            return echo(request)
        return Stall(go, after_chunks=1, then=Text(request.last_user.replace("question", "the answer"), chunks=3))

    ground.ai.script = script
    people = {name: stand.person() for name, stand in ground.stands.items()}
    places = {name: stand.private(people[name]) for name, stand in ground.stands.items()}
    stalled = ground.ai.stalled
    said = {
        name: await stand.say(places[name], people[name], f"question in {name}")
        for name, stand in ground.stands.items()
    }
    await ground.ai.wait_stalled(stalled + len(said))
    return Asked(people, places, said, go)


@dataclass(frozen=True, slots=True)
class Stopped:
    """A gateway that was told to stop while it owed a reply everywhere; `status` is how it ended."""

    asked: Asked
    status: int


async def stop_owing(ground: Ground) -> Stopped:
    """The answers are held back until the gateway has heard that it is to stop."""
    gateway = await ground.start()
    asked = await ask_everywhere(ground)
    gateway.signal(signal.SIGTERM)
    await ground.web.stopping()
    assert gateway.alive
    asked.go.set()
    return Stopped(asked, await gateway.ended())


@dataclass(frozen=True, slots=True)
class Killed:
    """A gateway was killed in all model calls at once; another one is there now.

    `late`: where somebody whom the first one knew wrote while there was none.
    """

    asked: Asked
    late: Mapping[str, Place]


async def kill_asking(ground: Ground) -> Killed:
    """kill -9, then a start on the same data folder."""
    gateway = await ground.start()
    people = {name: stand.person() for name, stand in ground.stands.items()}
    late = {name: stand.private(people[name]) for name, stand in ground.stands.items()}
    for name, stand in ground.stands.items():
        await stand.asks(late[name], people[name], "hello")
    asked = await ask_everywhere(ground)
    await gateway.kill()
    for name, stand in ground.stands.items():
        await stand.say(late[name], people[name], "is anybody there?")
    asked.go.set()
    await ground.start()
    return Killed(asked, late)


@dataclass(frozen=True, slots=True)
class Misled:
    """A gateway all of whose tokens are wrong."""

    gateway: Gateway


async def mislead(ground: Ground) -> Misled:
    """It starts, and its page is served."""
    wrong = {name: value for kind in STANDS.values() for name, value in kind.wrong_token.items()}
    gateway = await ground.home.start(**wrong)
    await ground.web.attach(gateway)
    return Misled(gateway)


class LivesContract:
    """Subclass it and provide `stopped`, `killed` and `misled`; `stand` belongs to the ground of the one asked for."""

    @line("wrong token")
    async def test_a_wrong_token_is_told_in_a_sentence_and_the_other_channels_run(
        self, misled: Misled, stand: Stand
    ) -> None:
        told = await stand.refusal(misled.gateway)

        assert stand.advice in told
        assert len(told.splitlines()) == 1
        assert not [value for value in stand.wrong_token.values() if value in "".join(misled.gateway.raw)]
        assert misled.gateway.alive

    @line("wrong token")
    async def test_where_every_token_is_wrong_the_page_still_answers(
        self, misled: Misled, misled_ground: Ground, stand: Stand
    ) -> None:
        """However one of them is refused: the others go on."""
        await stand.refusal(misled.gateway)
        web = misled_ground.web
        person = web.person()

        assert (await web.asks(web.private(person), person, "still there?")).text == "echo: still there?"

    @line("shutdown")
    async def test_a_reply_that_is_owed_at_a_stop_still_arrives(self, stopped: Stopped, stand: Stand) -> None:
        """C110: SIGTERM during the model call; the reply leaves within the drain."""
        heard = await stand.hears(stopped.asked.places[stand.name])

        assert [message.text for message in heard] == [stopped.asked.answer(stand.name)]
        assert stopped.status == 0

    @line("shutdown")
    async def test_a_stop_closes_the_connection_in_good_order(self, stopped: Stopped, stand: Stand) -> None:
        """As the platform saw it; what was taken in is confirmed, so that it does not come again."""
        assert stand.left_well() == ""

    @line("killed turn")
    async def test_a_turn_outlives_its_process_and_is_answered_once(
        self, killed: Killed, killed_ground: Ground, stand: Stand
    ) -> None:
        """P4: kill -9 in the model call; the next process answers, unasked, and a later question after that."""
        place, person = killed.asked.places[stand.name], killed.asked.people[stand.name]
        await stand.hears(place)
        await stand.asks(place, person, "and now?")

        assert [heard.text for heard in stand.heard(place)] == [killed.asked.answer(stand.name), "echo: and now?"]
        entries = await killed_ground.home.tape(killed.asked.said[stand.name].session)
        assert words(entries, "user") == [f"question in {stand.name}", "and now?"]
        assert outcomes(entries) == ["finished", "finished"]

    @line("disconnect")
    async def test_what_was_said_while_no_process_ran_is_answered_by_the_next_one(
        self, killed: Killed, stand: Stand
    ) -> None:
        """Once: whether the platform delivers it again, or has it in its history alone."""
        heard = await stand.hears(killed.late[stand.name], 2)

        assert [message.text for message in heard] == ["echo: hello", "echo: is anybody there?"]
