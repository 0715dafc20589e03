"""Settings: the environment over the file, and an error that says in one line what to mend and where."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.errors import Refused
from gateway.settings import BadSetting, Settings, load, names

GOLDEN = Path(__file__).with_name("golden") / "settings.txt"
BOT = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def problems(environ: Mapping[str, str], toml: str | None = None) -> list[str]:
    """What is wrong with these; the file is `gateway.toml`."""
    if toml is not None:
        Path("gateway.toml").write_text(toml)
    with pytest.raises(BadSetting) as caught:
        load(environ)
    assert isinstance(caught.value, Refused)
    assert str(caught.value).splitlines() == list(caught.value.problems)
    return list(caught.value.problems)


def test_the_names_are_a_contract() -> None:
    assert names() == GOLDEN.read_text().splitlines()


def test_every_setting_can_be_given_by_its_variable() -> None:
    odd = {
        "redis.url": "redis://h",
        "model.base_url": "http://h",
        "telegram.api_base": "http://h",
        "discord.api_base": "http://h",
        "discord.gateway_url": "ws://h",
        "slack.api_base": "http://h",
        "slack.admins": "U7",
        "slack.allow": "W7",
        "telegram.token": BOT,
        "tape.store": "file",
        "log.format": "json",
        "log.level": "debug",
    }
    for channel in ("telegram", "discord", "slack"):
        odd |= {f"{channel}.access": "open", f"{channel}.group_access": "allowlist", f"{channel}.platform_admins": "on"}
    odd["discord.message_content"] = "true"
    for name in names():
        load({"GATEWAY_" + name.replace(".", "__").upper(): odd.get(name, "7")})


def test_with_nothing_set_everything_has_a_default() -> None:
    settings = load({"HOME": "/home/ann"})
    assert settings == Settings(data_dir=Path("/home/ann/.local/share/gateway"))
    assert settings.redis.url is None
    assert settings.tape.store == "file"
    assert (settings.model.name, settings.model.timeout) == ("gpt-4o-mini", 120)
    assert (settings.model.base_url, settings.model.api_key, settings.model.context_window) == (None, None, None)
    assert (settings.telegram.access, settings.telegram.group_access) == ("pairing", "open")
    assert (settings.telegram.token, settings.telegram.admins, settings.telegram.allow) == (None, (), ())
    assert settings.telegram.api_base == "https://api.telegram.org"
    assert (settings.web.host, settings.web.port, settings.web.token) == ("127.0.0.1", 8080, None)
    assert (settings.session.lease_ttl, settings.session.at_once, settings.session.drain) == (30, 32, 10)
    assert (settings.log.format, settings.log.level) == (None, "info")
    assert settings.secrets() == []


def test_the_environment_wins_over_the_file(folder: Path) -> None:
    (folder / "gateway.toml").write_text('[web]\nport = 1\nhost = "::1"\n[telegram]\nadmins = [12, "34"]\n')
    settings = load({"GATEWAY_WEB__PORT": "2"})
    assert (settings.web.port, settings.web.host, settings.telegram.admins) == (2, "::1", ("12", "34"))


def test_a_bad_value_in_the_file_is_no_matter_where_the_environment_has_a_good_one(folder: Path) -> None:
    (folder / "gateway.toml").write_text('web.port = "http"')
    assert load({"GATEWAY_WEB__PORT": "0"}).web.port == 0


def test_an_empty_variable_or_text_is_not_set(folder: Path) -> None:
    (folder / "gateway.toml").write_text('[telegram]\ntoken = ""\n[model]\nsystem_prompt = ""\n')
    settings = load({"GATEWAY_WEB__PORT": "", "GATEWAY_REDIS__URL": "  ", "GATEWAY_NONSENSE": ""})
    assert (settings.web.port, settings.redis.url, settings.telegram.token) == (8080, None, None)
    assert settings.model.system_prompt == ""


def test_the_model_falls_back_to_the_variables_of_openai(folder: Path) -> None:
    environ = {"OPENAI_API_KEY": "sk-theirs", "OPENAI_BASE_URL": "http://theirs/v1"}
    model = load(environ).model
    assert model.base_url == "http://theirs/v1"
    assert model.api_key
    assert model.api_key.get_secret_value() == "sk-theirs"
    (folder / "gateway.toml").write_text('model.base_url = "http://file/v1"')
    assert load(environ).model.base_url == "http://file/v1"
    assert load({**environ, "GATEWAY_MODEL__BASE_URL": "http://own/v1"}).model.base_url == "http://own/v1"
    assert problems({"OPENAI_BASE_URL": "theirs"}, "") == [
        'OPENAI_BASE_URL: "theirs" is not an http:// or https:// address (environment)'
    ]


def test_ids_are_numbers_separated_by_commas_or_in_a_list(folder: Path) -> None:
    assert load({"GATEWAY_TELEGRAM__ALLOW": " 12, 34,,12 "}).telegram.allow == ("12", "34")
    (folder / "gateway.toml").write_text('telegram.allow = ["12", 34]')
    assert load({}).telegram.allow == ("12", "34")


@pytest.mark.parametrize("name", ["@ann", "ann", "-100123", "1.5", "١٢"])
def test_a_name_is_no_id_and_the_way_to_the_id_is_told(name: str) -> None:
    (line,) = problems({"GATEWAY_TELEGRAM__ADMINS": f"12,{name}"})
    assert line.startswith(f'GATEWAY_TELEGRAM__ADMINS: "{name}" is not a numeric id')
    assert "/whoami" in line


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("WEB__PORT", "http", '"http" is not a whole number from 0 to 65535'),
        ("WEB__PORT", "65536", '"65536" is not a whole number from 0 to 65535'),
        ("WEB__PORT", "-1", '"-1" is not a whole number from 0 to 65535'),
        ("WEB__PORT", "80.5", '"80.5" is not a whole number from 0 to 65535'),
        ("WEB__HOST", "http://x", '"http://x" is not a host name or address'),
        ("SESSION__LEASE_TTL", "0.9", '"0.9" is not a number of seconds from 1 to 3600'),
        ("SESSION__LEASE_TTL", "nan", '"nan" is not a number of seconds from 1 to 3600'),
        ("SESSION__AT_ONCE", "0", '"0" is not a whole number from 1 to 10000'),
        ("MODEL__BASE_URL", "ftp://u:pw@h", '"ftp://[redacted]@h" is not an http:// or https:// address'),
        ("MODEL__CONTEXT_WINDOW", "8k", '"8k" is not a whole number from 1 to 100000000'),
        ("TELEGRAM__ACCESS", "everyone", "\"everyone\" is not 'open', 'allowlist' or 'pairing'"),
        ("TELEGRAM__GROUP_ACCESS", "pairing", "\"pairing\" is not 'open' or 'allowlist'"),
        ("TELEGRAM__TOKEN", "planted", "the value is not a bot's token, which looks like 12345678:AAH..."),
        ("REDIS__URL", "planted", "the value is not a redis://, rediss:// or unix:// address"),
        ("TAPE__STORE", "sqlite:///x.db", '"sqlite:" stores are not in this release; use "file"'),
        ("TAPE__STORE", "postgresql://u:pw@h/d", '"postgresql:" stores are not in this release; use "file"'),
        ("TAPE__STORE", "disk", "\"disk\" is not 'file' or 'memory'"),
        ("LOG__FORMAT", "xml", "\"xml\" is not 'console' or 'json'"),
    ],
)
def test_a_bad_value_is_one_line_with_its_variable(variable: str, value: str, problem: str) -> None:
    assert problems({f"GATEWAY_{variable}": value}) == [f"GATEWAY_{variable}: {problem} (environment)"]


@pytest.mark.parametrize(
    ("toml", "line"),
    [
        ('web.port = "http"', 'web.port: "http" is not a whole number from 0 to 65535'),
        ("web.port = true", "web.port: true is not a whole number from 0 to 65535"),
        ("web.port = 1979-05-27", 'web.port: "1979-05-27" is not a whole number from 0 to 65535'),
        ("model.name = 3", "model.name: 3 is not the name of a model"),
        ("model.api_key = 3", "model.api_key: the value is not a text"),
        ("telegram.admins = 12", 'telegram.admins: 12 is not a list of ids, as in ["12345678"]'),
        ("data_dir = 3", "data_dir: 3 is not a path"),
        ("web.prot = 1", "web.prot is not a setting; did you mean web.port?"),
        ("port = 1", "port is not a setting; did you mean web.port?"),
        ("web = 3", "web is not a setting"),
        ('discord.tokens = "x"', "discord.tokens is not a setting; did you mean discord.token?"),
        (
            'slack.admins = ["@ann"]',
            'slack.admins: "@ann" is not an id of Slack, which looks like U012ABCDEF; names can '
            "change hands, so use the person's id: the bot tells it to whoever sends it /whoami",
        ),
        ('discord.message_content = "maybe"', 'discord.message_content: "maybe" is neither true nor false'),
        ("slack.group_context = 101", "slack.group_context: 101 is not a whole number from 0 to 100"),
        ('discord.gateway_url = "http://h"', 'discord.gateway_url: "http://h" is not a ws:// or wss:// address'),
        ("tape.fsync = true", "tape.fsync is not a setting"),
    ],
)
def test_a_problem_in_the_file_is_one_line_with_its_name(toml: str, line: str) -> None:
    assert problems({}, toml) == [f"gateway.toml: {line}"]


def test_an_unknown_variable_is_an_error_with_a_guess() -> None:
    assert problems({"GATEWAY_WEB_PORT": "1", "GATEWAY_MATRIX__TOKEN": "x", "GATEWAYX": "1"}) == [
        "GATEWAY_MATRIX__TOKEN is not a setting (environment)",
        "GATEWAY_WEB_PORT is not a setting; did you mean GATEWAY_WEB__PORT? (environment)",
    ]


def test_all_problems_are_told_at_once() -> None:
    lines = problems({"GATEWAY_WEB__PORT": "http"}, 'web.prot = 1\nlog.level = "loud"\ntelegram.admins = ["@ann"]')
    assert len(lines) == 4


def test_broken_toml_is_one_line_with_its_place() -> None:
    (line,) = problems({}, "[web]\nport 3\n")
    assert line.startswith("gateway.toml: is not valid TOML: ")
    assert "line 2, column 6" in line


def test_a_file_that_is_not_text_or_not_there_or_not_readable_is_one_line(folder: Path) -> None:
    (folder / "bytes.toml").write_bytes(b"\xff")
    for path, words in (("bytes.toml", "not valid TOML"), ("none.toml", "there is no such file"), (".", "be read")):
        with pytest.raises(BadSetting, match=words) as caught:
            load({}, Path(path))
        assert len(str(caught.value).splitlines()) == 1


def test_a_file_with_a_byte_order_mark_is_read(folder: Path) -> None:
    (folder / "gateway.toml").write_bytes(b"\xef\xbb\xbfweb.port = 1")
    assert load({}).web.port == 1


def test_tapes_in_memory_do_not_go_with_a_shared_redis() -> None:
    (line,) = problems({"GATEWAY_TAPE__STORE": "memory", "GATEWAY_REDIS__URL": "redis://h"})
    assert line.startswith('GATEWAY_TAPE__STORE: "memory" ')
    assert load({"GATEWAY_TAPE__STORE": "memory"}).tape.store == "memory"


def test_secrets_do_not_print_and_are_listed_for_the_redactor() -> None:
    environ = {
        "GATEWAY_MODEL__API_KEY": "planted-1",
        "GATEWAY_TELEGRAM__TOKEN": "1:planted-2",
        "GATEWAY_WEB__TOKEN": "planted-3",
        "GATEWAY_REDIS__URL": "redis://user:planted%2D4@host:6379/0",
        "GATEWAY_MODEL__BASE_URL": "http://u:planted-5@host/v1",
    }
    settings = load(environ)
    assert settings.secrets() == ["planted-1", "1:planted-2", "planted-3", "planted%2D4", "planted-4", "planted-5"]
    shown = f"{settings!r} {settings} {settings.model_dump_json()}"
    assert not any(f"planted-{number}" in shown for number in (1, 2, 3, 4))
    assert "%2D4" not in shown


def test_an_error_shows_no_secret() -> None:
    lines = problems(
        {"GATEWAY_TELEGRAM__TOKEN": "planted", "GATEWAY_REDIS__URL": "planted", "GATEWAY_WEB__HOST": "a sk-planted-key"}
    )
    assert len(lines) == 3
    assert "planted" not in "".join(lines)


def test_the_settings_are_frozen() -> None:
    settings = load({})
    with pytest.raises(ValueError, match="frozen"):
        settings.web.port = 1


@pytest.mark.parametrize(
    ("environ", "toml", "expected"),
    [
        ({"HOME": "/h"}, "", "/h/.local/share/gateway"),
        ({"HOME": "/h", "XDG_DATA_HOME": "/x"}, "", "/x/gateway"),
        ({"HOME": "/h", "XDG_DATA_HOME": "relative"}, "", "/h/.local/share/gateway"),
        ({"HOME": "/h", "GATEWAY_DATA_DIR": "~/d"}, "", "/h/d"),
        ({"GATEWAY_DATA_DIR": "/d"}, 'data_dir = "/e"', "/d"),
        ({"GATEWAY_DATA_DIR": "d"}, "", "{cwd}/d"),
        ({}, 'data_dir = "d"', "{cwd}/etc/d"),
    ],
)
def test_the_data_folder_is_absolute(folder: Path, environ: dict[str, str], toml: str, expected: str) -> None:
    (folder / "etc").mkdir()
    (folder / "etc" / "own.toml").write_text(toml)
    assert str(load(environ, Path("etc") / "own.toml").data_dir) == expected.format(cwd=folder)
