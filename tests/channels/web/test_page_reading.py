"""Reading, copying and the list of commands, in a real browser."""

import asyncio

import pytest
from playwright.async_api import Page, Route, expect

from tests.channels.web.rig import Rig, message
from tests.channels.web.steps import said, type_and_send

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_who_reads_above_is_left_there_and_told_of_news(page: Page, rig: Rig) -> None:
    for number in range(30):
        rig.talk(number, f"q{number}", f"a{number}")
    await page.reload()
    await expect(page.locator("#log .bot")).to_have_count(30)
    await page.wait_for_function(
        "scroller.scrollTop > 500 && scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 5"
    )
    await page.evaluate("scroller.scrollTop = 100")
    await rig.say(rig.tape.turn([message("new", "q")], "fresh"))

    await expect(page.locator("#unread")).to_be_visible()
    assert await page.evaluate("scroller.scrollTop") == 100
    await page.locator("#unread").click()
    await expect(page.locator("#unread")).to_be_hidden()
    await expect(page.locator("#log .bot").last).to_be_in_viewport()


async def test_earlier_messages_come_on_request_and_the_place_is_kept(page: Page, rig: Rig) -> None:
    for number in range(150):
        rig.talk(number, f"q{number}", f"a{number}")
    await page.reload()
    await expect(page.locator("#log article")).to_have_count(200)
    await page.evaluate("scroller.scrollTop = 0")
    first = page.locator("#log article").first
    await expect(first).to_contain_text("q50")
    await page.locator("#earlier").click()

    await expect(page.locator("#log article")).to_have_count(300)
    await expect(page.locator("#earlier")).to_be_hidden()
    await expect(page.get_by_text("q50", exact=True)).to_be_in_viewport()


async def test_the_title_counts_what_came_while_nobody_looked(page: Page, rig: Rig) -> None:
    rig.talk(1, "q", "a")
    await page.reload()
    await expect(page.locator("#log .bot")).to_have_count(1)
    await page.evaluate("Object.defineProperty(document, 'hidden', {get: () => window.away, configurable: true})")
    await page.evaluate("window.away = true")
    await rig.say(rig.tape.turn([message("new", "q")], "fresh"))
    await expect(page).to_have_title("(1) gateway")
    await page.evaluate("window.away = false; document.dispatchEvent(new Event('visibilitychange'))")
    await expect(page).to_have_title("gateway")


async def test_code_and_answers_can_be_copied(page: Page, rig: Rig) -> None:
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    rig.talk(1, "q", "Run:\n\n```sh\nls -la\n```")
    await page.reload()
    await page.locator("button.copy").click()
    await expect(page.locator("button.copy")).to_have_text("Copied")
    assert await page.evaluate("navigator.clipboard.readText()") == "ls -la\n"
    await page.get_by_role("button", name="Copy this answer").click()
    assert await page.evaluate("navigator.clipboard.readText()") == "Run:\n\n```sh\nls -la\n```"


async def test_a_slash_offers_commands_by_keyboard(page: Page, rig: Rig) -> None:
    rig.answer = lambda said: "Nothing runs."
    await page.keyboard.type("/st")
    options = page.get_by_role("option")
    await expect(options).to_have_count(2)
    await expect(options.first).to_have_attribute("aria-selected", "true")
    await page.keyboard.press("ArrowDown")
    await expect(page.locator("#words")).to_have_attribute("aria-activedescendant", "hint-1")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Tab")
    await expect(page.locator("#words")).to_have_value("/status")
    await expect(page.locator("#hints")).to_be_hidden()
    await page.keyboard.press("Enter")
    await expect(page.locator("#log .prose")).to_have_text("Nothing runs.")
    assert await said(page) == ["/status", "Nothing runs."]


async def test_escape_closes_the_list_and_enter_then_sends_what_stands_there(page: Page, rig: Rig) -> None:
    await page.keyboard.type("/st")
    await page.keyboard.press("Escape")
    await expect(page.locator("#hints")).to_be_hidden()
    await page.keyboard.press("Enter")
    await expect(page.locator("#log .bubble")).to_have_text("/st")


async def test_a_running_answer_can_be_stopped_by_a_button(page: Page, rig: Rig) -> None:
    await expect(page.locator("#stop")).to_be_hidden()
    await type_and_send(page, "tell me everything")
    await page.get_by_role("button", name="Stop the answer").click()
    await expect(page.locator("#log .bubble").last).to_have_text("/stop")
    assert rig.texts == ["tell me everything", "/stop"]


async def test_an_example_is_put_into_the_field(page: Page, rig: Rig) -> None:
    await page.locator(".examples button").first.click()
    await expect(page.locator("#words")).to_have_value("Explain how a cassette tape stores sound, as if I were ten")
    await expect(page.locator("#words")).to_be_focused()
    assert rig.received == []


async def test_a_slash_that_was_typed_before_the_list_of_commands_came_opens_it_then(page: Page, rig: Rig) -> None:
    come = asyncio.Event()

    async def late(route: Route) -> None:
        await come.wait()
        await route.continue_()

    await page.route("**/api/commands", late)
    await page.reload()
    await page.keyboard.type("/st")
    await expect(page.get_by_role("option")).to_have_count(0)
    come.set()
    await expect(page.get_by_role("option")).to_have_count(2)
