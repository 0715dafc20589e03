"""The port of reply tokens: what a platform wants to see in the answer to an interaction, for some minutes."""

from typing import Protocol

from gateway.message import MessageId


class ReplyTokens(Protocol):
    """Kept beside the queues and off the tapes: a token lets its bearer speak in the bot's name.

    All processes of a gateway see the same. Both methods raise Retryable when the server cannot be asked.
    """

    async def keep(self, message: MessageId, token: str, seconds: int) -> None:
        """Keeps the token of a message so long."""
        ...

    async def find(self, message: MessageId) -> str | None:
        """The token, unless its time is over."""
        ...
