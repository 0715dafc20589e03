"""Names and rights of people."""

import asyncio
from collections.abc import Mapping

import pytest

from channels.slack.api import Api
from channels.slack.people import People
from gateway.errors import Retryable
from gateway.message import Route
from tests.channels.slack.rig import ACCOUNT, Ear, Rig, WatchfulClock
from tests.platforms.slack import Channel, FakeSlack, Person, ServerError, Slow

ANYWHERE = Route("slack", ACCOUNT, "C1")


async def test_names_are_asked_for_once_and_never_waited_for_long(
    slack: FakeSlack, rig: Rig, ear: Ear, chat: Channel, ann: Person, bob: Person
) -> None:
    never = asyncio.Event()
    slack.inject("users.info", Slow(never), when=lambda call: call.form["user"] == "U2")
    async with rig.connected(ear):
        chat.says(ann, "see <@U2> and <@U404>")
        chat.says(ann, "and <@U1>")
        await ear.texts(2)

    assert [message.text for message in ear.heard] == ["see @U2 and @U404", "and @Ann"]
    assert {message.author.name for message in ear.heard} == {"Ann"}
    assert sorted(call.form["user"] for call in slack.calls_of("users.info")) == ["U1", "U2", "U404"]


async def test_c100_admins_are_those_of_the_workspace_by_their_ids(slack: FakeSlack, rig: Rig, ear: Ear) -> None:
    slack.person("U7", "Root", is_admin=True)
    slack.person("U8", "Owner", is_owner=True)
    slack.person("U6", "Nobody")
    async with rig.connected(ear) as channel:
        assert channel.admin(ANYWHERE, "U7") is None
        assert [await channel.ask_admin(ANYWHERE, person) for person in ("U7", "U8", "U6")] == [True, True, False]
        assert [channel.admin(ANYWHERE, person) for person in ("U7", "U8", "U6")] == [True, True, False]
        slack.inject("users.info", ServerError())
        with pytest.raises(Retryable):
            await channel.ask_admin(ANYWHERE, "@Root")


@pytest.mark.parametrize("right", ["is_admin", "is_owner", "is_primary_owner"])
async def test_each_of_slacks_three_rights_makes_an_admin(right: str) -> None:
    class Told(Api):
        async def ask(self, method: str, **arguments: str | int | bool) -> Mapping[str, object]:
            return {"ok": True, "user": {"id": "U1", "name": "ann", right: arguments["user"] == "U1"}}

    admins = People(Told("xoxb-1", "", 1), WatchfulClock()).admins

    assert [await admins.find("", person) for person in ("U1", "U2")] == [True, False]
