"""Sending and being answered, in a real browser."""

import re

import pytest
from playwright.async_api import Page, expect

from gateway.errors import Refused, Retryable
from gateway.message import Reply, TurnId
from tests.channels.web.rig import ROUTE, Rig, message
from tests.channels.web.steps import said, type_and_send

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_the_keyboard_alone_sends_and_reads_an_answer(page: Page, rig: Rig) -> None:
    """Done when 6."""
    rig.answer = lambda said: "**Pong**, of course."
    await page.keyboard.type("ping")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("pong?")
    await page.keyboard.press("Enter")

    await expect(page.locator("#log .bot strong")).to_have_text("Pong")
    assert rig.texts == ["ping\npong?"]
    assert await said(page) == ["ping\npong?", "Pong, of course."]
    await expect(page.locator("#words")).to_be_focused()
    await expect(page.locator("#typing")).to_be_hidden()
    await expect(page.get_by_role("log")).to_have_attribute("aria-live", "polite")


async def test_the_first_tab_stop_skips_to_writing(page: Page) -> None:
    await expect(page.locator("#empty")).to_be_visible()
    for _ in range(5):
        await page.keyboard.press("Shift+Tab")
    await expect(page.locator(".skip")).to_be_focused()
    await expect(page.locator(".skip")).to_be_in_viewport()
    await page.keyboard.press("Enter")
    await page.keyboard.type("here")
    await expect(page.locator("#words")).to_have_value("here")


async def test_enter_within_a_composition_sends_nothing(page: Page, rig: Rig) -> None:
    await page.locator("#words").fill("にほ")
    composing = "new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true, cancelable: true})"
    await page.evaluate(f"document.getElementById('words').dispatchEvent({composing})")

    await expect(page.locator("#words")).to_have_value("にほ")
    assert rig.received == []


async def test_a_preview_is_replaced_by_the_final_reply(page: Page, rig: Rig) -> None:
    await type_and_send(page, "write")
    await expect(page.locator(".under").first).to_have_text("delivered")
    (asked,) = rig.received
    await rig.channel.typing(ROUTE)
    await expect(page.locator("#typing")).to_be_visible()
    await rig.channel.preview(ROUTE, asked.turn, "Once upon a *ti")
    await expect(page.locator("#preview .prose")).to_have_text("Once upon a *ti")
    await rig.say(rig.tape.turn([asked], "Once upon a *time*."))

    await expect(page.locator("#log .bot .prose")).to_have_text("Once upon a time.")
    await expect(page.locator("#preview .prose")).to_have_count(0)
    await expect(page.locator("#typing")).to_be_hidden()
    assert await said(page) == ["write", "Once upon a time."]


async def test_messages_answered_together_stand_before_their_answer(page: Page, rig: Rig) -> None:
    for text in ("one", "two"):
        await type_and_send(page, text)
    await expect(page.locator(".under:has-text('delivered')")).to_have_count(2)
    await rig.say(rig.tape.turn(rig.received, "both"))

    await expect(page.locator("#log .bot .prose")).to_have_text("both")
    assert await said(page) == ["one", "two", "both"]
    assert await page.evaluate("localStorage.getItem('gateway:main:pending')") == "[]"


async def test_an_answer_shows_even_where_the_tape_cannot_be_read(page: Page, rig: Rig) -> None:
    await type_and_send(page, "hello?")
    await expect(page.locator(".under").first).to_have_text("delivered")
    await page.route("**/api/history*", lambda route: route.abort())
    await rig.say(rig.tape.turn(rig.received, "Here."))

    await expect(page.locator("#log .bot .prose")).to_have_text("Here.")
    assert await said(page) == ["hello?", "Here."]
    await expect(page.locator("#typing")).to_be_hidden()


async def test_an_answer_that_is_on_no_tape_is_shown_and_ends_the_waiting(page: Page, rig: Rig) -> None:
    await type_and_send(page, "let me in")
    await expect(page.locator(".under").first).to_have_text("delivered")
    (asked,) = rig.received
    await rig.say(Reply(asked.turn, asked.session, asked.route, "Not today.", on_tape=False))

    await expect(page.locator("#log .bot .prose")).to_have_text("Not today.")
    assert await said(page) == ["let me in", "Not today."]
    await expect(page.locator("#typing")).to_be_hidden()
    assert await page.evaluate("localStorage.getItem('gateway:main:pending')") == "[]"


async def test_a_refused_message_can_be_edited_or_removed(page: Page, rig: Rig) -> None:
    rig.refuse = lambda said: Refused("The queue is full.") if said.text == "no" else None
    await type_and_send(page, "no")
    await expect(page.locator(".refused .under")).to_contain_text("The queue is full.")
    await page.get_by_role("button", name="Edit").click()

    await expect(page.locator("#words")).to_have_value("no")
    await expect(page.locator(".refused")).to_have_count(0)
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Remove").click()
    await expect(page.locator("#log .person")).to_have_count(0)


async def test_a_busy_gateway_gets_the_message_later_once_and_in_order(page: Page, rig: Rig) -> None:
    rig.refuse = lambda said: Retryable("away", after=1)
    await type_and_send(page, "first")
    await type_and_send(page, "second")
    await expect(page.locator(".under:has-text('sending')")).to_have_count(2)
    rig.refuse = lambda said: None

    await expect(page.locator(".under:has-text('delivered')")).to_have_count(2)
    assert rig.texts == ["first", "second"]


async def test_a_full_queue_gives_the_words_back(page: Page, rig: Rig) -> None:
    await type_and_send(page, "too much")
    await expect(page.locator(".under").first).to_have_text("delivered")
    (asked,) = rig.received
    await rig.say(Reply(TurnId(f"{asked.id}/full"), asked.session, asked.route, "Too many wait."))

    await expect(page.locator(".refused .under")).to_contain_text("Too many wait.")
    await expect(page.locator("#typing")).to_be_hidden()


async def test_a_message_of_yesterday_is_not_sent_unasked(page: Page, rig: Rig) -> None:
    old = [
        {"id": "taken", "text": "a", "date": "2020-01-01T00:00:00Z", "taken": True},
        {"id": "unsent", "text": "b", "date": "2020-01-01T00:00:00Z"},
    ]
    await page.evaluate("old => localStorage.setItem('gateway:main:pending', JSON.stringify(old))", old)
    await page.reload()

    await expect(page.locator(".refused .under")).to_contain_text("still want to send it")
    await expect(page.locator("#log .bubble")).to_have_text("b")
    assert rig.received == []


async def test_a_reset_elsewhere_leaves_nothing_waiting(page: Page, rig: Rig) -> None:
    await type_and_send(page, "q")
    await expect(page.locator(".under").first).to_have_text("delivered")
    rig.tape.turn(rig.received, "a")
    rig.tape.put_away()
    await rig.say(rig.tape.turn([message("reset", "/reset")], "A fresh start."))

    await expect(page.locator("#log .bot")).to_have_text(re.compile("A fresh start"))
    await expect(page.locator("#log .person")).to_have_count(1)
    await expect(page.locator("#typing")).to_be_hidden()


async def test_a_second_tab_sees_what_waits_and_what_is_answered(page: Page, rig: Rig) -> None:
    other = await page.context.new_page()
    await other.goto(rig.url)
    await expect(other.locator("#state")).to_have_text("connected")
    await type_and_send(page, "from here")

    await expect(other.locator("#log .bubble")).to_have_text("from here")
    await expect(page.locator(".under").first).to_have_text("delivered")
    await rig.say(rig.tape.turn(rig.received, "for both"))
    await expect(other.locator("#log .prose")).to_have_text("for both")
    assert rig.texts == ["from here"]
    assert await said(other) == await said(page) == ["from here", "for both"]
