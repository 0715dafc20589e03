"""The questions about the model: whose server, its key, and which of its models."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gateway.cli.checks import model
from gateway.cli.checks.finding import Check, Finding
from gateway.cli.setup.asking import Asking
from gateway.cli.setup.choices import Choices
from gateway.cli.setup.platforms import asked, holds

if TYPE_CHECKING:
    from gateway.settings import Settings

SHOWN = 8
"""Models that are listed."""


def set_up(person: Asking, choices: Choices) -> None:
    """OpenAI, another server, or none yet."""
    models: list[str] = []

    async def reached(settings: "Settings") -> Sequence[Finding]:
        found, models[:] = await model.reach(settings)
        return [found]

    person.say("\nThe model")
    person.say("  1  OpenAI, with a key from https://platform.openai.com/api-keys (or the server of OPENAI_BASE_URL)")
    person.say("  2  another server that speaks OpenAI's chat completions: Ollama, vLLM, LM Studio, ...")
    person.say("  3  none yet: the built-in demo answers")
    while (choice := person.line("1, 2 or 3", "3")) not in ("1", "2", "3"):
        person.say("1, 2 or 3, please.")
    if choice == "1":
        choices.adopt_addresses("model")
        found = asked(person, choices, "model.api_key", "Key", reached)
    else:
        found = choice == "2" and _server(person, choices, reached)
    if found:
        _name(person, choices, models)
    else:
        choices.drop("model")
        person.say("No model is set: the demo answers, unless OPENAI_API_KEY or OPENAI_BASE_URL is.")


def _server(person: Asking, choices: Choices, reached: Check) -> bool:
    while address := person.line("Its address, such as http://localhost:11434/v1"):
        if problem := choices.take("model.base_url", address):
            person.say(problem)
        else:
            if key := person.secret("Its key (Enter: none)"):
                choices.take("model.api_key", key)
            if holds(person, choices, reached, "model"):
                return True
        choices.drop("model")
        person.say("Once more, please; an empty answer skips it.")
    return False


def _name(person: Asking, choices: Choices, models: Sequence[str]) -> None:
    usual = choices.settings().model.name
    if models:
        person.say(f"It has {', '.join(models[:SHOWN])}{', ...' if len(models) > SHOWN else ''}")
    name = person.line("Which model", usual if usual in models or not models else models[0])
    if problem := choices.take("model.name", name):
        person.say(problem)
    holds(person, choices, model.check, "model")
