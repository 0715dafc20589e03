"""A real browser. A machine without Chromium fails the tests that need one: a page nobody opened is not tested."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Browser, Page, async_playwright

CHROMIUM = Path("/usr/bin/chromium")
SCREENS = Path(__file__).parents[2] / "artifacts" / "screens"
_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """One browser; each test takes a context of its own from it."""
    if not CHROMIUM.exists():
        raise AssertionError(f"{CHROMIUM} is missing: apt-get install --no-install-recommends chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(_QUIET))
        try:
            yield browser
        finally:
            await browser.close()


async def shoot(page: Page, name: str) -> None:
    """A picture for people, in artifacts/screens."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    await page.screenshot(path=SCREENS / f"{name}.png", animations="disabled")


async def violations(page: Page) -> list[str]:
    """What axe finds wrong, a line each."""
    found = (await Axe().run(page)).response["violations"]
    return [f"{v['id']}: {v['help']}: {[n['html'][:160] for n in v['nodes'][:3]]}" for v in found]


async def sideways(page: Page) -> int:
    """By how many pixels the page can be scrolled sideways: 0."""
    width: int = await page.evaluate(
        "Math.max(...[document.scrollingElement, document.getElementById('scroller')]"
        ".filter(Boolean).map(e => e.scrollWidth - e.clientWidth))"
    )
    return width
