"""The settings: the only reader of the environment and of the configuration file. Imported by `main` and `cli` alone.

A setting is `section.key` in the file (TOML) and `GATEWAY_SECTION__KEY` in the environment, which wins; `data_dir` and
`GATEWAY_DATA_DIR` stand in no section. An empty variable or text counts as not set.
"""

from gateway.settings.load import BadSetting, Settings, load, names, secrets_file
from gateway.settings.sections import DiscordSettings, SlackSettings, TelegramSettings

__all__ = [
    "BadSetting",
    "DiscordSettings",
    "Settings",
    "SlackSettings",
    "TelegramSettings",
    "load",
    "names",
    "secrets_file",
]
