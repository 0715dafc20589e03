"""`gateway init`: asks little, tries at once what it is told, and writes the settings files."""

import os
import shlex
from argparse import Namespace, _SubParsersAction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.cli.common import settings_of
from gateway.cli.setup.asking import Asking, Stopped
from gateway.errors import Refused

if TYPE_CHECKING:
    from gateway.cli.setup.choices import Choices


def add(commands: "_SubParsersAction[Any]") -> None:
    """Adds the command to the command line."""
    parser = commands.add_parser("init", help="ask for tokens and a model, try them, and write gateway.toml")
    parser.set_defaults(act=init)


def init(arguments: Namespace) -> int:
    """Asks, shows, and writes. Raises Stopped where somebody does not want to: nothing is written then."""
    try:
        return _init(arguments.config or Path("gateway.toml"))
    except KeyboardInterrupt:
        raise Stopped("stopped; nothing is written") from None


def _init(config: Path) -> int:
    from gateway.cli.setup import model, platforms
    from gateway.cli.setup.choices import Choices

    person = Asking()
    choices = Choices(settings_of(Namespace(config=Path(os.devnull))))  # of the environment alone
    config = _free(person, config)
    person.say("Questions about the bot's platforms and its model. Nothing is written before you have seen it.")
    for platform in platforms.chosen_platforms(person):
        platforms.set_up(platform, person, choices)
    model.set_up(person, choices)
    _write(person, choices, config)
    return 0


def _free(person: Asking, config: Path) -> Path:
    """A name that neither settings nor secrets have yet. Raises Refused or Stopped where there is none."""
    from gateway.settings import secrets_file

    def there(path: Path) -> list[str]:
        return [str(one) for one in (path, secrets_file(path)) if os.path.lexists(one)]

    if not os.access(config.parent, os.W_OK | os.X_OK):
        raise Refused(f"{config.parent} is no folder in which a file can be made; name another file with --config")
    if not (old := there(config)):
        return config
    new = config.with_name(f"{config.name}.new")
    if also := there(new):
        raise Stopped(f"there already: {', '.join(old + also)}. Move them away first; nothing is written")
    person.say(f"There already, and not touched: {', '.join(old)}")
    if not person.agrees(f"Write {new} instead?", default=False):
        raise Stopped("nothing is written")
    return new


def _write(person: Asking, choices: "Choices", config: Path) -> None:
    from gateway.cli.setup.config_file import config_text, secrets_text, shown, write
    from gateway.settings import secrets_file

    chosen, secrets = choices.all(), secrets_file(config)
    texts = {config: (config_text(chosen, secrets), 0o644)}
    if text := secrets_text(chosen):
        texts = {secrets: (text, 0o600)} | texts
    person.say(f"\nThis will stand in {' and '.join(map(str, texts))}, with every other setting as a comment:")
    person.say("\n".join(f"  {line}" for line in shown(chosen, secrets)) or "  nothing: all has its default")
    if not person.agrees("Write it?", default=True):
        raise Stopped("nothing is written")
    write(texts)
    named = "" if config == Path("gateway.toml") else f" --config {shlex.quote(str(config))}"
    person.say(f"Written. Try all of it: gateway{named} doctor. Start it: gateway{named} run")
