"""Reads a part as Telegram would, by its own arithmetic: for tests that must not believe the renderer."""

import json
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from gateway.channel import Part
from tests.platforms.telegram_text import Entity, detect, fix

LIMIT = 4096
SIMPLE = {"bold", "italic", "strikethrough"}
CODE = {"code", "pre"}
KINDS = SIMPLE | CODE | {"text_link", "blockquote"}


@dataclass(frozen=True)
class Marked:
    kind: str
    words: str
    url: str = ""
    language: str = ""


def units(text: str) -> bytes:
    return text.encode("utf-16-le")


def marks(part: Part) -> list[Marked]:
    """What each entity covers, in order of offset."""
    found = []
    for entity in json.loads(part.body):
        covered = units(part.text)[2 * entity["offset"] : 2 * (entity["offset"] + entity["length"])].decode("utf-16-le")
        found.append(Marked(entity["type"], covered, entity.get("url", ""), entity.get("language", "")))
    return found


def check(part: Part, limit: int = LIMIT) -> None:
    """AssertionError where Telegram would refuse a part, cut it, drop a mark of it, or call somebody."""
    entities: list[dict[str, Any]] = json.loads(part.body)
    length = len(units(part.text)) // 2
    assert 0 < length <= limit
    assert len(entities) <= 100
    spans = [(e["offset"], e["offset"] + e["length"], e["type"]) for e in entities]
    assert spans == sorted(spans, key=lambda span: (span[0], -span[1]))
    for start, end, kind in spans:
        assert kind in KINDS
        assert 0 <= start < end <= length
    for mark in marks(part):  # a cut pair would not decode
        assert mark.words.strip()
        assert (mark.kind == "text_link") == bool(mark.url)
    for (_, end, kind), (start2, end2, kind2) in combinations(spans, 2):
        if start2 >= end:
            continue
        assert end2 <= end, "entities overlap without nesting"
        assert kind not in CODE, "code holds nothing"
        assert kind2 not in CODE or kind == "blockquote", "code stands in nothing but a quote"
        assert kind != kind2, "a kind within itself"
    wire = tuple(Entity(e["type"], e["offset"], e["length"]) for e in entities)
    stored = fix(part.text, wire, limit=4096)
    assert stored.text
    assert not [e for e in detect(stored.text, stored.entities) if e.kind == "mention" and not _in_link(e, stored.text)]


def _in_link(mention: Entity, text: str) -> bool:
    return any(e.offset <= mention.offset < e.end for e in detect(text) if e.kind == "url")
