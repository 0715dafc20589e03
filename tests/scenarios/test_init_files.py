"""The settings files: what stands in them, how they come to be there, and how the secrets beside them are read."""

import re
import tomllib
from pathlib import Path

import pytest

from gateway.cli.setup.config_file import config_text, explained, secrets_text, write
from gateway.cli.setup.guides import PERMISSIONS, invitation
from gateway.cli.setup.words import EXAMPLES, SECRETS, SECTIONS, WORDS
from gateway.errors import Refused
from gateway.settings import BadSetting, load, names, secrets_file

BOT = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def kept(text: str, mode: int = 0o600, name: str = "gateway.secrets.toml") -> Path:
    """A file of secrets."""
    path = Path(name)
    path.write_text(text)
    path.chmod(mode)
    return path


def test_every_setting_is_explained_once_and_no_other() -> None:
    text = config_text({}, Path("s.toml"))
    for name in names():
        assert text.count(f"# {explained(name)}\n") >= 1
    keys = {name.rpartition(".")[2] for name in names()}
    assert {word for word in WORDS if word not in names() and word not in keys} == set()
    assert set(EXAMPLES) <= set(names())
    assert set(SECTIONS) == {name.partition(".")[0] for name in names() if "." in name}


def test_the_secrets_are_the_settings_that_do_not_print() -> None:
    odd = {"redis.url": "redis://h", "telegram.token": BOT}
    for name in names():
        settings = load({"HOME": "/h"} | ({_variable(name): odd.get(name, "planted")} if name in SECRETS else {}))
        section, _, key = name.rpartition(".")
        value = getattr(getattr(settings, section), key) if section else None
        assert hasattr(value, "get_secret_value") == (name in SECRETS), name


def _variable(name: str) -> str:
    return f"GATEWAY_{name.replace('.', '__').upper()}"


def test_a_fresh_file_sets_nothing_and_each_line_may_be_used_as_it_stands() -> None:
    text = config_text({}, Path("gateway.secrets.toml"))
    Path("gateway.toml").write_text(text)
    assert load({"HOME": "/h"}) == load({"HOME": "/h"}, Path("/dev/null"))
    used = re.sub(r"^# (\w+ = )", r"\1", text, flags=re.MULTILINE)
    document = tomllib.loads(used)
    given = {f"{section}.{key}" for section, table in document.items() if isinstance(table, dict) for key in table}
    assert given | {"data_dir"} == set(names()) - SECRETS
    Path("gateway.toml").write_text(used)
    settings = load({"HOME": "/h"})
    assert settings.data_dir == Path("/h/.local/share/gateway")
    assert (settings.web.port, settings.session.lease_ttl, settings.telegram.admins) == (8080, 30, ())


def test_what_is_chosen_is_read_back_whatever_is_in_it() -> None:
    chosen = {
        "telegram.token": BOT,
        "telegram.admins": ("12", "34"),
        "discord.message_content": True,
        "model.name": 'a "quoted" \\ name, 安',
        "model.base_url": "http://ann:planted@host/v1",
        "slack.app_token": "xapp-'1",
    }
    text, secrets = config_text(chosen, Path("gateway.secrets.toml")), secrets_text(chosen)
    write({Path("gateway.toml"): (text, 0o644), Path("gateway.secrets.toml"): (secrets, 0o600)})
    settings = load({})
    assert settings.telegram.token
    assert settings.slack.app_token
    assert settings.telegram.token.get_secret_value() == BOT
    assert settings.slack.app_token.get_secret_value() == "xapp-'1"
    assert settings.telegram.admins == ("12", "34")
    assert settings.discord.message_content
    assert (settings.model.name, settings.model.base_url) == (chosen["model.name"], chosen["model.base_url"])
    assert not [secret for secret in ("planted", BOT, "xapp-") if secret in text.replace("xapp-...", "")]


def test_files_are_written_all_or_none_and_never_over_another(folder: Path) -> None:
    Path("b").write_text("mine")
    with pytest.raises(Refused, match="b cannot be written"):
        write({Path("a"): ("new", 0o600), Path("b"): ("new", 0o644), Path("c"): ("new", 0o644)})
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("b", "mine")]
    with pytest.raises(UnicodeEncodeError):
        write({Path("a"): ("new", 0o600), Path("c"): ("\ud800", 0o600)})
    assert [path.name for path in folder.iterdir()] == ["b"]


def test_secrets_win_over_the_file_and_the_environment_over_both() -> None:
    Path("gateway.toml").write_text('[web]\nport = 1\n[session]\nat_once = 1\n[model]\nname = "a"')
    kept('web.port = 2\nmodel.api_key = "k"\n[session]\nat_once = 2\n')
    settings = load({"GATEWAY_WEB__PORT": "3", "OPENAI_API_KEY": "theirs"})
    assert (settings.web.port, settings.session.at_once, settings.model.name) == (3, 2, "a")
    assert settings.model.api_key
    assert settings.model.api_key.get_secret_value() == "k"
    assert settings.secrets() == ["k"]


def test_secrets_are_found_without_a_settings_file_too() -> None:
    kept("web.port = 2")
    assert load({}).web.port == 2
    kept("web.port = 4", name="own.secrets.toml")
    Path("own.toml").write_text("")
    assert load({}, Path("own.toml")).web.port == 4


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_secrets_that_others_can_use_are_refused_with_what_to_do(mode: int) -> None:
    kept(f'telegram.token = "{BOT}"', mode)
    with pytest.raises(BadSetting) as caught:
        load({})
    [line] = caught.value.problems
    assert line.startswith("gateway.secrets.toml: ")
    assert line.endswith("chmod 600 gateway.secrets.toml")


def test_a_problem_in_the_secrets_names_their_file_and_shows_none_of_them() -> None:
    Path("gateway.toml").write_text("web.prot = 1")
    kept('telegram.token = "planted"\nslack.bot_tokn = "planted"\n')
    with pytest.raises(BadSetting) as caught:
        load({})
    assert caught.value.problems == (
        "gateway.toml: web.prot is not a setting; did you mean web.port?",
        "gateway.secrets.toml: slack.bot_tokn is not a setting; did you mean slack.bot_token?",
        "gateway.secrets.toml: telegram.token: the value is not a bot's token, which looks like 12345678:AAH...",
    )


@pytest.mark.parametrize(
    ("config", "secrets"),
    [
        ("gateway.toml", "gateway.secrets.toml"),
        ("etc/own.toml", "etc/own.secrets.toml"),
        ("gateway.toml.new", "gateway.secrets.toml.new"),
        ("own.conf", "own.conf.secrets.toml"),
    ],
)
def test_the_secrets_of_a_file_have_its_name(config: str, secrets: str) -> None:
    assert secrets_file(Path(config)) == Path(secrets)


def test_the_invitation_asks_for_what_the_guide_names() -> None:
    link = invitation("77")
    assert f"permissions={sum(PERMISSIONS.values())}" in link
    assert len({*PERMISSIONS.values()}) == len(PERMISSIONS)
    assert all(value & (value - 1) == 0 for value in PERMISSIONS.values())
