"""One browser a file; a page and a gateway of its own for each test."""

from collections.abc import AsyncIterator

import aiohttp
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.channels.web.rig import Rig
from tests.support.browser import chromium


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def rig() -> AsyncIterator[Rig]:
    async with Rig() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser: Browser, rig: Rig) -> AsyncIterator[Page]:
    async with await browser.new_context() as context:
        opened = await context.new_page()
        await opened.goto(rig.links[-1])
        await expect(opened.locator("#state")).to_have_text("connected")
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def stranger(rig: Rig) -> AsyncIterator[aiohttp.ClientSession]:
    """Who has no token."""
    async with aiohttp.ClientSession(rig.url, cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def owner(rig: Rig, stranger: aiohttp.ClientSession) -> aiohttp.ClientSession:
    """Who opened the login link."""
    async with stranger.get(rig.links[-1]) as answer:
        assert answer.status == 200
    return stranger
