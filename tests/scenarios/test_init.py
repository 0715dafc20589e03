"""`gateway init`: questions, tokens that are tried at once, and files that the gateway takes."""

import signal
from collections.abc import AsyncIterator

import pytest

from tests.platforms.discord import FakeDiscord
from tests.platforms.openai import FakeOpenAI
from tests.platforms.slack import FakeSlack
from tests.platforms.telegram import FakeTelegram
from tests.support.gateway import Home, Told
from tests.support.terminal import Terminal

ANN = "123456789012345678"


@pytest.fixture
async def home() -> AsyncIterator[Home]:
    async with Home() as folder:
        yield folder


@pytest.fixture
async def tg() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram() as server:
        yield server


@pytest.fixture
async def ai() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI() as server:
        yield server


async def answered(home: Home, *answers: str, config: str = "", **settings: str) -> Told:
    """`gateway init` with a line of a pipe for each question."""
    words = ("--config", config, "init") if config else ("init",)
    return await home.run(*words, stdin="".join(f"{answer}\n" for answer in answers), **settings)


def texts(home: Home) -> dict[str, str]:
    """The files in the home."""
    return {path.name: path.read_text() for path in sorted(home.folder.iterdir()) if path.is_file()}


def active(text: str) -> list[str]:
    """The lines of a settings file that say something."""
    return [line for line in text.splitlines() if line and line[0] not in "#["]


async def test_what_init_writes_is_what_doctor_and_run_take(home, tg, ai):
    """Every platform and a model by way of the questions; afterwards the environment knows none of it."""
    async with FakeDiscord() as dc, FakeSlack() as sl:
        bases = {"telegram__api_base": tg.url, "slack__api_base": sl.url, "OPENAI_BASE_URL": ai.url}
        bases |= {"discord__api_base": dc.url, "discord__gateway_url": dc.gateway_url}
        told = await answered(
            home,
            *("telegram discord slack", tg.token, "1001", dc.token, ANN, sl.bot_token, sl.app_token, "U0ANN"),
            *("1", "key-of-the-tests", "", "y"),
            **bases,
        )
        assert told.status == 0, told.out + told.err
        doctor = await home.run("doctor", "--json")
        assert doctor.status == 0, doctor.out
        assert {row["state"] for row in doctor.rows} == {"ok"}
        assert not [row for row in doctor.rows if "off" in row["detail"].split()]
        gateway = await (await home.start()).polls()
        await gateway.logged("discord.health", state="connected")
        await gateway.logged("slack.health", state="connected")
        people = tg.person(1001, "Ann"), dc.person(ANN, "Ann"), sl.person("U0ANN", "Ann")
        for platform, person in zip((tg, dc, sl), people, strict=True):
            platform.private(person).says(person, "hello")
            await platform.wait_sent(1)
        tg.private(people[0]).says(people[0], "/whoami")
        await tg.wait_sent(lambda sent: "admin" in sent.text)
        assert len(ai.requests) == 3  # nobody was a stranger
        assert await gateway.stop() == 0


async def test_secrets_stand_apart_and_only_their_owner_reads_them(home, tg, ai):
    """P14: the settings file may be shown to anybody, and so may what was printed."""
    secrets = (tg.token, "key-of-the-tests")
    settings = {"telegram__api_base": tg.url, "OPENAI_BASE_URL": ai.url}
    told = await answered(home, "t", tg.token, "", "1", "key-of-the-tests", "", "", **settings)
    kept = home.folder / "gateway.secrets.toml"
    assert told.status == 0, told.err
    assert kept.stat().st_mode & 0o777 == 0o600
    assert active(kept.read_text()) == [f'telegram.token = "{secrets[0]}"', f'model.api_key = "{secrets[1]}"']
    assert not [secret for secret in secrets if secret in texts(home)["gateway.toml"] + told.out + told.err]
    assert sorted(texts(home)) == ["gateway.secrets.toml", "gateway.toml"]


async def test_a_password_in_an_address_is_a_secret_too(home, ai):
    """P14"""
    address = ai.url.replace("://", "://ann:planted@")
    told = await answered(home, "", "2", address, "", "", "")
    assert told.status == 0, told.out + told.err
    assert "planted" not in told.out + told.err + texts(home)["gateway.toml"]
    assert f'model.base_url = "{address}"' in texts(home)["gateway.secrets.toml"]


async def test_a_wrong_answer_is_asked_again_with_one_reason(home, tg, ai):
    """Of keys, of the wrong form, of nobody, a name for an id, the bot's own id, a server that is not there."""
    told = await answered(
        home,
        *("telegraph", "t", "42:\x1bTEST", "no token", "77:WRONG", tg.token, "@ann", "42", "1001"),
        *("4", "2", "ftp://x", "http://127.0.0.1:1/v1", "", ai.url, "key", "", ""),
        telegram__api_base=tg.url,
    )
    assert told.status == 0, told.out + told.err
    for reason in (
        "Their names, or t, d and s",
        "characters in it that cannot be seen",
        "the value is not a bot's token",
        "fail telegram: the token is wrong",
        '"@ann" is not a numeric id',
        "42 is the bot itself",
        "1, 2 or 3, please",
        '"ftp://x" is not an http:// or https:// address',
        "fail model: http://127.0.0.1:1/v1 cannot be reached",
    ):
        assert told.out.count(reason) == 1, reason
    written = active(texts(home)["gateway.toml"])
    assert written == [
        'name = "fake-model"',
        f'base_url = "{ai.url}"',
        f'api_base = "{tg.url}"',
        'admins = ["1001"]',
    ]


async def test_an_empty_answer_skips_and_nothing_of_what_is_skipped_is_written(home, tg):
    """With their addresses in the environment, and a token that was refused before."""
    async with FakeDiscord() as dc, FakeSlack() as sl:
        bases = {"telegram__api_base": tg.url, "discord__api_base": dc.url, "slack__api_base": sl.url}
        bases |= {"OPENAI_BASE_URL": tg.url}
        told = await answered(home, "t,d,s", "77:WRONG", "", "", sl.bot_token, "", "", "1", "", "", **bases)
    assert told.status == 0, told.err
    assert told.out.count("stays off") == 3
    assert active(texts(home)["gateway.toml"]) == []
    assert list(texts(home)) == ["gateway.toml"]
    assert {row["part"]: row["state"] for row in (await home.run("doctor", "--json")).rows}["slack"] == "ok"


async def test_slack_without_an_app_token_takes_a_signing_secret(home):
    """Also after an app token that was refused."""
    async with FakeSlack() as sl:
        told = await answered(
            home, "s", sl.bot_token, "xapp-wrong", "", sl.signing_secret, "", "3", "", slack__api_base=sl.url
        )
    assert told.status == 0, told.err
    assert "/slack/events" in told.out
    assert f'slack.signing_secret = "{sl.signing_secret}"' in texts(home)["gateway.secrets.toml"]


@pytest.mark.parametrize("switched_on", [True, False])
async def test_discord_is_asked_for_what_its_switch_allows_and_the_invitation_is_ready(home, switched_on):
    """C38: the intent follows the portal's switch, so that the gateway may connect."""
    async with FakeDiscord(message_content=switched_on) as dc:
        settings = {"discord__api_base": dc.url, "discord__gateway_url": dc.gateway_url}
        told = await answered(home, "d", dc.token, "", "3", "", **settings)
    assert told.status == 0, told.err
    assert ("message_content = true" in active(texts(home)["gateway.toml"])) is switched_on
    assert "https://discord.com/oauth2/authorize?client_id=1&scope=bot+applications.commands&permissions=" in told.out


async def test_files_that_are_there_are_never_written_over(home):
    """Another name is offered; where that is taken too, or not wanted, it is exit status 1 and one line."""
    kept, more = home.folder / "gateway.toml", home.folder / "gateway.secrets.toml"
    kept.write_text("# mine\n")
    more.write_text("# mine\n")
    unwanted = await answered(home, "n")
    assert (unwanted.status, unwanted.err) == (1, "gateway: nothing is written\n")
    assert "gateway.toml.new" in unwanted.out
    other = await answered(home, "y", "", "3", "y")
    assert other.status == 0, other.err
    assert sorted(texts(home)) == ["gateway.secrets.toml", "gateway.toml", "gateway.toml.new"]
    both = await answered(home, "y", "", "3", "y")
    assert both.status == 1
    assert len(both.err.splitlines()) == 1
    assert kept.read_text() == more.read_text() == "# mine\n"


async def test_the_other_name_works_with_its_own_secrets(home, tg):
    (home.folder / "gateway.toml").write_text("")
    told = await answered(home, "y", "t", tg.token, "", "3", "y", telegram__api_base=tg.url)
    assert told.status == 0, told.err
    assert "gateway.secrets.toml.new" in texts(home)
    doctor = await home.run("--config", "gateway.toml.new", "doctor", "--json")
    assert {row["part"]: row["detail"] for row in doctor.rows}["telegram"] == "the token is @gateway_bot's"


async def test_a_file_of_ones_own_is_written_where_config_says(home):
    (home.folder / "etc").mkdir()
    told = await answered(home, "", "3", "", config="etc/own.toml")
    assert told.status == 0, told.err
    assert "gateway --config etc/own.toml run" in told.out
    assert (home.folder / "etc" / "own.toml").exists()
    nowhere = await answered(home, config="none/own.toml")
    assert (nowhere.status, nowhere.out) == (2, "")
    assert nowhere.err.startswith("gateway: none is no folder")


@pytest.mark.parametrize("answers", [(), ("t",), ("", "3"), ("", "3", "n")], ids=str)
async def test_without_a_last_yes_nothing_is_written(home, answers):
    """The answers end, or they end with No."""
    told = await answered(home, *answers)
    assert told.status == 1
    assert told.err.endswith("nothing is written\n")
    assert len(told.err.splitlines()) == 1
    assert texts(home) == {}


async def test_a_terminal_never_shows_a_secret(home, tg, ai):
    """P14: what is typed at a secret's question is not echoed; other answers are."""
    async with Terminal(home, "init", telegram__api_base=tg.url, OPENAI_BASE_URL=ai.url) as terminal:
        await terminal.asked("Which of telegram", "telegram")
        await terminal.asked("Token:", tg.token)
        await terminal.asked("Your own id", "1001")
        await terminal.asked("1, 2 or 3", "1")
        await terminal.asked("Key:", "key-of-the-tests")
        await terminal.asked("Which model", "")
        await terminal.asked("Write it?", "y")
        assert await terminal.process.wait() == 0, terminal.shown
    assert "1001" in terminal.shown
    assert tg.token not in terminal.shown
    assert "key-of-the-tests" not in terminal.shown
    assert tg.token in texts(home)["gateway.secrets.toml"]


@pytest.mark.parametrize("question", ["Which of telegram", "Token:", "Write it?"])
async def test_ctrl_c_at_any_question_leaves_nothing(home, tg, question):
    """One line, no traceback, exit status 1."""
    async with Terminal(home, "init", telegram__api_base=tg.url) as terminal:
        for asked, answer in (
            ("Which of telegram", "telegram"),
            ("Token:", tg.token),
            ("Your own id", ""),
            ("1, 2 or 3", "3"),
            ("Write it?", "y"),
        ):
            await terminal.asked(asked, None if asked == question else answer)
            if asked == question:
                break
        terminal.process.send_signal(signal.SIGINT)
        assert await terminal.process.wait() == 1
        await terminal.asked("nothing is written", None)
    assert "gateway: stopped; nothing is written" in terminal.shown
    assert "Traceback" not in terminal.shown
    assert texts(home) == {}


async def test_what_is_no_text_is_one_line(home):
    async with Terminal(home, "init", PYTHONIOENCODING="utf-8:strict") as terminal:
        await terminal.asked("Which of telegram", "\udcff")
        await terminal.asked("gateway: that is not text; nothing is written", None)
        assert await terminal.process.wait() == 1
    assert "Traceback" not in terminal.shown
