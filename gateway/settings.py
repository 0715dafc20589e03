"""The settings: the only reader of the environment and of the configuration file. Imported by `main` and `cli` alone.

A setting is `section.key` in the file (TOML) and `GATEWAY_SECTION__KEY` in the environment, which wins; `data_dir` and
`GATEWAY_DATA_DIR` stand in no section. An empty variable or text counts as not set.
"""

import difflib
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, SecretStr, ValidationError
from pydantic_core import ErrorDetails

from gateway.errors import Refused
from gateway.redact import Redactor

_PREFIX = "GATEWAY_"


class BadSetting(Refused):
    """Settings that cannot be used. `problems`: a line each, with the name, what is wrong, and where it was read."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def _shown(value: object) -> str:
    text = Redactor().redact(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= 80 else f"{text[:80]}…"


def _number(kind: type[int] | type[float], what: str, least: float, most: float) -> BeforeValidator:
    def read(value: object) -> float:
        try:
            number = kind(str(value))
        except ValueError:
            number = math.nan
        if least <= number <= most:
            return number
        raise ValueError(f"{_shown(value)} is not {what} from {least:.10g} to {most:.10g}")

    return BeforeValidator(read)


def _text(what: str, good: Callable[[str], object] = str.strip, *, secret: bool = False) -> BeforeValidator:
    def read(value: object) -> object:
        if isinstance(value, str) and good(value):
            return value
        raise ValueError(f"{'the value' if secret else _shown(value)} is not {what}")

    return BeforeValidator(read)


def _url(*schemes: str) -> Callable[[str], bool]:
    def good(value: str) -> bool:
        try:
            url = urlsplit(value)
            return url.scheme in schemes and bool(url.hostname or url.scheme == "unix") and url.port != 0
        except ValueError:
            return False

    return good


def _store(value: object) -> object:
    if isinstance(value, str) and value.startswith(("sqlite:", "postgresql:")):
        raise ValueError(f'"{value.partition(":")[0]}:" stores are not in this release; use "file"')
    return value


def _people(value: object) -> object:
    """Stable ids alone, which are digits: whoever takes over a name would take over its rights."""
    if not isinstance(value, str | list):
        return value
    ids = [text for item in (value.split(",") if isinstance(value, str) else value) if (text := str(item).strip())]
    for text in ids:
        if not (text.isascii() and text.isdigit()):
            raise ValueError(
                f"{_shown(text)} is not a numeric id; names can change hands, so use the person's number: "
                "the bot tells it to whoever sends it /whoami"
            )
    return tuple(dict.fromkeys(ids))


_whole = partial(_number, int, "a whole number")
_seconds = partial(_number, float, "a number of seconds")
_lower = BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)
_Http = Annotated[str, _text("an http:// or https:// address", _url("http", "https"))]
_Host = Annotated[str, _text("a host name or address", re.compile(r"[^\s/]+").fullmatch)]
_People = Annotated[tuple[str, ...], BeforeValidator(_people)]
_Secret = Annotated[SecretStr, _text("a text", secret=True)]
_is_redis, _is_bot = _url("redis", "rediss", "unix"), re.compile(r"[0-9]+:\S+").fullmatch
_RedisUrl = Annotated[SecretStr, _text("a redis://, rediss:// or unix:// address", _is_redis, secret=True)]
_BotToken = Annotated[SecretStr, _text("a bot's token, which looks like 12345678:AAH...", _is_bot, secret=True)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class RedisSettings(_Section):
    """`url`: None for the embedded server. A secret, since it may hold a password."""

    url: _RedisUrl | None = None


class TapeSettings(_Section):
    store: Annotated[Literal["file", "memory"], BeforeValidator(_store)] = "file"


class ModelSettings(_Section):
    """`base_url`, `api_key`: fall back to the OPENAI_ variables. `context_window`: tokens. `timeout`: seconds."""

    name: Annotated[str, _text("the name of a model")] = "gpt-4o-mini"
    base_url: _Http | None = None
    api_key: _Secret | None = None
    context_window: Annotated[int, _whole(1, 100_000_000)] | None = None
    timeout: Annotated[float, _seconds(0.1, 3600)] = 120.0
    system_prompt: Annotated[str, _text("a text", lambda _: True)] = (
        "You are a helpful assistant in a chat. Answer in the language of the person who asks. "
        "Be brief and exact; say so when you do not know."
    )


class TelegramSettings(_Section):
    """`access`: who may talk to the bot alone; `group_access`: whom it answers in groups, when addressed."""

    token: _BotToken | None = None
    api_base: _Http = "https://api.telegram.org"
    admins: _People = ()
    allow: _People = ()
    access: Literal["open", "allowlist", "pairing"] = "pairing"
    group_access: Literal["open", "allowlist"] = "open"


class WebSettings(_Section):
    """`port`: 0 for any that is free. `token`: None for one that is made and kept in the data folder."""

    host: _Host = "127.0.0.1"
    port: Annotated[int, _whole(0, 65535)] = 8080
    token: _Secret | None = None


class SessionSettings(_Section):
    """`lease_ttl` and `drain` (how long a stop waits for turns): seconds. `at_once`: turns side by side."""

    lease_ttl: Annotated[float, _seconds(1, 3600)] = 30.0
    at_once: Annotated[int, _whole(1, 10_000)] = 32
    drain: Annotated[float, _seconds(0, 3600)] = 10.0


class LogSettings(_Section):
    """`format`: None for console on a terminal, else json."""

    format: Literal["console", "json"] | None = None
    level: Annotated[Literal["debug", "info", "warning", "error", "critical"], _lower] = "info"


class Settings(_Section):
    """All settings, checked. Frozen; secrets do not print. `data_dir` is absolute; it need not exist."""

    data_dir: Path
    redis: RedisSettings = RedisSettings()
    tape: TapeSettings = TapeSettings()
    model: ModelSettings = ModelSettings()
    telegram: TelegramSettings = TelegramSettings()
    web: WebSettings = WebSettings()
    session: SessionSettings = SessionSettings()
    log: LogSettings = LogSettings()

    def secrets(self) -> list[str]:
        """What no log, tape or chat may show: keys, tokens, and the passwords in addresses."""
        found = [key.get_secret_value() for key in (self.model.api_key, self.telegram.token, self.web.token) if key]
        redis = self.redis.url.get_secret_value() if self.redis.url else ""
        for url in map(urlsplit, (redis, self.model.base_url or "", self.telegram.api_base)):
            found += [url.password or "", unquote(url.password or ""), *parse_qs(url.query).get("password", ())]
        return [secret for secret in dict.fromkeys(found) if secret]


def names() -> list[str]:
    """The names of all settings, as in the file."""
    found = []
    for name, field in Settings.model_fields.items():
        if isinstance(field.default, _Section):
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


def load(environ: Mapping[str, str], config: Path | None = None) -> Settings:
    """The settings of the file, and over them those of the environment.

    `config`: the file; None for `gateway.toml` in the current folder, if there is one. A relative `data_dir` starts
    at the folder of the file it stands in, else at the current one. Raises BadSetting with all that is wrong.
    """
    given, problems = _from_file(config or Path("gateway.toml"), must_exist=config is not None)
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


def _from_file(path: Path, *, must_exist: bool) -> tuple[dict[str, _Given], list[str]]:
    try:
        document = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        if must_exist:
            raise BadSetting(f"{path}: there is no such file (--config)") from None
        return {}, []
    except OSError as error:
        raise BadSetting(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:  # also where it is not UTF-8
        raise BadSetting(f"{path}: is not valid TOML: {error}") from error
    known, given, problems = names(), {}, []
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
        return f"{_shown(value)} is not {context['expected']}"
    if detail["type"] == "path_type":
        return f"{_shown(value)} is not a path"
    if detail["type"] == "tuple_type":
        return f'{_shown(value)} is not a list of ids, as in ["12345678"]'
    return str(context.get("error", detail["msg"]))
