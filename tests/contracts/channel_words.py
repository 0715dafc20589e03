"""What a channel promises of the words of a reply: whole, once, readable, and calling nobody."""

import re

from tests.contracts.stand import Stand
from tests.contracts.stands import Ground, line

ODD = "1 < 2 & 3 > 2, grüße an 世界 🦊 snake_case_name 50% #1"
"""What some platform takes for a mark, an entity or a mention."""

CODE = [
    'if a < b and c > d: print("*not bold*", _x_, "&amp;")',
    "    # @everyone <!channel> <@U1>",
    "    return **kwargs",
]


def numbered(count: int) -> list[str]:
    """So many words, each another."""
    return [f"w{number:04}" for number in range(count)]


def paragraphs(words: list[str], each: int = 40) -> str:
    """The words as Markdown, with marks among them."""
    blocks = [words[at : at + each] for at in range(0, len(words), each)]
    return "\n\n".join(f"**{block[0]}** " + " ".join(block[1:]) for block in blocks)


class WordsContract:
    """What people read."""

    @line("text")
    async def test_a_text_is_answered_once_and_where_it_was_said(self, stand: Stand, ground: Ground) -> None:
        person = stand.person()
        place = stand.private(person)
        said = await stand.say(place, person, ODD)
        await stand.hears(place)
        await stand.say(place, person, "and another one")
        first, second = await stand.hears(place, 2)

        assert (first.text, first.thread) == (f"echo: {ODD}", said.thread)
        assert second.text == "echo: and another one"
        assert [request.last_user for request in ground.ai.requests[-2:]] == [ODD, "and another one"]

    @line("long text")
    async def test_a_long_text_arrives_whole_in_messages_that_the_platform_takes(
        self, stand: Stand, ground: Ground
    ) -> None:
        """Nothing is cut: the fake refuses or splits what is too long for it. P12."""
        words, person = numbered(2500), stand.person()
        place = stand.private(person)
        ground.answers(paragraphs(words))
        await stand.say(place, person, "everything, please")
        await stand.until(lambda: any(words[-1] in heard.text for heard in stand.heard(place)))
        await stand.asks(place, person, "is that all?")
        *parts, last = stand.heard(place)

        assert re.findall(r"\bw\d{4}\b", " ".join(part.text for part in parts)) == words
        assert len(parts) > 1 or not stand.splits
        assert last.text == "echo: is that all?"

    @line("code")
    async def test_code_in_markdown_stays_code_to_the_letter(self, stand: Stand, ground: Ground) -> None:
        person = stand.person()
        place = stand.private(person)
        ground.answers("Before it.\n\n```python\n" + "\n".join(CODE) + "\n```\n\nAnd **after** it.")
        heard = await stand.asks(place, person, "show me code")

        assert [block.rstrip("\n").split("\n") for block in heard.code] == [CODE]
        assert heard.text.index("Before it.") < heard.text.index(CODE[0]) < heard.text.index("after")

    @line("code")
    async def test_code_that_is_too_long_for_one_message_is_code_in_each(self, stand: Stand, ground: Ground) -> None:
        """Each part closes its block and the next one opens it again; no line is lost, doubled or outside."""
        lines, person = [f"value_{word} = '<{word}> & `tick` *star*'" for word in numbered(400)], stand.person()
        place = stand.private(person)
        ground.answers("```python\n" + "\n".join(lines) + "\n```\n\nThat was it.")
        await stand.say(place, person, "show me much code")
        await stand.until(lambda: any("That was it." in heard.text for heard in stand.heard(place)))
        parts = stand.heard(place)

        assert [row for part in parts for block in part.code for row in block.rstrip("\n").split("\n")] == lines
        assert sum(part.text.count("value_") for part in parts) == len(lines)
        assert all(part.code for part in parts[:-1])
        assert len(parts) > 1 or not stand.splits

    @line("mention safety")
    async def test_a_reply_calls_nobody_whatever_the_model_wrote(self, stand: Stand, ground: Ground) -> None:
        """Case C82: the words arrive, and nobody but the asker may be called by them."""
        person, bystander = stand.person(), stand.person()
        place = stand.room(person, bystander)
        ground.answers(f"first {stand.shout(bystander)} last")
        heard = await stand.asks(place, person, "call them all", mention=True)

        assert heard.text.startswith("first ")
        assert heard.text.endswith(" last")
        assert heard.pings == frozenset()
