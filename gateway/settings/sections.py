"""The sections of the settings, each setting with its type and default."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from gateway.settings.fields import (
    LOWER,
    BotToken,
    Count,
    Host,
    Http,
    Numbers,
    RedisUrl,
    Secret,
    SlackIds,
    SocketUrl,
    seconds,
    tape_store,
    text_of,
    whole,
)

Direct = Literal["open", "allowlist", "pairing"]
Group = Literal["open", "allowlist"]


class Section(BaseModel):
    """One table of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class RedisSettings(Section):
    """`url`: None for the embedded server. A secret, since it may hold a password."""

    url: RedisUrl | None = None


class TapeSettings(Section):
    store: Annotated[Literal["file", "memory"], BeforeValidator(tape_store)] = "file"


class ModelSettings(Section):
    """`base_url`, `api_key`: fall back to the OPENAI_ variables. `context_window`: tokens. `timeout`: seconds."""

    name: Annotated[str, text_of("the name of a model")] = "gpt-4o-mini"
    base_url: Http | None = None
    api_key: Secret | None = None
    context_window: Annotated[int, whole(1, 100_000_000)] | None = None
    timeout: Annotated[float, seconds(0.1, 3600)] = 120.0
    system_prompt: Annotated[str, text_of("a text", lambda _: True)] = (
        "You are a helpful assistant in a chat. Answer in the language of the person who asks. "
        "Be brief and exact; say so when you do not know."
    )


class TelegramSettings(Section):
    """`access`: who may talk to the bot alone; `group_access`: whom it answers in groups, when addressed.

    `platform_admins`: a chat's administrators are admins of the bot there. `group_context`: so many messages that were
    not for the bot come along when somebody addresses it in a group.
    """

    token: BotToken | None = None
    api_base: Http = "https://api.telegram.org"
    admins: Numbers = ()
    platform_admins: bool = False
    allow: Numbers = ()
    access: Direct = "pairing"
    group_access: Group = "open"
    group_context: Count = 0


class DiscordSettings(Section):
    """As TelegramSettings. `platform_admins`: who has the permission Administrator or Manage Server is an admin there;
    `admin_roles`: so is whoever has one of these roles. `message_content`: ask for the privileged intent, without
    which Discord shows the bot only what is addressed to it.
    """

    token: Secret | None = None
    api_base: Http = "https://discord.com/api/v10"
    gateway_url: SocketUrl = "wss://gateway.discord.gg/"
    message_content: bool = False
    admins: Numbers = ()
    platform_admins: bool = False
    admin_roles: Numbers = ()
    allow: Numbers = ()
    access: Direct = "pairing"
    group_access: Group = "open"
    group_context: Count = 0


class SlackSettings(Section):
    """As TelegramSettings. `app_token`: Socket Mode; without it, `signing_secret`: events come by HTTP.

    `platform_admins`: the workspace's admins and owners are admins of the bot.
    """

    bot_token: Secret | None = None
    app_token: Secret | None = None
    signing_secret: Secret | None = None
    api_base: Http = "https://slack.com/api/"
    admins: SlackIds = ()
    platform_admins: bool = False
    allow: SlackIds = ()
    access: Direct = "pairing"
    group_access: Group = "open"
    group_context: Count = 0


class WebSettings(Section):
    """`port`: 0 for any that is free. `token`: None for one that is made and kept in the data folder."""

    host: Host = "127.0.0.1"
    port: Annotated[int, whole(0, 65535)] = 8080
    token: Secret | None = None


class SessionSettings(Section):
    """`lease_ttl` and `drain` (how long a stop waits for turns): seconds. `at_once`: turns side by side."""

    lease_ttl: Annotated[float, seconds(1, 3600)] = 30.0
    at_once: Annotated[int, whole(1, 10_000)] = 32
    drain: Annotated[float, seconds(0, 3600)] = 10.0


class LogSettings(Section):
    """`format`: None for console on a terminal, else json."""

    format: Literal["console", "json"] | None = None
    level: Annotated[Literal["debug", "info", "warning", "error", "critical"], LOWER] = "info"
