"""What the doctor says of tokens, switches, scopes and ids, with the platforms' fakes."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence

import pytest
from aiohttp import web

from gateway.cli.checks import discord, model, slack, telegram
from gateway.cli.checks.finding import Check, Finding, tried
from gateway.errors import Refused
from gateway.settings import Settings, load
from tests.platforms.discord import FakeDiscord
from tests.platforms.openai import FakeOpenAI
from tests.platforms.server import LocalServer
from tests.platforms.slack import FakeSlack, ServerError
from tests.platforms.telegram import FakeTelegram
from tests.support.gateway import REPOSITORY, Home

NOWHERE = "http://127.0.0.1:1"
PERSON = "123456789012345678"


@pytest.fixture
async def tg() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram(privacy=True) as server:
        yield server


@pytest.fixture
async def dc() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as server:
        yield server


@pytest.fixture
async def sl() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as server:
        yield server


def for_telegram(tg: FakeTelegram, **more: str) -> dict[str, str]:
    return {"telegram__token": tg.token, "telegram__api_base": tg.url} | more


def for_discord(dc: FakeDiscord, **more: str) -> dict[str, str]:
    base = {"discord__api_base": dc.url, "discord__gateway_url": dc.gateway_url}
    return base | {"discord__token": dc.token} | more


def for_slack(sl: FakeSlack, **more: str) -> dict[str, str]:
    tokens = {"slack__bot_token": sl.bot_token, "slack__app_token": sl.app_token}
    return {"slack__api_base": sl.url} | tokens | more


async def found(check: Check, settings: dict[str, str]) -> dict[str, Finding]:
    """What a check finds, by its parts."""
    variables = {f"GATEWAY_{name.upper()}": value for name, value in settings.items() if value}
    return {finding.part: finding for finding in await check(load(variables))}


def states(findings: dict[str, Finding]) -> dict[str, str]:
    return {part: finding.state for part, finding in findings.items()}


@pytest.mark.parametrize(("check", "part"), [(telegram, "telegram"), (discord, "discord"), (slack, "slack")])
async def test_a_channel_without_tokens_is_off_and_that_is_good(check, part):
    only = await found(check.check, {})
    assert states(only) == {part: "ok"}
    assert "off" in only[part].detail


async def test_discord_says_who_it_is_and_what_it_reads(dc):
    off = await found(discord.check, for_discord(dc))
    assert states(off) == {"discord": "ok", "discord intent": "ok", "discord gateway": "ok"}
    assert "gateway_bot" in off["discord"].detail
    assert "addressed" in off["discord intent"].detail
    on = await found(discord.check, for_discord(dc, discord__message_content="true", discord__group_context="5"))
    assert states(on) == states(off)
    assert "every message" in on["discord intent"].detail


async def test_the_intent_that_is_asked_for_and_switched_off_fails_with_the_switch():
    """C38: the doctor says which switch to set."""
    async with FakeDiscord(message_content=False) as dc:
        told = await found(discord.check, for_discord(dc, discord__message_content="true"))
    assert states(told) == {"discord": "ok", "discord intent": "fail", "discord gateway": "ok"}
    assert "MESSAGE CONTENT INTENT" in told["discord intent"].advice
    assert "discord.message_content" in told["discord intent"].advice


async def test_context_of_groups_without_the_intent_is_a_warning(dc):
    told = await found(discord.check, for_discord(dc, discord__group_context="5"))
    assert told["discord intent"].state == "warn"
    assert "discord.message_content" in told["discord intent"].advice


async def test_a_gateway_of_discord_that_is_away_fails_alone(dc):
    told = await found(discord.check, for_discord(dc, discord__gateway_url="ws://127.0.0.1:1"))
    assert states(told) == {"discord": "ok", "discord intent": "ok", "discord gateway": "fail"}
    assert "discord.gateway_url" in told["discord gateway"].advice


async def test_slack_says_who_it_is_and_which_way_events_come(sl):
    socket = await found(slack.check, for_slack(sl))
    assert states(socket) == {"slack": "ok", "slack scopes": "ok", "slack events": "ok"}
    assert "Socket Mode" in socket["slack events"].detail
    http = await found(slack.check, for_slack(sl, slack__app_token="", slack__signing_secret="secret"))
    assert states(http) == states(socket)
    assert "/slack/events" in http["slack events"].detail
    none = await found(slack.check, for_slack(sl, slack__app_token=""))
    assert none["slack events"].state == "fail"
    assert "slack.app_token" in none["slack events"].advice
    assert "slack.signing_secret" in none["slack events"].advice


async def test_an_app_token_alone_is_not_slack_that_is_off(sl):
    told = await found(slack.check, for_slack(sl, slack__bot_token=""))
    assert states(told) == {"slack": "fail", "slack events": "ok"}


@pytest.mark.parametrize(("scope", "state"), [("chat:write", "fail"), ("mpim:history", "warn")])
async def test_a_scope_that_is_missing_is_named(sl, scope, state):
    sl.methods.scopes = tuple(one for one in slack.SCOPES if one != scope)
    told = await found(slack.check, for_slack(sl))
    assert told["slack scopes"].state == state
    assert told["slack scopes"].detail == f"missing: {scope}"
    assert "Reinstall" in told["slack scopes"].advice


def test_the_scopes_are_those_of_the_manifest():
    manifest = (REPOSITORY / "deploy" / "slack-manifest.yaml").read_text()
    [listed] = re.findall(r"^ +bot:\n((?: +(?:- |#).*\n)+)", manifest, re.MULTILINE)
    assert sorted(re.findall(r"- ([\w:.]+)", listed)) == sorted(slack.SCOPES)


async def test_a_wrong_token_fails_with_what_to_do(tg, dc, sl):
    wrong = {
        telegram.check: for_telegram(tg, telegram__token="77:WRONG"),
        discord.check: for_discord(dc, discord__token="wrong"),
        slack.bot: for_slack(sl, slack__bot_token="xoxb-wrong"),
        slack.events: for_slack(sl, slack__app_token="xapp-wrong"),
    }
    for check, settings in wrong.items():
        [finding] = (await found(check, settings)).values()
        assert finding.state == "fail"
        assert finding.advice


async def test_a_server_that_is_away_fails_and_its_setting_is_named(tg, dc, sl):
    away = {
        "telegram.api_base": (telegram.check, for_telegram(tg, telegram__api_base=NOWHERE)),
        "discord.api_base": (discord.check, for_discord(dc, discord__api_base=NOWHERE)),
        "slack.api_base": (slack.events, for_slack(sl, slack__api_base=NOWHERE)),
        "model.base_url": (model.check, {"model__base_url": NOWHERE}),
    }
    for name, (check, settings) in away.items():
        [finding] = (await found(check, settings)).values()
        assert finding.state == "fail"
        assert name in finding.advice


async def test_a_server_in_trouble_is_a_warning_with_its_status(tg, dc, sl):
    """Also where it answers with a page instead of JSON."""
    tg.inject("getMe", ServerError(502))
    dc.inject("GET /users/@me", ServerError(502))
    sl.inject("auth.test", ServerError(503))
    for check, settings in ((telegram.check, for_telegram(tg)), (discord.check, for_discord(dc))):
        [finding] = (await found(check, settings)).values()
        assert (finding.state, finding.detail[-3:]) == ("warn", "502")
    assert (await found(slack.bot, for_slack(sl)))["slack"].detail.endswith("503")


async def test_telegram_warns_of_privacy_where_context_of_groups_is_wanted(tg):
    assert states(await found(telegram.check, for_telegram(tg))) == {"telegram": "ok"}
    told = await found(telegram.check, for_telegram(tg, telegram__group_context="5"))
    assert states(told) == {"telegram": "ok", "telegram groups": "warn"}
    assert "/setprivacy" in told["telegram groups"].advice
    async with FakeTelegram() as seeing:
        told = await found(telegram.check, for_telegram(seeing, telegram__group_context="5"))
    assert states(told) == {"telegram": "ok"}


async def test_an_id_that_can_be_nobodys_is_a_warning(tg, dc, sl):
    """C100: stable ids, per channel. Those of people are quiet."""
    cases: Sequence[tuple[Check, dict[str, str], str, str]] = (
        (telegram.check, for_telegram(tg), "42", "7777777"),
        (telegram.check, for_telegram(tg), PERSON, "7777777"),
        (discord.check, for_discord(dc), "12345678", PERSON),
        (discord.check, for_discord(dc), dc.bot.id, PERSON),
        (slack.check, for_slack(sl), sl.bot_user, "U012ABCDEF"),
    )
    for check, settings, wrong, right in cases:
        part = next(iter(settings)).partition("__")[0]
        for setting in ("admins", "allow"):
            told = await found(check, settings | {f"{part}__{setting}": f"{right},{wrong}"})
            assert told[f"{part} people"].state == "warn"
            assert wrong in told[f"{part} people"].detail
            assert right not in told[f"{part} people"].detail
            assert f"{part} people" not in await found(check, settings | {f"{part}__{setting}": right})


async def test_a_model_that_the_server_does_not_list_is_a_warning_with_those_that_it_does():
    async with FakeOpenAI(models=("small", "large")) as ai:
        known = await found(model.check, {"model__base_url": ai.url, "model__name": "small"})
        other = await found(model.check, {"model__base_url": ai.url, "model__name": "medium"})
    assert states(known) == {"model": "ok"}
    assert other["model"].state == "warn"
    assert "small" in other["model"].advice


async def test_what_cannot_be_sent_is_said_without_the_secret(dc):
    with pytest.raises(Refused, match="line break") as caught:
        await found(discord.check, for_discord(dc, discord__token="a\nplanted"))
    assert "planted" not in str(caught.value)


class Answers(LocalServer):
    """Says the same to everybody, and keeps the addresses that were asked for."""

    def __init__(self, status: int, body: object, **headers: str) -> None:
        super().__init__()
        self._said = status, body, headers
        self.asked: list[str] = []

    def routes(self) -> list[web.RouteDef]:
        async def say(request: web.Request) -> web.Response:
            self.asked.append(request.path)
            status, body, headers = self._said
            return web.json_response(body, status=status, headers=headers)

        return [web.route("*", "/{path:.*}", say)]


async def test_a_token_is_sent_to_no_other_address():
    async with Answers(302, {}, Location="/elsewhere") as server:
        told = await found(discord.check, {"discord__token": "x", "discord__api_base": server.origin})
    assert server.asked == ["/users/@me"]
    assert told["discord"].state == "warn"


async def test_a_persons_own_token_of_slack_is_not_the_bots():
    async with Answers(200, {"ok": True, "user": "ann", "user_id": "U0ANN", "team": "Ours"}) as server:
        told = await found(slack.bot, {"slack__bot_token": "xoxp-1", "slack__api_base": server.origin})
    assert states(told) == {"slack": "fail"}
    assert "xoxb-" in told["slack"].advice


async def test_what_never_answers_is_a_finding():
    async def never(_settings: Settings) -> Sequence[Finding]:
        await asyncio.Event().wait()
        return []

    [finding] = await tried("telegram", never, load({}), patience=0.01)
    assert (finding.part, finding.state) == ("telegram", "fail")
    assert finding.advice


async def test_doctor_prints_every_part_and_no_secret_and_its_status_is_that_of_the_worst(tg, dc, sl):
    """P14: neither a token nor the password in an address."""
    settings = for_telegram(tg) | for_discord(dc) | for_slack(sl)
    wrong = {"discord__token": "planted-token", "model__base_url": "http://ann:planted-word@127.0.0.1:1/v1"}
    async with Home() as home:
        good = await home.run("doctor", "--json", **settings)
        bad = await home.run("doctor", "--json", **(settings | wrong))
        plain = await home.run("doctor", **(settings | wrong))
    parts = [row["part"] for row in good.rows]
    named = {"telegram", "discord", "discord intent", "discord gateway", "slack", "slack scopes", "slack events"}
    assert (good.status, bad.status, plain.status) == (0, 1, 1)
    assert len(set(parts)) == len(parts)
    assert named <= {*parts}
    assert all(set(row) == {"part", "state", "detail", "advice"} for row in good.rows)
    assert [row["part"] for row in bad.rows if row["state"] == "fail"] == ["model", "discord"]
    assert "fail discord: " in plain.out
    assert "planted" not in json.dumps(bad.rows) + plain.out + bad.err + plain.err
