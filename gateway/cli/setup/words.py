"""What the settings files say about every section and every setting."""

from collections.abc import Mapping

SECTIONS: Mapping[str, str] = {
    "redis": "The queues. With nothing set, a server of its own runs beside the gateway.",
    "tape": "The memory.",
    "model": "Who answers: any server that speaks OpenAI's chat completions; with neither address nor key, a demo.",
    "telegram": "On when its token is set.",
    "discord": "On when its token is set.",
    "slack": "On when its bot token is set.",
    "web": "The chat page.",
    "session": "How conversations are worked on.",
    "log": "What it tells on standard error.",
}

WORDS: Mapping[str, str] = {
    "data_dir": "Everything that is kept: back it up.",
    "redis.url": "redis://, rediss:// or unix://; name one to run several processes on several machines.",
    "tape.store": '"file", or "memory": gone at the end.',
    "model.name": "As the provider calls it.",
    "model.base_url": "The server's address.",
    "model.api_key": "The server's key.",
    "model.context_window": "Tokens; where it is set, a request that is too long is seen before it is sent.",
    "model.timeout": "Seconds for one call.",
    "model.system_prompt": "The bot's instructions.",
    "telegram.token": "From @BotFather.",
    "telegram.api_base": "Telegram's address, or that of a Bot API server of your own.",
    "telegram.platform_admins": "Whether a chat's administrators are admins of the bot there.",
    "discord.token": "From discord.com/developers, Bot, Reset Token.",
    "discord.api_base": "Discord's address.",
    "discord.gateway_url": "Where Discord sends events from.",
    "discord.message_content": "Whether it reads what is not addressed to it: needs MESSAGE CONTENT INTENT, under Bot.",
    "discord.platform_admins": "Whether who may administrate or manage a server is an admin of the bot there.",
    "discord.admin_roles": "Ids of roles that make somebody an admin, as numbers in quotes with commas between.",
    "slack.bot_token": "From api.slack.com/apps, OAuth & Permissions: xoxb-...",
    "slack.app_token": "From Basic Information, App-Level Tokens: xapp-...; for Socket Mode.",
    "slack.signing_secret": "From Basic Information; for events by HTTP, where there is no app token.",
    "slack.api_base": "Slack's address.",
    "slack.platform_admins": "Whether the workspace's admins and owners are admins of the bot.",
    "admins": 'Ids of the bot\'s admins, as in ["12345678"]; the bot tells everybody their own after /whoami.',
    "allow": "Ids of people who may talk to the bot.",
    "access": 'Who may talk in private: "open", "allowlist", or "pairing": a stranger gets a code that you approve.',
    "group_access": 'Whom it answers in groups, when it is addressed: "open" or "allowlist".',
    "group_context": "How many of the latest messages that were not for it come along when it is addressed (0 to 100).",
    "web.host": "Where the page is served; put a proxy with TLS before any other address.",
    "web.port": "0: any that is free.",
    "web.token": "Opens the page; one is made when none is set.",
    "session.lease_ttl": "Seconds until another process takes over from one that died.",
    "session.at_once": "Turns side by side in one process.",
    "session.drain": "Seconds that a stop waits for running turns.",
    "log.format": '"console" or "json"; with none set, "console" on a terminal.',
    "log.level": '"debug", "info", "warning", "error" or "critical".',
}
"""By name, or by key where the channels share it."""

EXAMPLES: Mapping[str, str] = {
    "data_dir": '"~/.local/share/gateway"',
    "model.base_url": '"https://api.openai.com/v1"',
    "model.context_window": "128000",
    "log.format": '"console"',
}
"""TOML for what has no default that could be shown."""

SECRETS = frozenset(
    {
        *("redis.url", "model.api_key", "telegram.token", "discord.token", "web.token"),
        *("slack.bot_token", "slack.app_token", "slack.signing_secret"),
    }
)
"""The settings that are secrets by their type."""
