"""What a channel promises of what the platform tells twice, tells later, or wants to be told meanwhile."""

import asyncio

from tests.contracts.stand import Stand
from tests.contracts.stands import Ground, line


class NewsContract:
    """Duplicates, edits and signs of life."""

    @line("duplicate delivery")
    async def test_a_message_that_is_delivered_again_is_answered_once(self, stand: Stand, ground: Ground) -> None:
        """While its turn runs, and after its answer."""
        person, go = stand.person(), asyncio.Event()
        place = stand.private(person)
        ground.answers("the one answer", after=go)
        stalled = ground.ai.stalled
        said = await stand.say(place, person, "only once, please")
        await ground.ai.wait_stalled(stalled + 1)
        await stand.redeliver(said)
        go.set()
        await stand.hears(place)
        await stand.redeliver(said)
        await stand.asks(place, person, "something else")

        assert [heard.text for heard in stand.heard(place)] == ["the one answer", "echo: something else"]
        assert ground.asked("only once") == 1

    @line("edit")
    async def test_an_edit_makes_no_second_turn(self, stand: Stand, ground: Ground) -> None:
        person = stand.person()
        place = stand.private(person)
        said = await stand.say(place, person, "with a tpyo")
        await stand.hears(place)
        await stand.edit(said, person, "with a typo")
        await stand.asks(place, person, "never mind")

        assert [heard.text for heard in stand.heard(place)] == ["echo: with a tpyo", "echo: never mind"]
        assert ground.asked("with a typo") == 0

    @line("typing")
    async def test_people_see_that_the_bot_is_at_work(self, stand: Stand, ground: Ground) -> None:
        person, go = stand.person(), asyncio.Event()
        place = stand.shows_typing(person)
        ground.answers("at last", after=go)
        await stand.say(place, person, "think hard", mention=True)
        await stand.until(lambda: stand.typing(place) > 0)
        assert not stand.heard(place)
        go.set()
        [heard] = await stand.hears(place)

        assert heard.text == "at last"
