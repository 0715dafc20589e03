"""A slash command of Slack -> the message that it is, or what is answered at once. Pure (facts 3.1, 3.4)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from channels.handover import Unreadable
from channels.names import one_line
from channels.slack.parse import CHANNEL, Known, Me, message_id
from channels.slack.text import typed
from gateway.message import Author, IncomingMessage, Route, SessionKey, clean

_OF_NO_THREAD: Final = frozenset({"help", "whoami", "pair"})
"""Commands that mean the same wherever they are given."""


def slash(raw: Mapping[str, object], me: Me, known: Known, now: datetime) -> IncomingMessage | str:
    """`/gateway status` is the command `/status`; an unknown one, or none, is `/help`.

    A command in a channel tells no thread, so what is about a session is not carried out: the text that comes back
    says how to give it in the thread. Raises Unreadable for a payload that is not what Slack's documents say.
    """
    match raw:
        case {"channel_id": str(channel), "user_id": str(user), "trigger_id": str(trigger)} if channel and user:
            pass
        case _:
            raise Unreadable("a slash command without a place")
    text = raw.get("text")
    word, _, rest = typed(text if isinstance(text, str) else "", known.names).strip().partition(" ")
    name = word.lstrip("/!").lower()
    if name not in known.commands:
        name, rest = "help", ""
    private = channel.startswith("D")
    if not (private or name in _OF_NO_THREAD):
        return (
            f"Slack does not tell me which thread you mean. Write `!{name}` as a message in the thread "
            f"that it is about, or `/{name}` after my name there."
        )
    shown = raw.get("user_name")
    return clean(
        IncomingMessage(
            id=message_id(me, channel, trigger),
            session=SessionKey(CHANNEL, me.account, channel),
            route=Route(CHANNEL, me.account, channel),
            author=Author(user, one_line(shown if isinstance(shown, str) else user, user)),
            text=f"/{name} {rest}".strip(),
            sent_at=now,
            received_at=now,
            private=private,
        )
    )
