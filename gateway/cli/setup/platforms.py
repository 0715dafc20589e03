"""The questions about a platform: its tokens, tried at once, and who is the bot's admin there."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gateway.cli.checks import discord, slack, telegram
from gateway.cli.checks.finding import Check, Finding, tried
from gateway.cli.setup.asking import Asking
from gateway.cli.setup.choices import Choices
from gateway.cli.setup.guides import PERMISSIONS, PERSONS, TOKENS, invitation
from gateway.redact import Redactor

if TYPE_CHECKING:
    from gateway.settings import Settings

PLATFORMS = ("telegram", "discord", "slack")


def chosen_platforms(person: Asking) -> list[str]:
    """Which of them, in the order of PLATFORMS."""
    while True:
        answer = person.line(
            "Which of telegram, discord, slack? Several with blanks between; Enter: the web page alone"
        )
        words = answer.lower().replace(",", " ").split()
        if all(any(platform.startswith(word) for platform in PLATFORMS) for word in words):
            return [platform for platform in PLATFORMS if any(platform.startswith(word) for word in words)]
        person.say("Their names, or t, d and s.")


def set_up(platform: str, person: Asking, choices: Choices) -> None:
    """Asks for all that the platform needs; skipped, nothing of it is chosen."""
    person.say(f"\n{platform.capitalize()}\n{TOKENS[platform]}")
    choices.adopt_addresses(platform)
    match platform:
        case "telegram":
            check, done = telegram.check, asked(person, choices, "telegram.token", "Token", telegram.check)
        case "discord":
            check, done = discord.check, asked(person, choices, "discord.token", "Token", discord.check)
            if done:
                _let_in(person, choices)
        case _:
            check, done = slack.bot, asked(person, choices, "slack.bot_token", "Bot token (xoxb-...)", slack.bot)
            done = done and _events(person, choices)
    if done:
        _admin(platform, person, choices, check)
    else:
        choices.drop(platform)
        person.say(f"{platform.capitalize()} stays off.")


def asked(person: Asking, choices: Choices, name: str, question: str, check: Check) -> bool:
    """Asks for a secret until it is right. False, and nothing chosen, where it is skipped."""
    while text := person.secret(question):
        if problem := choices.take(name, text):
            person.say(problem)
        elif holds(person, choices, check, name.partition(".")[0]):
            return True
        choices.drop(name)
        person.say("Once more, please; an empty answer skips it.")
    return False


def holds(person: Asking, choices: Choices, check: Check, part: str) -> bool:
    """Tries what is chosen, and says what was found. False where something failed."""
    settings = choices.settings()
    findings = asyncio.run(tried(part, check, settings))
    person.say(Redactor(settings.secrets()).redact("\n".join(map(str, findings))))
    return all(finding.state != "fail" for finding in findings)


def _let_in(person: Asking, choices: Choices) -> None:
    async def look(settings: "Settings") -> Sequence[Finding]:
        bot = await discord.bot_of(settings)
        if isinstance(bot, Finding):
            return [bot]
        if bot.sees_content:
            choices.take("discord.message_content", True)
            person.say("MESSAGE CONTENT INTENT is on: it will read every message of the channels that it is in.")
        person.say(f"Let it into your server ({', '.join(PERMISSIONS)}): {invitation(bot.application)}")
        return []

    asyncio.run(tried("discord", look, choices.settings()))


def _events(person: Asking, choices: Choices) -> bool:
    if asked(person, choices, "slack.app_token", "App-level token (xapp-...; Enter: events by HTTP)", slack.events):
        return True
    if asked(person, choices, "slack.signing_secret", "Signing secret", slack.events):
        person.say("In Slack, Event Subscriptions, Request URL: the address of this gateway's page + /slack/events")
        return True
    return False


def _admin(platform: str, person: Asking, choices: Choices, check: Check) -> None:
    name = f"{platform}.admins"
    while answer := person.line(f"Your own id, to be the bot's admin ({PERSONS[platform]}; Enter: later)"):
        problem = choices.take(name, tuple(answer.replace(",", " ").split()))
        if not problem:
            found = asyncio.run(tried(platform, check, choices.settings()))
            problem = "\n".join(str(finding) for finding in found if finding.part == f"{platform} people")
        if not problem:
            return
        choices.drop(name)
        person.say(problem)
