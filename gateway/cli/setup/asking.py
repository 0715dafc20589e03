"""Somebody who is asked questions: a person at a terminal, or lines in a pipe."""

import getpass
import sys

from gateway.errors import GatewayError


class Stopped(GatewayError):
    """The questions end here, and nothing was changed."""


class Asking:
    """Asks on standard output, and reads a line of standard input for each answer. Raises Stopped at its end."""

    def __init__(self) -> None:
        self._at_a_terminal = sys.stdin.isatty()

    def say(self, text: str) -> None:
        """One line, or several."""
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    def line(self, question: str, default: str = "") -> str:
        """What is typed, without blanks around it; an empty line is the default."""
        shown = f"{question} [{default}]: " if default else f"{question}: "
        return self._printable(shown, secret=False) or default

    def secret(self, question: str) -> str:
        """As `line`, and a terminal does not show it."""
        return self._printable(f"{question}: ", secret=True)

    def agrees(self, question: str, *, default: bool) -> bool:
        """Yes or no; an empty line is the default."""
        while True:
            word = self.line(f"{question} [{'Y/n' if default else 'y/N'}]").lower()
            if word in ("", "y", "yes", "n", "no"):
                return word.startswith("y") if word else default
            self.say("y or n, please.")

    def _printable(self, shown: str, *, secret: bool) -> str:
        while not (text := self._read(shown, secret=secret).strip()).isprintable():
            self.say("That has characters in it that cannot be seen; once more, please.")
        return text

    def _read(self, shown: str, *, secret: bool) -> str:
        try:
            if secret and self._at_a_terminal:
                return getpass.getpass(shown)
            sys.stdout.write(shown)
            sys.stdout.flush()
            line = sys.stdin.readline()
        except EOFError:
            line = ""
        except UnicodeDecodeError:
            raise Stopped("that is not text; nothing is written") from None
        if not self._at_a_terminal:
            self.say("")
        if not line:
            raise Stopped("the answers end before the questions; nothing is written")
        return line
