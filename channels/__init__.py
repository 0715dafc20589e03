"""The channels. Each is a folder with the same rooms: build, parse, render, adapter."""

from importlib import import_module
from types import ModuleType


def load(name: str) -> ModuleType:
    """The folder of one channel. Imported only when it is switched on: an SDK costs seconds and much memory."""
    return import_module(f"channels.{name}")
