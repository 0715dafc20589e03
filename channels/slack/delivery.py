"""Sends the parts of replies, and finds out whether one arrived whose send was not answered (facts 3.6)."""

from typing import Final

import structlog

from channels.slack import outgoing
from channels.slack.api import Answer, Api
from channels.slack.failures import BadBlocks
from gateway.channel import Ambiguous, Part
from gateway.errors import Refused
from gateway.message import Reply

log = structlog.get_logger()

_READ: Final = 1000  # messages that are looked through for a part


class Delivery:
    """One request a part; a second one only where Slack said no to the first."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def send(self, reply: Reply, part: Part, *, index: int, repeated: bool) -> str:
        """As a Channel's `send`. A part that is there already is not sent again; where the app may not read back, the
        copy says that it may be one.
        """
        marked = False
        if repeated:
            try:
                if (ts := outgoing.found(await self._since(reply), reply, index)) is not None:
                    return ts
            except Refused as never:
                log.warning("slack.not_read_back", turn=reply.turn, part=index, reason=str(never))
                marked = True
        answer = await self._post(outgoing.message(reply, part, index=index, marked=marked))
        ts = outgoing.receipt(answer)
        if ts is None:
            raise Ambiguous("Slack took the message and did not say which it is")
        return ts

    async def _post(self, body: outgoing.Body) -> Answer:
        try:
            return await self._api.send("chat.postMessage", body)
        except BadBlocks as refused:
            log.warning("slack.sent_simpler", reason=str(refused))
            return await self._api.send("chat.postMessage", outgoing.simpler(body))

    async def _since(self, reply: Reply) -> list[Answer]:
        """What was said in the place of a reply since its question, with the names of parts."""
        place: dict[str, str | bool] = {"channel": reply.route.conversation, "include_all_metadata": True}
        if reply.answers:
            place["oldest"] = reply.answers
        if reply.route.thread:
            said, _ = await self._api.pages("conversations.replies", "messages", _READ, ts=reply.route.thread, **place)
        else:
            said, _ = await self._api.pages("conversations.history", "messages", _READ, **place)
        return said
