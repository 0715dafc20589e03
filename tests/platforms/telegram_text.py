"""What Telegram does to a text: cleaning, measuring, entity bounds, and what it marks by itself.

Sources: facts 1.1 (units), tdlib `td/telegram/MessageEntity.cpp` (`fix_formatted_text`, wording of the refusals; the
Bot API server puts "Bad Request: " before them and makes the first letter small).
"""

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

TEXT_LIMIT: Final = 4096
CAPTION_LIMIT: Final = 1024
ENTITIES_KEPT: Final = 100
CODE_KINDS: Final = frozenset({"code", "pre"})
BIDI_AND_SEPARATORS: Final = range(0x2028, 0x202F)


class Refusal(Exception):
    """An answer with `ok: false`."""

    def __init__(self, status: int, description: str, parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__(description)
        self.status = status
        self.description = description
        self.parameters = dict(parameters or {})


def bad_request(what: str) -> Refusal:
    return Refusal(400, f"Bad Request: {what}")


@dataclass(frozen=True, slots=True)
class Entity:
    """A marked stretch of a text; offset and length count UTF-16 code units."""

    kind: str
    offset: int
    length: int
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return self.offset + self.length

    def of(self, text: str) -> str:
        """The stretch itself."""
        return text.encode("utf-16-le")[2 * self.offset : 2 * self.end].decode("utf-16-le")

    def wire(self) -> dict[str, Any]:
        return {"type": self.kind, "offset": self.offset, "length": self.length, **self.extra}


@dataclass(frozen=True, slots=True)
class Formatted:
    """A text as the platform stores it."""

    text: str
    entities: tuple[Entity, ...] = ()


def utf16(text: str) -> int:
    """Length in UTF-16 code units."""
    return len(text) + sum(character > "\uffff" for character in text)


def read_entities(raw: str) -> tuple[Entity, ...]:
    """The `entities` field of a form."""
    try:
        items = json.loads(raw)
    except ValueError as error:
        raise bad_request("can't parse entities: Can't parse JSON object") from error
    if not isinstance(items, list):
        raise bad_request("can't parse entities: expected an Array of MessageEntity")
    return tuple(_read_entity(item) for item in items)


def _read_entity(item: object) -> Entity:
    if not isinstance(item, dict):
        raise bad_request("can't parse MessageEntity: expected an Object")
    for name, kind in (("type", str), ("offset", int), ("length", int)):
        if name not in item:
            raise bad_request(f"can't parse MessageEntity: Can't find field \"{name}\"")
        if not isinstance(item[name], kind):
            wanted = "String" if kind is str else "Number"
            raise bad_request(f'can\'t parse MessageEntity: Field "{name}" must be of type {wanted}')
    extra = {key: value for key, value in item.items() if key not in {"type", "offset", "length"}}
    return Entity(item["type"], item["offset"], item["length"], extra)


def fix(
    text: str, entities: tuple[Entity, ...], *, limit: int, may_be_empty: bool = False, strict: bool = True
) -> Formatted:
    """The text as stored, or the refusal.

    `strict` also refuses entities that overlap without nesting. The live server splits them without a word; a renderer
    that leans on that is wrong, and the documentation forbids it.
    """
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise bad_request("strings must be encoded in UTF-8")
    for entity in entities:
        if not 0 <= entity.offset <= 1_000_000:
            raise bad_request(f"receive an entity with incorrect offset {entity.offset}")
        if not 0 <= entity.length <= 1_000_000:
            raise bad_request(f"receive an entity with incorrect length {entity.length}")
    ordered = tuple(sorted((e for e in entities if e.length), key=lambda e: (e.offset, -e.length)))
    _check_bounds(text, ordered)
    if strict:
        _check_nesting(ordered)
    stored = _trim(_clean(text, _outside_code(ordered)))
    if not stored.text and not may_be_empty:
        raise bad_request("text must be non-empty")
    if len(stored.text) > limit:
        raise bad_request("message is too long" if limit == TEXT_LIMIT else "message caption is too long")
    return replace(stored, entities=stored.entities[:ENTITIES_KEPT])


def _check_bounds(text: str, entities: tuple[Entity, ...]) -> None:
    units = utf16(text)
    byte_at = dict(zip(_unit_offsets(text), _byte_offsets(text), strict=True))
    for entity in entities:
        if entity.offset > units:
            raise bad_request(f"entity begins after the end of the text at UTF-16 offset {entity.offset}")
        where = f"entity beginning at UTF-16 offset {entity.offset} ends"
        if entity.end > units:
            raise bad_request(f"{where} after the end of the text at UTF-16 offset {entity.end}")
        if entity.offset not in byte_at:
            byte = byte_at[entity.offset + 1]
            raise bad_request(f"entity begins in a middle of a UTF-16 symbol at byte offset {byte}")
        if entity.end not in byte_at:
            raise bad_request(f"{where} in a middle of a UTF-16 symbol at byte offset {byte_at[entity.end + 1]}")


def _unit_offsets(text: str) -> list[int]:
    return [0, *itertools.accumulate(utf16(character) for character in text)]


def _byte_offsets(text: str) -> list[int]:
    return [0, *itertools.accumulate(len(character.encode()) for character in text)]


def _check_nesting(entities: tuple[Entity, ...]) -> None:
    open_entities: list[Entity] = []
    for entity in entities:
        while open_entities and open_entities[-1].end <= entity.offset:
            open_entities.pop()
        if open_entities and entity.end > open_entities[-1].end:
            raise bad_request("can't parse entities: ENTITY_BOUNDS_INVALID")
        open_entities.append(entity)


def _outside_code(entities: tuple[Entity, ...]) -> tuple[Entity, ...]:
    """Code and pre contain nothing else: the server drops what stands inside."""

    def inside_code(at: int, entity: Entity) -> bool:
        return any(
            code.kind in CODE_KINDS and code.offset <= entity.offset and entity.end <= code.end
            for other, code in enumerate(entities)
            if other != at and (other < at or entity.kind not in CODE_KINDS)
        )

    return tuple(entity for at, entity in enumerate(entities) if not inside_code(at, entity))


def _clean(text: str, entities: tuple[Entity, ...]) -> Formatted:
    """Control characters become spaces, carriage returns and U+2028-U+202E disappear; entities move along."""
    kept: list[str] = []
    moved = {0: 0}
    before = after = 0
    for character in text:
        moved[before] = after
        before += utf16(character)
        if character == "\r" or ord(character) in BIDI_AND_SEPARATORS:
            continue
        kept.append(" " if character < " " and character != "\n" else character)
        after += utf16(character)
    moved[before] = after
    shifted = (replace(e, offset=moved[e.offset], length=moved[e.end] - moved[e.offset]) for e in entities)
    return Formatted("".join(kept), tuple(entity for entity in shifted if entity.length))


def _trim(stored: Formatted) -> Formatted:
    """White space at the end goes; at the start, spaces and newlines before the first entity go."""
    text = stored.text.rstrip()
    end = utf16(text)
    clipped = [replace(e, length=min(e.end, end) - e.offset) for e in stored.entities if e.offset < end]
    first = clipped[0].offset if clipped else end
    start = min(len(text) - len(text.lstrip(" \n")), first)
    return Formatted(text[start:], tuple(replace(entity, offset=entity.offset - start) for entity in clipped))


MENTION: Final = re.compile(r"(?<![\w/@])@(\w{3,32})(?!\w)", re.ASCII)
COMMAND: Final = re.compile(r"(?<![\w/@<>])/[a-zA-Z0-9_]{1,64}(?:@\w{3,32})?(?![\w/@])", re.ASCII)
LINK: Final = re.compile(r"https?://[^\s<>]+")
TYPED_CODE: Final = re.compile(r"```(.+?)```|`([^`\n]+)`", re.DOTALL)


def detect(text: str, entities: tuple[Entity, ...] = ()) -> tuple[Entity, ...]:
    """Mentions, bot commands and links that the server marks by itself outside code."""
    taken = [entity for entity in entities if entity.kind in CODE_KINDS]
    found: list[Entity] = []
    for kind, pattern in (("url", LINK), ("bot_command", COMMAND), ("mention", MENTION)):
        for match in pattern.finditer(text):
            entity = Entity(kind, utf16(text[: match.start()]), utf16(match[0]))
            if not any(other.offset < entity.end and entity.offset < other.end for other in (*taken, *found)):
                found.append(entity)
    return tuple(sorted((*entities, *found), key=lambda entity: (entity.offset, -entity.length)))


def typed(text: str) -> Formatted:
    """What a person's app makes of typed text: backticks become code, the server marks the rest."""
    plain, entities, at = "", [], 0
    for match in TYPED_CODE.finditer(text):
        plain += text[at : match.start()]
        kind, body = ("pre", match[1]) if match[1] is not None else ("code", match[2])
        entities.append(Entity(kind, utf16(plain), utf16(body)))
        plain += body
        at = match.end()
    plain += text[at:]
    return Formatted(plain, detect(plain, tuple(entities)))
