"""Sends one part of a reply, once; where an earlier try may have arrived, it looks there first (DESIGN 9)."""

import asyncio
from datetime import timedelta
from typing import Final

from channels.discord import outgoing
from channels.discord.asked import interaction_of, of_reply_token
from channels.discord.failures import FAILURES, is_no_interaction, of_asking, of_sending
from channels.discord.fields import Payload, rows, words
from channels.discord.interactions import Interactions
from channels.discord.parse import CHANNEL
from channels.discord.rest import Rest
from channels.discord.snowflake import is_id, made_at
from gateway.channel import Ambiguous, Part
from gateway.clock import Clock
from gateway.errors import Refused, Retryable
from gateway.message import MessageId, Reply
from gateway.session.tokens import ReplyTokens

_PAGE: Final = 100
_PAGES: Final = 5
_YOUNG: Final = timedelta(seconds=5)
_SOON: Final = 1.0


class Sender:
    """`deadline`: seconds for all that one part takes."""

    def __init__(
        self, rest: Rest, interactions: Interactions, tokens: ReplyTokens, clock: Clock, deadline: float
    ) -> None:
        self._rest, self._interactions, self._tokens = rest, interactions, tokens
        self._clock, self._deadline = clock, deadline

    async def send(self, reply: Reply, part: Part, index: int, *, repeated: bool) -> str:
        """The id of the message that holds the part. See Channel.send."""
        try:
            async with asyncio.timeout(self._deadline):
                sent = await self._send(reply, part, index, repeated=repeated)
        except FAILURES as error:
            verdict = of_sending(error)
            if repeated and isinstance(verdict, Ambiguous):  # the next try looks for it again: nothing stays unknown
                raise Retryable(str(verdict)) from error
            raise verdict from error
        if sent is None:
            raise Ambiguous("Discord took the message and did not say which it is")
        return sent

    async def _send(self, reply: Reply, part: Part, index: int, *, repeated: bool) -> str | None:
        channel = outgoing.channel_of(reply.route)
        interaction = interaction_of(reply.answers)
        if index == 0 and interaction is not None and (sent := await self._edit(reply, interaction, part)) is not None:
            return sent
        if repeated and (sent := await self._find(channel, reply, part, index)) is not None:
            return sent
        request = outgoing.message(reply, part, index)
        return outgoing.receipt(await self._rest.ask("POST", f"/channels/{channel}/messages", request))

    async def _edit(self, reply: Reply, interaction: str, part: Part) -> str | None:
        """Puts the part in the place of "is thinking"; twice is as once. None where that is not, or no more, there."""
        await self._interactions.until_answered(interaction)
        kept = await self._tokens.find(MessageId(f"{CHANNEL}/{reply.route.account}/{interaction}"))
        if kept is None:
            return None
        application, token = of_reply_token(kept)
        path = f"/webhooks/{application}/{token}/messages/@original"
        try:
            return outgoing.receipt(await self._rest.ask("PATCH", path, outgoing.edit(part), signed=False))
        except FAILURES as error:
            if not is_no_interaction(error):
                raise
            # Another process took it in and may be about to answer Discord: "is thinking" would stand there for ever.
            if is_id(interaction) and self._clock.now() - made_at(interaction) < _YOUNG:
                raise Retryable("the command is not answered yet", after=_SOON) from error
            return None

    async def _find(self, channel: str, reply: Reply, part: Part, index: int) -> str | None:
        """The message that an earlier try left there, if it did: it is newer than what it answers."""
        asked, wanted, before = outgoing.question(reply), outgoing.nonce(reply, part, index), None
        for _ in range(_PAGES):
            page = await self._page(channel, before)
            news = [raw for raw in page if is_id(words(raw, "id")) and int(words(raw, "id")) > asked]
            for raw in news:
                if outgoing.is_copy(raw, reply.route.account, part, wanted):
                    return words(raw, "id")
            if len(news) < _PAGE:
                return None
            before = words(news[-1], "id")
        return None

    async def _page(self, channel: str, before: str | None) -> list[Payload]:
        query = {"limit": str(_PAGE)} | ({} if before is None else {"before": before})
        try:
            return list(rows({"all": await self._rest.ask("GET", f"/channels/{channel}/messages", query=query)}, "all"))
        except FAILURES as error:
            match of_asking(error):
                case Retryable() as later:
                    raise later from error
                case Refused():  # it may write there and not read: its nonce tells Discord, for some minutes
                    return []
