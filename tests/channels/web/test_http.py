import asyncio
import io
import json

import aiohttp
import pytest

from gateway.errors import Refused, Retryable
from gateway.web.app import MAX_BODY
from tests.channels.web.rig import ROUTE, Rig, message, post, turn

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def news(answer: aiohttp.ClientResponse, *names: str) -> list[tuple[str, dict[str, object]]]:
    """Reads server-sent events until as many as `names` came."""
    found: list[tuple[str, dict[str, object]]] = []
    async with asyncio.timeout(5):
        while len(found) < len(names):
            block = (await answer.content.readuntil(b"\n\n")).decode()
            event, data = block.strip().split("\n")
            found.append((event.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    assert [name for name, _ in found] == list(names)
    return found


class TestMessages:
    async def test_accepted_is_said_only_when_it_is_durable(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        async with owner.post("/api/messages", json=post()) as answer:
            assert answer.status == 202
            assert (await answer.json()) == {"id": "web/local/main:c1"}
        assert rig.texts == ["hello"]

    async def test_a_retry_is_a_duplicate(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        for _ in range(3):
            async with owner.post("/api/messages", json=post()) as answer:
                assert answer.status == 202
        assert rig.texts == ["hello"]

    async def test_a_gateway_that_cannot_keep_it_says_when_to_try_again(
        self, owner: aiohttp.ClientSession, rig: Rig
    ) -> None:
        rig.refuse = lambda message: Retryable("Redis is away", after=3.2)
        async with owner.post("/api/messages", json=post()) as answer:
            assert (answer.status, answer.headers["Retry-After"]) == (503, "4")
        async with owner.get("/api/history") as answer:
            assert await answer.json() == {"lines": [], "waiting": False, "earlier": 0, "settled": []}

    async def test_a_refusal_is_a_sentence(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        rig.refuse = lambda message: Refused("The queue is full: wait for an answer.")
        async with owner.post("/api/messages", json=post()) as answer:
            assert answer.status == 422
            assert (await answer.json()) == {"error": "The queue is full: wait for an answer."}

    async def test_more_than_a_megabyte_is_too_large(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        async with owner.post("/api/messages", data=io.BytesIO(json.dumps(post("x" * MAX_BODY)).encode())) as answer:
            assert answer.status == 413
            assert "1 MB" in (await answer.json())["error"]
        assert rig.received == []

    async def test_half_a_megabyte_is_not(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        async with owner.post("/api/messages", json=post("x" * (MAX_BODY // 2))) as answer:
            assert answer.status == 202

    async def test_a_bug_is_one_plain_sentence(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        rig.refuse = lambda message: ZeroDivisionError("secret inner thing")
        async with owner.post("/api/messages", json=post()) as answer:
            text = await answer.text()
        assert answer.status == 500
        assert "Traceback" not in text
        assert "secret" not in text


class TestHistory:
    async def test_it_is_what_the_tape_says_with_html(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        rig.talk(1, "a <b> & c", "**d**")
        async with owner.get("/api/history?chat=main") as answer:
            told = await answer.json()

        assert [(line["kind"], line["text"]) for line in told["lines"]] == [("person", "a <b> & c"), ("bot", "**d**")]
        assert [line["html"] for line in told["lines"]] == [
            "a &lt;b&gt; &amp; c",
            '<p dir="auto"><strong>d</strong></p>\n',
        ]
        assert told["waiting"] is False

    async def test_an_accepted_message_is_pending_until_the_tape_has_it(
        self, owner: aiohttp.ClientSession, rig: Rig
    ) -> None:
        async with owner.post("/api/messages", json=post("wait for me")):
            pass
        async with owner.get("/api/history") as answer:
            told = await answer.json()
        assert told["waiting"] is True
        assert [(line["text"], line["pending"]) for line in told["lines"]] == [("wait for me", True)]

        rig.tape.turn(rig.received, "done")
        async with owner.get("/api/history") as answer:
            told = await answer.json()
        assert told["waiting"] is False
        assert [line["text"] for line in told["lines"]] == ["wait for me", "done"]
        assert not any("pending" in line for line in told["lines"])

    async def test_what_a_reset_put_away_is_not_waited_for(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        async with owner.post("/api/messages", json=post("before", "c1")):
            pass
        rig.tape.turn(rig.received, "done")
        rig.tape.put_away()
        async with owner.get("/api/history?pending=c1,c2") as answer:
            told = await answer.json()
        assert told == {"lines": [], "waiting": False, "earlier": 0, "settled": ["web/local/main:c1"]}

    async def test_the_newest_lines_come_first_and_the_rest_is_counted(
        self, owner: aiohttp.ClientSession, rig: Rig
    ) -> None:
        for number in range(300):
            rig.talk(number, f"q{number}", f"a{number}")
        async with owner.get("/api/history") as answer:
            told = await answer.json()
        assert (len(told["lines"]), told["earlier"], told["lines"][-1]["text"]) == (200, 400, "a299")
        async with owner.get("/api/history?limit=600") as answer:
            told = await answer.json()
        assert (len(told["lines"]), told["earlier"]) == (600, 0)

    async def test_another_chat_has_its_own(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        rig.talk(1, "q", "a")
        async with owner.get("/api/history?chat=work") as answer:
            assert (await answer.json())["lines"] == []
        async with owner.get("/api/history?chat=a/b") as answer:
            assert answer.status == 422


class TestEvents:
    async def test_a_connected_page_is_told_everything_in_order(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        reply = rig.tape.turn([message("c1", "q")], "**a**\n\nb")
        async with owner.get("/api/events?chat=main") as answer:
            await news(answer, "hello")
            await rig.channel.typing(ROUTE)
            await rig.channel.preview(ROUTE, turn("c1"), "**a")
            await rig.say(reply)
            found = await news(answer, "typing", "preview", "reply")

        assert found[1][1]["text"] == "**a"
        told = found[2][1]
        assert (told["turn"], told["part"], told["of"], told["text"]) == (turn("c1"), 0, 1, "**a**\n\nb")
        assert "<strong>a</strong>" in str(told["html"])

    async def test_previews_that_were_not_fetched_are_replaced(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        async with owner.get("/api/events") as answer:
            await news(answer, "hello")
            for number in range(50):
                await rig.channel.preview(ROUTE, turn("c1"), f"{number}")
            found = await news(answer, "preview")
        assert found[0][1]["text"] == "49"

    async def test_a_chat_hears_nothing_of_another(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        async with owner.get("/api/events?chat=work") as answer:
            await news(answer, "hello")
            await rig.channel.typing(ROUTE)
            await rig.clock.until_waiting()
            rig.clock.advance(15)
            await news(answer, "beat")

    async def test_a_stop_of_the_gateway_ends_the_stream(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        async with owner.get("/api/events") as answer:
            await news(answer, "hello")
            async with asyncio.timeout(1.5):
                await rig.down()
            assert await answer.content.read() == b""

    async def test_a_page_that_lags_too_far_is_cut_off(self, owner: aiohttp.ClientSession, rig: Rig) -> None:
        reply = rig.tape.turn([message("c1", "q")], "a")
        async with owner.get("/api/events") as answer:
            await news(answer, "hello")
            for _ in range(300):
                await rig.say(reply)
            async with asyncio.timeout(5):
                await answer.content.read()
