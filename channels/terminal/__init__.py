"""The terminal as a channel: one person at one keyboard, or a pipe."""

from channels.terminal.adapter import TerminalChannel

__all__ = ["TerminalChannel"]
