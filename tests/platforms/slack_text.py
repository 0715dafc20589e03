"""What Slack counts and refuses in texts and blocks (facts 3.1), and whom they notify (facts 3.4)."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

Json = dict[str, Any]

SPLIT_ABOVE: Final = 4000
TEXT_LIMIT: Final = 40_000
MARKDOWN_LIMIT: Final = 12_000
BLOCKS_LIMIT: Final = 13_200
MOST_BLOCKS: Final = 50

SPECIAL: Final = re.compile(r"<(?:!(channel|here|everyone|group)|!subteam\^(S\w+)|@([UW]\w+))(?:\|[^<>]*)?>")
KNOWN_BLOCKS: Final = frozenset(
    {"actions", "context", "divider", "file", "header", "image", "input", "markdown", "rich_text", "section", "table"}
    | {"video", "context_actions"}
)


@dataclass(eq=False)
class Refusal(Exception):
    """`ok: false` and why; `told` are the lines of response_metadata.messages, `more` further fields."""

    error: str
    told: tuple[str, ...] = ()
    more: Mapping[str, Any] | None = None


def pinged(text: str, blocks: Iterable[Json]) -> tuple[str, ...]:
    """Whom a message notifies, in order, each once: its text, its blocks' mrkdwn and markdown, rich text elements.

    Plain text objects notify nobody. Whether a markdown block resolves `<!channel>` is not documented: here it does.
    """
    found = {who: None for words in [text, *_live_texts(blocks)] for who in _specials(words)}
    found |= {who: None for element in _rich(blocks) if (who := _rich_ping(element))}
    return tuple(found)


def _specials(text: str) -> Iterator[str]:
    for match in SPECIAL.finditer(text):
        yield match[1] or match[2] or match[3]


def _walk(value: Any) -> Iterator[Json]:
    """Every object inside a value, depth first."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _walk(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _walk(inner)


def _live_texts(blocks: Iterable[Json]) -> Iterator[str]:
    for item in _walk(tuple(blocks)):
        if item.get("type") in {"mrkdwn", "markdown"} and isinstance(item.get("text"), str):
            yield item["text"]


def _rich(blocks: Iterable[Json]) -> Iterator[Json]:
    for block in blocks:
        if block.get("type") == "rich_text" or block.get("type") == "table":
            yield from _walk(block)


def _rich_ping(element: Json) -> str:
    match element:
        case (
            {"type": "user", "user_id": who}
            | {"type": "usergroup", "usergroup_id": who}
            | {
                "type": "broadcast",
                "range": who,
            }
        ):
            return str(who)
    return ""


def fully_parsed(text: str, names: Mapping[str, str]) -> str:
    """What `parse=full` and `link_names` make of a text: `@channel` and `@name` become mentions that notify."""
    marks = {"channel": "<!channel>", "here": "<!here>", "everyone": "<!everyone>"}
    marks |= {name: f"<@{user}>" for name, user in names.items()}
    return re.sub(r"(?<![\w<!@])@(\w+)", lambda match: marks.get(match[1].lower(), match[0]), text)


def pieces(text: str) -> list[str]:
    """The messages that a text becomes: Slack cuts at 4000 characters, whatever stands there."""
    if len(text) > TEXT_LIMIT:
        raise Refusal("msg_too_long")
    return [text[at : at + SPLIT_ABOVE] for at in range(0, len(text), SPLIT_ABOVE)]


def read_blocks(raw: str) -> tuple[Json, ...]:
    """The blocks of a call, checked as Slack checks them."""
    if not raw:
        return ()
    try:
        blocks = json.loads(raw)
    except ValueError:
        raise Refusal("invalid_blocks_format") from None
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise Refusal("invalid_blocks_format")
    if len(blocks) > MOST_BLOCKS:
        raise _invalid(f"no more than {MOST_BLOCKS} items allowed", "/blocks")
    for at, block in enumerate(blocks):
        _check(block, f"/blocks/{at}")
    names = [block["block_id"] for block in blocks if "block_id" in block]
    if len(names) != len(set(names)):
        raise _invalid("`block_id` already exists", "/blocks")
    if sum(block["type"] == "table" for block in blocks) > 1:
        raise Refusal("invalid_attachments", ("only_one_table_allowed",))
    if sum(len(block["text"]) for block in blocks if block["type"] == "markdown") > MARKDOWN_LIMIT:
        raise Refusal("msg_too_long")
    if sum(len(text) for text in _texts(blocks)) > BLOCKS_LIMIT:
        raise Refusal("msg_blocks_too_long")
    return tuple(blocks)


def _texts(blocks: Iterable[Json]) -> Iterator[str]:
    for item in _walk(tuple(blocks)):
        if isinstance(item.get("text"), str):
            yield item["text"]


def _invalid(what: str, where: str) -> Refusal:
    return Refusal("invalid_blocks", (f"[ERROR] {what} [json-pointer:{where}]",))


def _check(block: Json, where: str) -> None:
    kind = block.get("type")
    if kind not in KNOWN_BLOCKS:
        raise _invalid(f"unsupported type: {kind}", where)
    if len(str(block.get("block_id", ""))) > 255:
        raise _invalid("must be less than 256 characters", f"{where}/block_id")
    if check := _CHECKS.get(str(kind)):
        check(block, where)


def _check_text(text: Any, where: str, limit: int, kinds: tuple[str, ...] = ("plain_text", "mrkdwn")) -> None:
    if not isinstance(text, dict) or text.get("type") not in kinds or not isinstance(text.get("text"), str):
        raise _invalid("missing required field: text", where)
    if not text["text"]:
        raise _invalid("must be more than 0 characters", f"{where}/text")
    if len(text["text"]) > limit:
        raise _invalid(f"must be less than {limit + 1} characters", f"{where}/text")


def _check_section(block: Json, where: str) -> None:
    if "text" not in block and "fields" not in block:
        raise _invalid("must define either `fields` or `text`", where)
    if "text" in block:
        _check_text(block["text"], f"{where}/text", 3000)
    fields = block.get("fields", [])
    if len(fields) > 10:
        raise _invalid("no more than 10 items allowed", f"{where}/fields")
    for at, item in enumerate(fields):
        _check_text(item, f"{where}/fields/{at}", 2000)


def _check_header(block: Json, where: str) -> None:
    _check_text(block.get("text"), f"{where}/text", 150, ("plain_text",))


def _check_elements(most: int) -> Callable[[Json, str], None]:
    def check(block: Json, where: str) -> None:
        elements = block.get("elements")
        if not isinstance(elements, list) or not elements:
            raise _invalid("missing required field: elements", where)
        if len(elements) > most:
            raise _invalid(f"no more than {most} items allowed", f"{where}/elements")

    return check


def _check_markdown(block: Json, where: str) -> None:
    if not isinstance(block.get("text"), str) or not block["text"]:
        raise _invalid("missing required field: text", where)


def _check_table(block: Json, where: str) -> None:
    rows = block.get("rows")
    if not isinstance(rows, list) or not rows:
        raise _invalid("missing required field: rows", where)
    if len(rows) > 100:
        raise _invalid("no more than 100 items allowed", f"{where}/rows")
    for at, row in enumerate(rows):
        if len(row) > 20:
            raise _invalid("no more than 20 items allowed", f"{where}/rows/{at}")


_CHECKS: Final[dict[str, Callable[[Json, str], None]]] = {
    "section": _check_section,
    "header": _check_header,
    "context": _check_elements(10),
    "actions": _check_elements(25),
    "markdown": _check_markdown,
    "table": _check_table,
}
