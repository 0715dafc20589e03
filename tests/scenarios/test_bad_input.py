"""Whatever people and platforms send: it is answered, or refused in a sentence, and the tape stays readable."""

import asyncio
import json

import pytest

from tests.platforms.telegram import Entity
from tests.scenarios.friends import outcomes, session, words
from tests.support.page import Page

pytestmark = pytest.mark.asyncio(loop_scope="package")

ODD = {
    "NUL": ("a\0b", "a\ufffdb"),
    "lone surrogate": ("half \ud83d of it", "half \ufffd of it"),
    "line separator": ("one\u2028two\u2029three\x85four", None),
    "right to left": ("שלום \u202eevil\u202c עולם", None),
    "emoji only": ("👩‍👩‍👧‍👦🏳️‍🌈", None),
    "controls": ("\x1b[31mred\x07", None),
    "a byte order mark": ("\ufeffhello", None),
}


@pytest.mark.parametrize("name", ODD)
async def test_an_odd_text_on_the_page_is_answered_and_the_tape_stays_readable(bot, name, number):
    """What bad input gets: NUL, lone surrogate, U+2028, RTL, emoji; as JSON escapes, so that half characters arrive."""
    text, kept = ODD[name]
    async with Page(bot.gateway, chat=f"odd-{number}") as page:
        status, told = await page.posts(json.dumps({"chat": f"odd-{number}", "id": "m1", "text": text}).encode())
        assert status == 202, told
        answer = await page.answer(told["id"])
    assert answer == f"echo: {kept or text}"
    shown = await bot.home.run("tape", "show", f"web/local/odd-{number}", "--json")
    assert shown.status == 0, shown.err
    rows = [json.loads(line) for line in shown.out.split("\n") if line]
    assert [r["payload"]["content"] for r in rows if r["kind"] == "message"] == [kept or text, answer]
    assert bot.home.lines(f"web/local/odd-{number}"), "the file has a line that is no JSON"


@pytest.mark.parametrize("text", ["", "   ", "\n\t"], ids=["empty", "spaces", "white space"])
async def test_an_empty_text_on_the_page_is_refused_in_a_sentence(bot, text, number):
    """What bad input gets: empty."""
    async with Page(bot.gateway, chat=f"empty-{number}") as page:
        status, told = await page.posts(json.dumps({"chat": f"empty-{number}", "id": "m1", "text": text}).encode())
    assert status == 422
    assert told["error"].endswith(".")
    assert not await bot.home.tape(f"web/local/empty-{number}")


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[" * 100_000, b'{"chat": 1}', b"\xff\xfe", b'{"chat":"a/b","id":"x","text":"y"}'],
    ids=range(6),
)
async def test_a_body_that_is_no_message_is_refused_in_a_sentence(bot, body):
    """What bad input gets: whatever a page may post."""
    async with Page(bot.gateway) as page:
        status, told = await page.posts(body)
    assert status == 422
    assert told["error"].endswith(".")


async def test_four_hundred_thousand_characters_are_answered(bot, number):
    """What bad input gets: huge. It comes back whole, and the tape holds it whole."""
    text = "all work and no play " * 20_000
    async with Page(bot.gateway, chat=f"huge-{number}") as page:
        answer = await page.asks(text[:400_000])
    assert answer == f"echo: {text[:400_000]}"
    entries = await bot.home.tape(f"web/local/huge-{number}")
    assert words(entries, "user") == [text[:400_000]]


async def test_more_than_a_body_may_hold_is_refused_in_a_sentence(bot, number):
    """What bad input gets: larger than huge."""
    async with Page(bot.gateway, chat=f"vast-{number}") as page:
        status, told = await page.posts(json.dumps({"chat": "main", "id": "m1", "text": "x" * 2_000_000}).encode())
    assert status == 413
    assert told["error"].endswith(".")


@pytest.mark.parametrize(
    "text", ["👍🏽", "שלום \u202eabc", "one\u2028two", "𝒽𝑒𝓁𝓁𝑜 " * 30, "a\u200bb", "/\u200bhelp", "﷽"], ids=range(7)
)
async def test_an_odd_text_in_telegram_is_answered(bot, ben, text):
    """What bad input gets, in the channel that counts UTF-16 units."""
    room = bot.tg.private(ben)
    answer = await bot.asks(room, ben, text)
    assert kept_by_telegram(answer.text) == kept_by_telegram(f"echo: {text}")
    assert words(await bot.tape(room), "user") == [text.strip()]
    assert outcomes(await bot.tape(room)) == ["finished"]


def kept_by_telegram(text):
    """Telegram takes line separators and direction marks out of what a bot sends."""
    return "".join(c for c in text if not c.isspace() and not "\u2028" <= c <= "\u202e")


async def test_an_update_that_cannot_be_parsed_is_set_aside_raw_and_stops_nobody(bot, ben):
    """What bad input gets: poison; the file holds the update as it came, and those behind it are answered."""
    room = bot.tg.private(ben)
    poison = bot.tg.push_raw({"message": {"message_id": "not a number", "chat": 7, "text": "poison words"}})
    assert (await bot.asks(room, ben, "still there?")).text == "echo: still there?"
    file = bot.home.data / "poison" / f"{poison['update_id']}.json"
    assert json.loads(file.read_text()) == poison
    assert "poison words" not in "\n".join(bot.gateway.raw)
    await bot.tg.wait(lambda: not bot.tg.pending)


async def test_entities_that_point_outside_their_text_do_no_harm(bot, ben):
    """What bad input gets: an update that is readable and wrong."""
    room = bot.tg.private(ben)
    answer = await bot.asks(room, ben, "short", entities=[Entity("bot_command", 100, 50), Entity("mention", 3, 99)])
    assert answer.text == "echo: short"


async def test_a_sticker_or_a_picture_is_named_to_the_model_and_answered(bot, ben):
    """What bad input gets: no text at all."""
    room = bot.tg.private(ben)
    answer = await bot.asks(room, ben, "", photo=b"not really a picture")
    assert answer.text.startswith("echo: [")
    shape = {"type": "regular", "width": 1, "height": 1, "is_animated": False, "is_video": False}
    room.says(ben, extra={"sticker": {"file_id": "s", "file_unique_id": "s", "emoji": "👍", **shape}, "text": None})
    await asyncio.wait_for(bot.hears(room, 2), 30)
    assert bot.home.lines(session(room))
