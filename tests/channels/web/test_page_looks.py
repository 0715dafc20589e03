"""The page as people see it: any width, any light, any text; and what nobody must see."""

import pytest
from playwright.async_api import Browser, Page, expect

from tests.channels.web.rig import ROUTE, Rig, message, turn
from tests.channels.web.steps import type_and_send
from tests.channels.web.test_render import ATTACKS
from tests.support.browser import shoot, sideways, violations

pytestmark = pytest.mark.asyncio(loop_scope="module")


CODE = "```python\n" + "x = [" + ", ".join(str(n) for n in range(200)) + "]\nprint(x)\n```"
TABLE = (
    "| " + " | ".join(f"column {n}" for n in range(14)) + " |\n" + "|--" * 14 + "|\n" + "| some words here " * 14 + "|"
)
LONG_WORD = "W" * 2000
ARABIC = "مرحبا بك في هذه الصفحة.\n\n- أولاً\n- ثانياً"


def converse(rig: Rig) -> None:
    """A conversation with everything in it that is hard to show."""
    rig.talk(1, "How do I copy my photos?\nThey are many.", f"## With `rsync`\n\n1. A disk\n2. A *friend*\n\n{CODE}")
    rig.tape.anchor("phase-2")
    rig.talk(2, LONG_WORD, f"{TABLE}\n\n> A quote, and [a link](https://x.example)\n\n#### Deep\n\n{LONG_WORD}")
    rig.tape.command(message("s", "/status"), "Nothing runs.")
    rig.talk(3, "مرحبا", f"{ARABIC}\n\n`{'inline' * 100}`")


async def test_no_attack_runs_in_the_page(page: Page, rig: Rig) -> None:
    alarms: list[str] = []
    page.on("dialog", lambda dialog: alarms.append(dialog.message))
    page.on("request", lambda request: None if rig.url in request.url else alarms.append(request.url))
    await page.evaluate("window.alert = () => { window.attacked = true }; null")
    for number, attack in enumerate(ATTACKS):
        rig.talk(number, attack, attack)
    live = rig.tape.turn([message("live", "<img src=x onerror=alert(1)>")], "\n\n".join(ATTACKS))
    await rig.channel.preview(ROUTE, turn("preview"), "\n\n".join(ATTACKS))
    await rig.say(live)
    await expect(page.locator("#log .bot")).to_have_count(len(ATTACKS) + 1)
    for link in await page.locator("#log a").all():
        assert str(await link.get_attribute("href")).startswith(("https://", "mailto:"))

    assert await page.locator("#log :is(script, img, svg, style, iframe)").count() == 0
    assert await page.evaluate("window.attacked ?? false") is False
    assert alarms == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
async def test_everybody_can_use_it_at_any_width(browser: Browser, rig: Rig, width: int, scheme: str) -> None:
    """Done when 6: axe, both widths, light and dark, and the pictures."""
    size = {"width": width, "height": 760}
    async with await browser.new_context(
        viewport=size,  # type: ignore[arg-type]
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    ) as context:
        page = await context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))

        async def is_good(name: str) -> None:
            assert await violations(page) == []
            assert await sideways(page) == 0
            await shoot(page, f"web-{name}-{width}-{scheme}")

        await page.goto(rig.url)
        await is_good("login")
        await page.goto(rig.links[-1])
        await expect(page.locator("#empty-commands")).to_be_visible()
        await is_good("empty")
        await page.keyboard.type("/")
        await expect(page.get_by_role("option").first).to_be_visible()
        await is_good("commands")
        await page.locator("#words").fill("")

        converse(rig)
        await page.reload()
        await expect(page.locator("#log .bot")).to_have_count(4)
        await page.evaluate("scroller.scrollTop = 0")
        await is_good("conversation")
        await type_and_send(page, LONG_WORD)
        await expect(page.locator(".under:has-text('delivered')")).to_have_count(1)
        await rig.channel.preview(ROUTE, turn("live"), f"{CODE}\n\n{TABLE}\n\n{LONG_WORD}")
        await expect(page.locator("#preview .prose")).to_have_count(1)
        await is_good("live")
        await page.locator("#words").fill("word " * 2000)
        await is_good("long-draft")
        await rig.down()
        await expect(page.locator("#state")).to_have_text("reconnecting…")
        await is_good("reconnecting")
        assert errors == []


async def test_a_right_to_left_answer_reads_from_the_right(page: Page, rig: Rig) -> None:
    rig.talk(1, "مرحبا", ARABIC)
    await page.reload()
    paragraph = page.locator("#log .prose p").first

    assert await paragraph.evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert await page.locator("#log .bubble").evaluate("e => getComputedStyle(e).direction") == "rtl"
