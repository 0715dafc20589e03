"""Who a platform's own admins are, and what was said before: both by setting, in one living gateway."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from gateway.tape.fork import QUOTED
from tests.platforms.openai import Text
from tests.scenarios.friends import words
from tests.support.everywhere import Everywhere

pytestmark = pytest.mark.asyncio(loop_scope="module")

STARTED = "Started over."
REFUSED = "/reset is for admins here."
CHANNELS = ("telegram", "discord", "slack")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[Everywhere]:
    settings = {f"{name}__platform_admins": "true" for name in CHANNELS}
    settings |= {f"{name}__group_context": "2" for name in CHANNELS}
    async with Everywhere(**settings, discord__message_content="true", discord__admin_roles="555") as world:
        await (await world.home.begin()).connected(*CHANNELS)
        yield world


async def test_an_administrator_of_a_telegram_chat_may_and_a_member_may_not(world: Everywhere) -> None:
    """C97, C98: judged where the command waits, since only Telegram knows."""
    ann, ben = world.tg.person(501, "Ann"), world.tg.person(502, "Ben")
    group = world.tg.group(-100777, "Team", members=[ben], admins=[ann])
    group.says(ben, "/reset")
    await world.tg.wait_sent(lambda s: s.chat_id == group.id and s.text.startswith(REFUSED))
    group.says(ann, "/reset")
    await world.tg.wait_sent(lambda s: s.chat_id == group.id and s.text.startswith(STARTED))


async def test_a_discord_owner_and_a_role_may_and_a_member_may_not(world: Everywhere) -> None:
    """C97, C98."""
    ann, ben, cid = (world.dc.person(510 + n, name) for n, name in enumerate(("Ann", "Ben", "Cid")))
    guild = world.dc.guild(7700, "Team", members=[ann, ben, cid], owner=ann)
    room = guild.text("general")
    guild.give(cid, guild.role("bot masters", id=555))
    for person, answer in ((ben, REFUSED), (ann, STARTED), (cid, STARTED)):
        before = len(world.dc.sent)
        room.says(person, "/reset")
        await world.dc.wait(
            lambda before=before, answer=answer: [s for s in world.dc.sent[before:] if s.content.startswith(answer)]
        )


async def test_an_admin_of_a_slack_workspace_may_and_a_member_may_not(world: Everywhere) -> None:
    """C97, C98."""
    ann, ben = world.sl.person("UADMIN", "Ann", is_admin=True), world.sl.person("UBEN", "Ben")
    channel = world.sl.channel("C777", "team", members=[ann, ben])
    root = channel.says(ben, "hello", mention=True)
    await world.sl.wait_sent(lambda s: s.thread_ts == root.ts)
    for person, answer in ((ben, REFUSED), (ann, STARTED)):
        channel.says(person, "!reset", thread=root)
        await world.sl.wait_sent(lambda s, answer=answer: s.thread_ts == root.ts and answer in s.text)


async def test_what_was_said_before_reaches_the_model_marked_as_not_said_to_it(world: Everywhere) -> None:
    """Contents 6: `group_context`: the last two messages come along with the next that is for the bot, quoted."""
    heard: list[str] = []
    world.ai.script = lambda request: (heard.append(str(request.messages)), Text("noted"))[1]
    ann, ben = world.tg.person(521, "Ann"), world.tg.person(522, "Ben")
    group = world.tg.group(-100888, "Team", members=[ann, ben])
    for text in ("too old", "shall we meet at six?", "rather at seven"):
        group.says(ben, text)
    group.says(ann, "note when we meet", mention=True)
    await world.tg.wait_sent(lambda s: s.chat_id == group.id)
    dana = world.dc.person(523, "Dana")
    room = world.dc.guild(7800, "Team", members=[dana]).text("general")
    room.says(dana, "the door code changed")
    room.says(dana, "remember that", mention=True)
    await world.dc.wait_sent(lambda s: s.channel_id == room.id)
    eve = world.sl.person("UEVE", "Eve")
    channel = world.sl.channel("C888", "team", members=[eve])
    channel.says(eve, "lunch is at noon")
    root = channel.says(eve, "remember lunch", mention=True)
    await world.sl.wait_sent(lambda s: s.thread_ts == root.ts)

    telegram, discord, slack = heard
    assert QUOTED in telegram
    assert "> Ben: shall we meet at six?" in telegram
    assert "too old" not in telegram
    assert "> Dana: the door code changed" in discord
    assert "> Eve: lunch is at noon" in slack
    assert words(await world.home.tape(f"telegram/42/{group.id}"), "user")[-1] == "note when we meet"
