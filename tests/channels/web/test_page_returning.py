"""What was said survives reloads, restarts and dead lines, in a real browser."""

import pytest
from playwright.async_api import Page, expect

from tests.channels.web.rig import Rig, message
from tests.channels.web.steps import said, type_and_send

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_reload_keeps_what_waits_and_what_was_typed(page: Page, rig: Rig) -> None:
    await type_and_send(page, "wait for me")
    await expect(page.locator(".under").first).to_have_text("delivered")
    await page.locator("#words").fill("half a thou")
    await page.reload()

    await expect(page.locator("#log .bubble")).to_have_text("wait for me")
    await expect(page.locator("#words")).to_have_value("half a thou")
    await expect(page.locator("#typing")).to_be_visible()
    assert rig.texts == ["wait for me"]


async def test_a_restarted_gateway_is_found_again_and_nothing_is_doubled(page: Page, rig: Rig) -> None:
    rig.talk(1, "before", "the storm")
    await type_and_send(page, "is it safe?")
    await expect(page.locator(".under:has-text('delivered')")).to_have_count(1)
    await rig.down()
    await expect(page.locator("#state")).to_have_text("reconnecting…")
    await type_and_send(page, "typed while away")
    rig.tape.turn(rig.received, "It is.")

    async with Rig(port=int(rig.url.rsplit(":", 1)[1]), tape=rig.tape) as again:
        again.answer = lambda said: "Welcome back." if said.text == "typed while away" else None
        await expect(page.locator("#state")).to_have_text("connected")
        await expect(page.locator("#log .bot")).to_have_count(3)
        assert again.texts.count("typed while away") == 1
        assert await said(page) == [
            "before",
            "the storm",
            "is it safe?",
            "It is.",
            "typed while away",
            "Welcome back.",
        ]
        await again.say(rig.tape.turn([message("later", "later")], "News."))
        await expect(page.locator("#log .bot").last).to_contain_text("News.")
        await expect(page.locator("#log .bot")).to_have_count(4)


async def test_a_line_that_is_there_is_not_drawn_again(page: Page, rig: Rig) -> None:
    rig.answer = lambda said: f"answer to {said.text}"
    await type_and_send(page, "one")
    await expect(page.locator("#log .bot")).to_have_count(1)
    await page.evaluate(
        "document.querySelector('#log .bot').marked = document.querySelector('#log .person').marked = 1"
    )
    await type_and_send(page, "two")
    await expect(page.locator("#log .bot")).to_have_count(2)

    assert await page.evaluate("[...document.querySelectorAll('#log article')].map(a => a.marked ?? 0)") == [
        1,
        1,
        0,
        0,
    ]


async def test_a_silent_line_is_given_up(page: Page, rig: Rig) -> None:
    await page.clock.install()
    await page.reload()
    await expect(page.locator("#state")).to_have_text("connected")
    await page.clock.fast_forward(41_000)

    await expect(page.locator("#state")).to_have_text("reconnecting…")
    await page.clock.fast_forward(10_000)
    await expect(page.locator("#state")).to_have_text("connected")


async def test_a_login_that_is_over_says_so(page: Page, rig: Rig) -> None:
    await page.context.clear_cookies()
    await type_and_send(page, "hello")

    await expect(page.locator("#state")).to_contain_text("logged out")
    await page.get_by_role("link", name="Log in again").click()
    await expect(page.get_by_label("Token")).to_be_visible()
    await page.goto(rig.links[-1])
    await expect(page.locator(".under").first).to_have_text("delivered")
    assert rig.texts == ["hello"]
