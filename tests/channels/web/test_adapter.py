import socket

import pytest
from structlog.testing import capture_logs

from channels.web import build
from gateway.channel import Channel, ShowsProgress, ShowsTyping
from gateway.errors import Refused, Retryable
from gateway.web.app import WebApp
from tests.channels.web.rig import TOKEN, Rig, message


@pytest.fixture
def taken() -> socket.socket:
    """A port that another program has."""
    return socket.create_server(("127.0.0.1", 0))


def as_port(rig: Rig) -> Channel:
    return rig.channel


async def test_it_is_a_channel_that_shows_that_it_works() -> None:
    rig = Rig()

    assert (as_port(rig).name, as_port(rig).account) == ("web", "local")
    assert isinstance(rig.channel, ShowsTyping)
    assert isinstance(rig.channel, ShowsProgress)


async def test_it_can_send_only_while_the_port_is_its_own() -> None:
    rig = Rig()
    reply = rig.tape.turn([message("c1", "q")], "a")
    (part,) = rig.channel.render(reply.text)

    assert (rig.channel.can_send, rig.channel.health.state) == (False, "starting")
    await rig.up()
    assert (rig.channel.can_send, rig.channel.health.state) == (True, "connected")
    assert await rig.channel.send(reply, part, index=0, of=1, repeated=False)
    await rig.down()
    assert (rig.channel.can_send, rig.channel.health.state) == (False, "off")
    with pytest.raises(Retryable):
        await rig.channel.send(reply, part, index=0, of=1, repeated=False)


async def test_a_bound_port_is_announced_with_the_login_link() -> None:
    async with Rig() as rig:
        assert rig.links == [f"{rig.url}/?token={TOKEN}"]
        assert not rig.url.endswith(":0")


async def test_a_taken_port_is_one_line_and_a_health_that_says_what_to_do(taken: socket.socket) -> None:
    rig = Rig(port=taken.getsockname()[1])
    with capture_logs() as logs:
        rig.start()
        for _ in range(3):
            await rig.clock.until_waiting()
            rig.clock.advance(5)
        await rig.clock.until_waiting()

        assert [line["event"] for line in logs] == ["web.port_taken"]
        assert rig.channel.health.state == "degraded"
        assert "GATEWAY_WEB__PORT" in rig.channel.health.detail
        assert not rig.channel.can_send
        assert rig.links == []

        taken.close()
        rig.clock.advance(5)
        await rig.bound()
    assert rig.channel.can_send
    await rig.down()


async def test_the_same_channel_runs_again_on_its_port() -> None:
    rig = Rig()
    await rig.up()
    first = rig.url
    await rig.down()
    await rig.up()

    assert (rig.url, len(rig.links)) == (first, 2)
    await rig.down()


async def test_a_page_without_a_token_is_refused() -> None:
    with pytest.raises(Refused, match="GATEWAY_WEB__TOKEN"):
        build(app=WebApp(), token="", history=Rig().history)


async def test_typing_and_previews_to_nobody_are_of_no_consequence() -> None:
    rig = Rig()
    said = message("c1", "q")

    await rig.channel.typing(said.route)
    await rig.channel.preview(said.route, said.turn, "half")
