"""What a person must click to get a token, and to find their own id. One text a platform."""

from collections.abc import Mapping

TOKENS: Mapping[str, str] = {
    "telegram": """\
  1. Write to @BotFather (https://t.me/BotFather): /newbot, a name, then a username that ends in "bot".
  2. Copy the token that it gives you; it looks like 12345678:AAH...
  In groups the bot answers when it is mentioned, replied to or commanded: nothing must be switched on for that.""",
    "discord": """\
  1. https://discord.com/developers/applications: New Application. Then, at the left: Bot.
  2. Reset Token, Yes, and copy it: it is shown once.
  3. Only if the bot is to read what is not addressed to it: on the same page, under Privileged Gateway Intents,
     turn on MESSAGE CONTENT INTENT, and Save Changes. It answers private messages and mentions without.""",
    "slack": """\
  1. https://api.slack.com/apps: Create New App, From a manifest, choose the workspace, and in the tab YAML put what
     stands in deploy/slack-manifest.yaml of this project; Next, Create.
  2. Install App: Install to Workspace, Allow; copy the Bot User OAuth Token (xoxb-...).
  3. Basic Information, App-Level Tokens: Generate Token and Scopes, any name, Add Scope connections:write, Generate;
     copy it (xapp-...). Without one, events come by HTTP: then copy the Signing Secret on the same page.""",
}

PERSONS: Mapping[str, str] = {
    "telegram": "the bot tells it to whoever sends it /whoami",
    "discord": "User Settings, Advanced, Developer Mode on; then right-click your name, Copy User ID",
    "slack": "click your picture, Profile, the three dots, Copy member ID",
}

PERMISSIONS: Mapping[str, int] = {
    "View Channels": 1 << 10,
    "Send Messages": 1 << 11,
    "Read Message History": 1 << 16,
    "Send Messages in Threads": 1 << 38,
}
"""Of the bot in a Discord server."""


def invitation(application: str) -> str:
    """The address at which somebody who may manage a Discord server lets the bot in."""
    scopes = "bot+applications.commands"
    asked = f"client_id={application}&scope={scopes}&permissions={sum(PERMISSIONS.values())}"
    return f"https://discord.com/oauth2/authorize?{asked}"
