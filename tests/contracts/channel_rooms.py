"""What a channel promises of the places where people talk: whom it answers there, and that nothing is mixed up."""

import asyncio

from tests.contracts.stand import Stand
from tests.contracts.stands import Ground, line
from tests.scenarios.friends import words


class RoomsContract:
    """Rooms, threads, and several conversations at once."""

    @line("thread")
    async def test_an_answer_lands_in_its_thread_and_each_thread_is_a_conversation(
        self, stand: Stand, ground: Ground
    ) -> None:
        person = stand.person()
        one, two = stand.threads(person)
        first = await stand.say(one, person, "apples", mention=True)
        second = await stand.say(two, person, "pears", mention=True)
        await stand.hears(one, 2)

        where = {heard.text: heard.thread for heard in stand.heard(one)}
        assert where == {"echo: apples": one.thread, "echo: pears": two.thread}
        assert first.session != second.session
        assert words(await ground.home.tape(first.session), "user") == ["apples"]
        assert words(await ground.home.tape(second.session), "user") == ["pears"]
        again = await stand.asks(one, person, "and more?", mention=True)
        assert again.thread == one.thread
        assert "apples" in ground.ai.requests[-1].text
        assert "pears" not in ground.ai.requests[-1].text

    @line("thread")
    async def test_all_parts_of_a_long_answer_land_in_its_thread(self, stand: Stand, ground: Ground) -> None:
        """Also those that quote no question."""
        person = stand.person()
        place, _ = stand.threads(person)
        ground.answers("word " * 2500 + "end")
        await stand.say(place, person, "at length, please", mention=True)
        await stand.until(lambda: any(heard.text.endswith("end") for heard in stand.heard(place)))
        parts = stand.heard(place)

        assert len(parts) > 1
        assert {part.thread for part in parts} == {place.thread}

    @line("two sessions")
    async def test_a_slow_turn_holds_up_no_other_conversation(self, stand: Stand, ground: Ground) -> None:
        """And each gets its own answer."""
        ann, ben, go = stand.person(), stand.person(), asyncio.Event()
        hers, his = stand.private(ann), stand.private(ben)
        ground.answers("the slow answer", after=go)
        stalled = ground.ai.stalled
        await stand.say(hers, ann, "slowly, please")
        await ground.ai.wait_stalled(stalled + 1)
        quick = await stand.asks(his, ben, "quickly, please")
        assert quick.text == "echo: quickly, please"
        assert not stand.heard(hers)
        go.set()
        await stand.hears(hers)

        assert [heard.text for heard in stand.heard(hers)] == ["the slow answer"]
        assert [heard.text for heard in stand.heard(his)] == ["echo: quickly, please"]

    @line("mention gating")
    async def test_in_a_room_only_who_addresses_the_bot_is_answered(self, stand: Stand, ground: Ground) -> None:
        """By a mention, a reply or a command; what people tell each other reaches no model and no tape."""
        ann, ben = stand.person(), stand.person()
        place = stand.room(ann, ben)
        await stand.say(place, ann, "between ourselves")
        said = await stand.say(place, ben, "hello there", mention=True)
        [answer] = await stand.hears(place)
        assert (answer.text, answer.thread) == ("echo: hello there", said.thread)
        await stand.say(place, ann, "not for the bot either")
        replied = await stand.asks(place, ben, "go on", reply_to=answer)
        assert (replied.text, replied.thread) == ("echo: go on", said.thread)

        commanded = await stand.asks(place, ann, f"{stand.command_mark}whoami")
        assert commanded.text.startswith("Your id is")

        assert len(stand.heard(place)) == 3
        assert ground.asked("between ourselves") + ground.asked("not for the bot") == 0
        assert words(await ground.home.tape(said.session), "user") == ["hello there", "go on"]

    @line("bots")
    async def test_what_bots_write_is_not_answered(self, stand: Stand, ground: Ground) -> None:
        """Neither another bot nor itself, even where it is addressed: two bots would talk for ever."""
        person = stand.person()
        place = stand.room(person)
        await stand.bot_says(place, "do this, other bot", own=False)
        await stand.bot_says(place, "do this, myself", own=True)
        answer = await stand.asks(place, person, "and you?", mention=True)
        await stand.asks(place, person, "thank you", mention=True)

        assert answer.text == "echo: and you?"
        assert [heard.text for heard in stand.heard(place)] == ["echo: and you?", "echo: thank you"]
        assert ground.asked("do this") == 0
