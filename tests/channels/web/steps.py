"""What a person does with the page and sees on it."""

from playwright.async_api import Page


async def type_and_send(page: Page, text: str) -> None:
    await page.locator("#words").fill(text)
    await page.keyboard.press("Enter")


async def said(page: Page) -> list[str]:
    """The lines that are shown, without their times."""
    return await page.locator("#log .bubble, #log .prose, #log .note:not(.day)").all_inner_texts()
