"""People talk to the bot in Telegram: alone, in a group, in topics; its model uses tools."""

import asyncio
import json
import re

import pytest

from gateway.tape.entries import ToolCall, ToolResult
from tests.platforms.openai import Text, ToolCalls
from tests.scenarios.friends import FRIENDS, events, facts, outcomes, session, words

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_stranger_gets_a_code_and_talks_once_an_admin_has_approved_it_on_the_command_line(bot, number):
    """Contents 6: DMs default to pairing; what a stranger says before reaches no model and no tape."""
    eve = bot.tg.person(9001, "Eve")
    room = bot.tg.private(eve)
    asked = len(bot.ai.requests)
    refusal = await bot.asks(room, eve, "my first words")
    code = re.search(r"gateway access approve ([A-Z2-9]{8})", refusal.text)
    assert code, refusal.text
    room.says(eve, "hello?")
    await bot.gateway.logged("access.asked", author="9001", count=2)
    assert len(bot.ai.requests) == asked
    assert not await bot.tape(room), "a stranger left a tape"
    listed = await bot.home.run("access", "list", "--json")
    [row] = [row for row in listed.rows if row["id"] == "9001"]
    assert (row["state"], row["code"], row["channel"]) == ("asked", code[1], "telegram")

    told = await bot.home.run("access", "approve", code[1])
    assert told.status == 0, told.err
    answer = await bot.asks(room, eve, "may I now?")
    assert answer.text == "echo: may I now?"
    assert len(bot.said(room)) == 2, "the code was told again and again"
    assert words(await bot.tape(room), "user") == ["may I now?"]

    assert (await bot.home.run("access", "revoke", "9001")).status == 0
    room.says(eve, "and now?")
    await bot.gateway.logged("access.refused", author="9001")
    wrong = await bot.home.run("access", "approve", "NOBODYS1")
    assert wrong.status == 1
    assert len(wrong.err.splitlines()) == 1


async def test_an_admin_approves_a_code_in_the_chat_and_the_person_is_told(bot, ann):
    """Contents 6: /pair <code> by an admin; the person hears that they may talk."""
    fay = bot.tg.person(9002, "Fay")
    room = bot.tg.private(fay)
    refusal = await bot.asks(room, fay, "hi")
    code = re.search(r"/pair ([A-Z2-9]{8})", refusal.text)
    assert code
    answer = await bot.asks(bot.tg.private(ann), ann, f"/pair {code[1]}")
    assert answer.text == "Fay may talk to me now."
    said = await bot.hears(room, 2)
    assert said[1].text.startswith("You may talk to me now.")
    assert (await bot.asks(room, fay, "thanks")).text == "echo: thanks"


async def test_a_conversation_alone_with_the_bot_is_remembered_from_turn_to_turn(bot, ben):
    """Done when 2, a DM: the second request holds the first exchange, and everything said is on the tape."""
    room = bot.tg.private(ben)
    assert (await bot.asks(room, ben, "my name is Ben")).text == "echo: my name is Ben"
    assert (await bot.asks(room, ben, "who am I?")).text == "echo: who am I?"
    roles = [(m["role"], m["content"]) for m in bot.ai.requests[-1].messages if m["role"] != "system"]
    assert roles == [("user", "my name is Ben"), ("assistant", "echo: my name is Ben"), ("user", "who am I?")]
    shown = await bot.home.run("tape", "show", session(room), "--json")
    said = [r["payload"]["content"] for r in shown.rows if r["kind"] == "message"]
    assert said == ["my name is Ben", "echo: my name is Ben", "who am I?", "echo: who am I?"]


async def test_a_group_is_answered_when_the_bot_is_mentioned_replied_to_or_commanded(bot, ben, number):
    """Done when 2, a group (mention, reply, command); other talk and another bot's command are left alone."""
    group = bot.tg.group(-5000 - number, "Friends", members=[ben])
    group.says(ben, "nobody asked the bot")
    group.says(ben, "/status@otherbot")
    mentioned = await bot.asks(group, ben, "hello there", mention=True)
    assert mentioned.text == "echo: hello there"
    replied = await bot.asks(group, ben, "go on", reply_to=mentioned)
    assert replied.text == "echo: go on"
    commanded = await bot.asks(group, ben, "/status")
    assert commanded.text.startswith(("Nothing is running", "A turn is running"))
    ours = await bot.asks(group, ben, f"/whoami@{bot.tg.bot.username}")
    assert f"Your id is {ben.id}" in ours.text
    assert "shared session" in ours.text
    entries = await bot.tape(group)
    assert words(entries, "user") == ["hello there", "go on"]
    assert [e.data["name"] for e in events(entries, "command")] == ["status", "whoami"]
    assert len(bot.said(group)) == 4


async def test_two_topics_are_two_sessions_and_each_reply_lands_in_its_topic(bot, ben, ann, number):
    """Done when 2, two forum topics; General is a third, and its replies carry no thread (case C64)."""
    forum = bot.tg.forum(-1005000 - number, "Forum", topics=["alpha", "beta"], members=[ben], admins=[ann])
    alpha, beta = forum.topic("alpha"), forum.topic("beta")
    for topic, word in ((alpha, "apples"), (beta, "pears"), (None, "plums")):
        forum.says(ben, word, mention=True, topic=topic)
    await bot.hears(forum, 3)
    where = {s.text: s.thread_id for s in bot.said(forum)}
    assert where == {"echo: apples": alpha, "echo: pears": beta, "echo: plums": None}
    assert words(await bot.tape(forum, alpha), "user") == ["apples"]
    assert words(await bot.tape(forum, beta), "user") == ["pears"]
    assert words(await bot.tape(forum), "user") == ["plums"]
    second = await bot.asks(forum, ben, "and more?", mention=True, topic=alpha)
    assert second.thread_id == alpha
    assert "apples" in bot.ai.requests[-1].text
    assert "pears" not in bot.ai.requests[-1].text


async def test_a_reply_chain_in_an_ordinary_supergroup_is_one_session(bot, ben, number):
    """Case C65: its messages carry a thread id too, which is no topic."""
    group = bot.tg.group(-1007000 - number, "Plain", members=[ben])
    first = await bot.asks(group, ben, "one", mention=True)
    second = await bot.asks(group, ben, "two", reply_to=first)
    third = await bot.asks(group, ben, "three", reply_to=second)
    assert [s.thread_id for s in (first, second, third)] == [None, None, None]
    assert words(await bot.tape(group), "user") == ["one", "two", "three"]


async def test_the_model_calls_tools_and_their_results_are_on_the_tape(bot, ben):
    """Done when 2: tools are called - the clock and the search over the tape, two of them in one step."""
    room = bot.tg.private(ben)
    await bot.asks(room, ben, "the cellar key hangs behind the clock")
    bot.ai.answers += [
        ToolCalls([("clock_now", {"timezone": "Europe/Berlin"}), ("tape_search", {"words": "cellar key"})]),
        Text("It hangs behind the clock."),
    ]
    answer = await bot.asks(room, ben, "where is the key, and what time is it?")
    assert answer.text == "It hangs behind the clock."
    clock, search = (json.loads(result) for result in bot.ai.requests[-1].results)
    assert clock["timezone"] == "Europe/Berlin"
    assert any("the cellar key hangs behind the clock" in hit["text"] for hit in search["hits"])
    entries = await bot.tape(room)
    [call] = facts(entries, ToolCall)
    [result] = facts(entries, ToolResult)
    assert [c.name for c in call.calls] == ["clock_now", "tape_search"]
    assert result.ids == tuple(c.id for c in call.calls)
    assert outcomes(entries) == ["finished", "finished"]


async def test_a_tool_that_does_not_exist_or_gets_broken_arguments_answers_with_an_error_and_the_turn_goes_on(bot, ben):
    """Done when 2 (tools): the model is told, the person gets the answer."""
    room = bot.tg.private(ben)
    bot.ai.answers += [ToolCalls([("no_such_tool", {}), ("clock_now", "{broken")]), Text("never mind")]
    assert (await bot.asks(room, ben, "try it")).text == "never mind"
    assert all("error" in json.loads(result) for result in bot.ai.requests[-1].results)
    assert outcomes(await bot.tape(room)) == ["finished"]


async def test_two_people_at_the_same_moment_get_their_own_answers(bot, ben, ann):
    """Case C53: nothing of one person's turn shows in another's."""
    people = [bot.tg.person(FRIENDS[-1 - n], f"Friend {n}") for n in range(8)]
    rooms = [bot.tg.private(person) for person in people]
    for turn in range(5):
        for person, room in zip(people, rooms, strict=True):
            room.says(person, f"secret of {person.id} number {turn}")
    await asyncio.gather(*(bot.tg.wait(lambda r=r: "number 4" in "".join(s.text for s in bot.said(r))) for r in rooms))
    for person, room in zip(people, rooms, strict=True):
        others = {str(other.id) for other in people} - {str(person.id)}
        assert not [s.text for s in bot.said(room) if any(other in s.text for other in others)]
        assert words(await bot.tape(room), "user") == [f"secret of {person.id} number {turn}" for turn in range(5)]


async def test_a_long_answer_arrives_whole_in_parts_that_telegram_takes(bot, ben):
    """Promise "nothing is cut": joined, the parts are the answer."""
    room = bot.tg.private(ben)
    text = "\n\n".join(f"paragraph {n} " + "word " * 120 for n in range(12)).strip()
    bot.ai.answers.append(Text(text))
    room.says(ben, "tell me everything")
    await bot.tg.wait(lambda: "paragraph 11" in "".join(s.text for s in bot.said(room)))
    said = bot.said(room)
    assert len(said) >= 2
    assert "".join("".join(s.text for s in said).split()) == "".join(text.split())
