"""What is sent for one part of a reply, and how it is known again. Pure: decides, and sends nothing (facts 3.6)."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from channels.slack.render import REPEATED, escaped
from gateway.channel import Part
from gateway.message import Reply

Body = Mapping[str, object]

_KIND: Final = "gateway_reply"


def message(reply: Reply, part: Part, *, index: int, marked: bool) -> Body:
    """The body of chat.postMessage. It pings nobody, unfolds no links, and carries the part's name for `found`.

    `marked`: it may be a second copy, and says so.
    """
    prefix = REPEATED if marked else ""
    elements = [_section(prefix)] if prefix else []
    elements += json.loads(part.body)
    body: dict[str, object] = {
        "channel": reply.route.conversation,
        "text": escaped(prefix + part.text),
        "blocks": [{"type": "rich_text", "elements": elements}],
        "parse": "none",
        "link_names": False,
        "unfurl_links": False,
        "unfurl_media": False,
        "metadata": {"event_type": _KIND, "event_payload": {"part": _name(reply, index)}},
    }
    return body | ({"thread_ts": reply.route.thread} if reply.route.thread else {})


def simpler(body: Body) -> Body:
    """The same as text alone, for a message whose blocks Slack does not take."""
    return {name: value for name, value in body.items() if name != "blocks"}


def found(messages: Iterable[Mapping[str, object]], reply: Reply, index: int) -> str | None:
    """The ts of the message that is this part, if one of these is."""
    for one in messages:
        match one:
            case {"ts": str(ts), "metadata": {"event_type": kind, "event_payload": {"part": name}}}:
                if (kind, name) == (_KIND, _name(reply, index)):
                    return ts
    return None


def receipt(answer: Mapping[str, object]) -> str | None:
    """The ts of the message that was sent."""
    ts = answer.get("ts")
    return ts if isinstance(ts, str) and ts else None


def _name(reply: Reply, index: int) -> str:
    return f"{reply.turn}#{index}"


def _section(text: str) -> dict[str, object]:
    return {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
