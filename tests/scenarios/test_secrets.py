"""Secrets reach no log line, no tape, no sent message: planted wherever they may come from."""

import base64
import json
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest
import pytest_asyncio

from tests.platforms.openai import Error, FakeOpenAI, Text, ToolCalls
from tests.platforms.telegram import FakeTelegram
from tests.scenarios.friends import Bot
from tests.support.gateway import Home
from tests.support.page import Page

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOKEN = "42:AAHsecretsecretsecretsecretsecretse"
KEY = "sk-proj-planted0123456789abcdef"
PAGE = "page-token-planted-0123456789"
SECRETS = {"the bot's token": TOKEN, "the model's key": KEY, "the page's token": PAGE}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def living() -> AsyncIterator[Bot]:
    async with FakeTelegram(TOKEN) as tg, FakeOpenAI(api_key=KEY) as ai:
        settings = {"telegram__access": "open", "model__api_key": KEY, "web__token": PAGE, "log__level": "debug"}
        async with Home(tg, ai, **settings) as home:
            yield Bot(tg, ai, home, await (await home.start()).polls())


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("source", ["a person", "the model", "a tool's arguments", "a provider's error", "a command"])
async def test_a_planted_secret_is_taken_out_before_it_reaches_log_tape_or_chat(bot, ben, source, name):
    """Promise "secrets reach no log, tape, chat or traceback"."""
    room, secret = bot.tg.private(ben), SECRETS[name]
    text = "hello"
    match source:
        case "a person":
            text = f"my key is {secret}, keep it"
        case "the model":
            bot.ai.answers.append(Text(f"your key is {secret} or {quote(secret, safe='')}", chunks=7))
        case "a tool's arguments":
            bot.ai.answers += [ToolCalls([("clock_now", {"timezone": secret})]), Text("that failed")]
        case "a provider's error":
            bot.ai.answers.append(
                Error(400, None, f"Invalid value: '{secret}' in {base64.b64encode(secret.encode())!r}")
            )
        case "a command":
            text = f"/handoff {secret} note {secret}"
    await bot.asks(room, ben, text)
    await bot.until_tape(room, lambda entries: any(getattr(e.fact, "name", "") == "delivery" for e in entries))
    spellings = {secret, quote(secret, safe=""), json.dumps(secret)[1:-1], base64.b64encode(secret.encode()).decode()}
    spellings = {s.rstrip("=") for s in spellings}
    sent = "\n".join(s.text for s in bot.tg.sent)
    tapes = "\n".join(f.read_text() for f in (bot.home.data / "tapes").rglob("*") if f.is_file())
    log = "\n".join(bot.gateway.raw)
    for where, shown in (("a message", sent), ("a tape", tapes), ("the log", log)):
        assert not [s for s in spellings if s in shown], f"{name} from {source} stands in {where}"


async def test_the_page_shows_no_secret_and_the_link_alone_holds_the_token(bot):
    """Promise as above, for the page; the login link on standard output is where its token may be."""
    bot.ai.answers.append(Text(f"the key {KEY} and the token {TOKEN}"))
    async with Page(bot.gateway) as page:
        answer = await page.asks("hello")
        assert KEY not in answer
        assert TOKEN not in answer
        assert SECRETS["the page's token"] not in json.dumps(await page.lines())
        assert SECRETS["the bot's token"] not in json.dumps(await page.health())
    assert [line for line in bot.gateway.out if PAGE in line] == [f"Open the chat page: {bot.gateway.link}"]


async def test_other_people_cannot_read_the_data_folder(bot):
    """The page's token, the tapes and the server's socket are their owner's alone."""
    open_to_others = [p for p in (bot.home.data, *bot.home.data.iterdir()) if p.stat().st_mode & 0o077 and p.is_dir()]
    assert not open_to_others
