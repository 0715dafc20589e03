"""Reads the settings: a file (TOML), the file of secrets beside it, and over both the environment."""

import difflib
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gateway.errors import Refused
from gateway.settings.fields import shown
from gateway.settings.sections import (
    DiscordSettings,
    LogSettings,
    ModelSettings,
    RedisSettings,
    Section,
    SessionSettings,
    SlackSettings,
    TapeSettings,
    TelegramSettings,
    WebSettings,
)

_PREFIX = "GATEWAY_"


class BadSetting(Refused):
    """Settings that cannot be used. `problems`: a line each, with the name, what is wrong, and where it was read."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class Settings(Section):
    """All settings, checked. Frozen; secrets do not print. `data_dir` is absolute; it need not exist."""

    data_dir: Path
    redis: RedisSettings = RedisSettings()
    tape: TapeSettings = TapeSettings()
    model: ModelSettings = ModelSettings()
    telegram: TelegramSettings = TelegramSettings()
    discord: DiscordSettings = DiscordSettings()
    slack: SlackSettings = SlackSettings()
    web: WebSettings = WebSettings()
    session: SessionSettings = SessionSettings()
    log: LogSettings = LogSettings()

    def secrets(self) -> list[str]:
        """What no log, tape or chat may show: keys, tokens, and the passwords in addresses."""
        slack = self.slack
        keys = self.model.api_key, self.telegram.token, self.discord.token, self.web.token
        kept = *keys, slack.bot_token, slack.app_token, slack.signing_secret
        found = [key.get_secret_value() for key in kept if key]
        redis = self.redis.url.get_secret_value() if self.redis.url else ""
        bases = self.model.base_url or "", self.telegram.api_base, self.discord.api_base, slack.api_base
        for url in map(urlsplit, (redis, *bases)):
            found += [url.password or "", unquote(url.password or ""), *parse_qs(url.query).get("password", ())]
        return [secret for secret in dict.fromkeys(found) if secret]


def names() -> list[str]:
    """The names of all settings, as in the file."""
    found = []
    for name, field in Settings.model_fields.items():
        if isinstance(field.default, Section):
            found += [f"{name}.{key}" for key in type(field.default).model_fields]
        else:
            found.append(name)
    return found


class _Given(NamedTuple):
    value: object
    label: str  # how to say where it was read
    place: str = ""

    def problem(self, what: str) -> str:
        return f"{self.label}: {what}{self.place}"


def secrets_file(config: Path) -> Path:
    """Where the secrets of a settings file stand: `gateway.secrets.toml` for `gateway.toml`. It need not exist."""
    name, ending, rest = config.name.rpartition(".toml")
    return config.with_name(f"{name}.secrets.toml{rest}" if ending else f"{config.name}.secrets.toml")


def load(environ: Mapping[str, str], config: Path | None = None) -> Settings:
    """The settings of the file, over them those of its file of secrets, and over both those of the environment.

    `config`: the file; None for `gateway.toml` in the current folder, if there is one. The file of secrets may hold
    any setting; it is refused where anybody but its owner can use it. A relative `data_dir` starts at the folder of
    the file it stands in, else at the current one. Raises BadSetting with all that is wrong.
    """
    path = config or Path("gateway.toml")
    given, problems = _from_file(path, must_exist=config is not None)
    kept, wrong = _from_file(secrets_file(path), must_exist=False, private=True)
    given, problems = given | kept, problems + wrong
    for variable, name in (("OPENAI_BASE_URL", "model.base_url"), ("OPENAI_API_KEY", "model.api_key")):
        if name not in given and (value := environ.get(variable, "").strip()):
            given[name] = _Given(value, variable, " (environment)")
    above, unknown = _from_environment(environ)
    given, problems = given | above, problems + unknown
    home = Path(environ.get("HOME") or Path.home())
    share = Path(environ.get("XDG_DATA_HOME", ""))
    default = (share if share.is_absolute() else home / ".local" / "share") / "gateway"
    folder = given.setdefault("data_dir", _Given(str(default), "data_dir"))
    if isinstance(folder.value, str):
        base = Path() if folder.place or not config else config.parent
        path = home / folder.value[2:] if folder.value.startswith("~/") else base / folder.value
        given["data_dir"] = folder._replace(value=str(path.absolute()))

    sections: dict[str, dict[str, object]] = {}
    for name, item in given.items():
        section, _, key = name.rpartition(".")
        sections.setdefault(section, {})[key] = item.value
    try:
        settings = Settings.model_validate({**sections.pop(""), **sections})
    except ValidationError as error:
        problems += [given[".".join(map(str, detail["loc"][:2]))].problem(_what(detail)) for detail in error.errors()]
    else:
        if settings.tape.store == "memory" and settings.redis.url:
            what = '"memory" keeps tapes in this process alone, so it does not go with redis.url; use "file"'
            problems.append(given["tape.store"].problem(what))
    if problems:
        raise BadSetting(*problems)
    return settings


def _from_file(path: Path, *, must_exist: bool, private: bool = False) -> tuple[dict[str, _Given], list[str]]:
    known, given, problems = names(), {}, []
    try:
        with path.open("rb") as file:
            if private and os.fstat(file.fileno()).st_mode & 0o077:
                problems.append(f"{path}: holds secrets, and others than its owner can use it; chmod 600 {path}")
            document = tomllib.loads(file.read().decode("utf-8-sig"))
    except FileNotFoundError:
        if must_exist:
            raise BadSetting(f"{path}: there is no such file (--config)") from None
        return {}, []
    except OSError as error:
        raise BadSetting(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:  # also where it is not UTF-8
        raise BadSetting(f"{path}: is not valid TOML: {error}") from error
    for name, value in _flat(document):
        if name not in known:
            problems.append(f"{path}: {name} is not a setting{_meant(name, known)}")
        elif value != "" or name == "model.system_prompt":
            given[name] = _Given(value, f"{path}: {name}")
    return given, problems


def _flat(document: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for key, value in document.items():
        if isinstance(value, dict) and key != "data_dir":
            yield from ((f"{key}.{inner}", item) for inner, item in value.items())
        else:
            yield key, value


def _from_environment(environ: Mapping[str, str]) -> tuple[dict[str, _Given], list[str]]:
    known = {_PREFIX + name.replace(".", "__").upper(): name for name in names()}
    given, problems = {}, []
    for variable, value in sorted(environ.items()):
        if variable in known and value.strip():
            given[known[variable]] = _Given(value.strip(), variable, " (environment)")
        elif variable.startswith(_PREFIX) and value.strip():
            problems.append(f"{variable} is not a setting{_meant(variable, known)} (environment)")
    return given, problems


def _meant(name: str, known: Iterable[str]) -> str:
    plain = {word.removeprefix(_PREFIX).lower().replace("__", "."): word for word in known}
    name = name.removeprefix(_PREFIX).lower().replace("__", ".")
    close = difflib.get_close_matches(name, plain, 1, 0.8) or [word for word in plain if word.endswith(f".{name}")]
    return f"; did you mean {plain[close[0]]}?" if len(close) == 1 else ""


def _what(detail: ErrorDetails) -> str:
    value, context = detail["input"], detail.get("ctx", {})
    if detail["type"] == "literal_error":
        return f"{shown(value)} is not {context['expected']}"
    if detail["type"] in ("bool_parsing", "bool_type"):
        return f"{shown(value)} is neither true nor false"
    if detail["type"] == "path_type":
        return f"{shown(value)} is not a path"
    if detail["type"] == "tuple_type":
        return f'{shown(value)} is not a list of ids, as in ["12345678"]'
    return str(context.get("error", detail["msg"]))
