"""What Slack writes for what a person typed, turned back: `<@U1>`, `<#C1|general>`, `<url|label>`, `&amp;`."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from channels.markdown.tree import with_address

_MARK: Final = re.compile(r"<([^<>\n]+)>|&(amp|lt|gt);")
_PERSON: Final = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>")
_ENTITIES: Final = {"amp": "&", "lt": "<", "gt": ">"}
_SCHEME: Final = re.compile(r"^(?:https?://|mailto:|tel:)")


def typed(text: str, names: Mapping[str, str]) -> str:
    """The text as the person typed it. `names`: what people are called, by id; an id that is not there stays."""
    return _MARK.sub(lambda mark: _ENTITIES[mark[2]] if mark[2] else _said(mark[1], names), text)


def people(text: str) -> Iterable[str]:
    """The ids of those whom a text mentions, in order."""
    return (found[1] for found in _PERSON.finditer(text))


def _said(mark: str, names: Mapping[str, str]) -> str:
    target, _, label = mark.partition("|")
    target, label = _plain(target), _plain(label)
    match target[:1]:
        case "@":
            return "@" + (names.get(target[1:]) or label or target[1:])
        case "#":
            return "#" + (label or target[1:])
        case "!":
            return label or "@" + target[1:].partition("^")[0]
    if label and label == _SCHEME.sub("", target):  # `example.com` was typed, and Slack made a link of it
        return label
    return with_address(label, target)


def _plain(text: str) -> str:
    return re.sub("&(amp|lt|gt);", lambda entity: _ENTITIES[entity[1]], text)
