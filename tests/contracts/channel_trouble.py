"""What a channel promises when its platform is busy, broken, or silent."""

from tests.contracts.stand import REPEATED, Broken, Busy, Stand, Unanswered
from tests.contracts.stands import Ground, line
from tests.scenarios.friends import outcomes


class TroubleContract:
    """A reply arrives nevertheless, and a copy that may be a second one says so."""

    @line("429")
    async def test_a_busy_platform_gets_the_reply_once_and_not_before_the_time_it_named(
        self, stand: Stand, ground: Ground
    ) -> None:
        person = stand.person()
        place = stand.private(person)
        failing = stand.fail_next_send(place, Busy(2))
        first = await stand.asks(place, person, "now, please")
        await stand.asks(place, person, "thank you")

        [refused_at] = failing.at
        assert first.at - refused_at >= 2
        assert [heard.text for heard in stand.heard(place)] == ["echo: now, please", "echo: thank you"]

    @line("5xx")
    async def test_a_platform_that_fails_gets_the_reply_later_and_once(self, stand: Stand, ground: Ground) -> None:
        """Nobody can know what became of such a request: the one copy may say that it is possibly a second."""
        person = stand.person()
        place = stand.private(person)
        failing = stand.fail_next_send(place, Broken())
        await stand.asks(place, person, "are you there?")
        await stand.asks(place, person, "thank you")

        assert len(failing.at) == 1
        first, last = stand.heard(place)
        assert first.text.removeprefix(f"{REPEATED} ") == "echo: are you there?"
        assert last.text == "echo: thank you"

    @line("unanswered send")
    async def test_a_send_without_an_answer_is_found_again_or_repeated_with_a_mark(
        self, stand: Stand, ground: Ground
    ) -> None:
        """P8. The message is there: exactly one where the platform can be asked, else a second one that says so."""
        person = stand.person()
        place = stand.private(person)
        failing = stand.fail_next_send(place, Unanswered())
        said = await stand.say(place, person, "did it arrive?")
        await stand.hears(place)
        await stand.say(place, person, "thank you")
        await stand.until(lambda: stand.heard(place)[-1].text == "echo: thank you")

        assert len(failing.at) == 1
        copies = ["echo: did it arrive?"] + [f"{REPEATED} echo: did it arrive?"] * stand.marks_copies
        assert [heard.text for heard in stand.heard(place)] == [*copies, "echo: thank you"]
        assert outcomes(await ground.home.tape(said.session)) == ["finished", "finished"]

    @line("disconnect")
    async def test_a_connection_that_breaks_loses_nothing(self, stand: Stand, ground: Ground) -> None:
        person = stand.person()
        place = stand.private(person)
        await stand.asks(place, person, "before")
        await stand.cut()
        await stand.say(place, person, "in the gap")
        await stand.hears(place, 2)
        await stand.cut()
        await stand.asks(place, person, "after")

        assert [heard.text for heard in stand.heard(place)] == ["echo: before", "echo: in the gap", "echo: after"]

    @line("disconnect")
    async def test_what_was_said_during_an_outage_is_answered_after_it(self, stand: Stand, ground: Ground) -> None:
        """In the order in which it was said."""
        person = stand.person()
        place = stand.private(person)
        await stand.asks(place, person, "before")
        async with stand.outage():
            await stand.say(place, person, "while you were away")
        await stand.hears(place, 2)
        await stand.asks(place, person, "after")

        said = ["before", "while you were away", "after"]
        assert [heard.text for heard in stand.heard(place)] == [f"echo: {text}" for text in said]
        assert [ground.asked(text) for text in said] == [1, 1, 1]
