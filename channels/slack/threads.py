"""Which threads are the bot's: there it answers everybody, without a mention (case C56)."""

from collections.abc import Mapping
from typing import Final

import structlog

from channels.slack.api import Api
from channels.slack.parse import Me, Place, is_from, mentions
from gateway.errors import Refused

log = structlog.get_logger()

_MOST: Final = 5000  # threads; the longest quiet is forgotten first, and asked for again when somebody writes there
_READ: Final = 1000  # messages of a thread that are looked at


class Threads:
    """A thread is the bot's where it was addressed or spoke. Remembered in this process; read back where unknown."""

    def __init__(self, api: Api, me: Me) -> None:
        self._api, self._me = api, me
        self._known: dict[tuple[str, str], bool] = {}  # the longest quiet first

    def learn(self, channel: str, root: str) -> None:
        """The bot takes part there."""
        self._keep((channel, root), ours=True)

    async def ours(self, event: Mapping[str, object], where: Place) -> bool:
        """Whether a message is in a thread of the bot's. Raises Retryable when that must be asked and cannot be."""
        if where.root is None or where.private:
            return False
        thread = where.channel, where.root
        if event.get("parent_user_id") == self._me.user or mentions(event, self._me) or is_from(event, self._me):
            self._keep(thread, ours=True)
        elif (known := self._known.get(thread)) is None:
            self._keep(thread, ours=await self._ask(*thread))
        else:
            self._keep(thread, ours=known)
        return self._known[thread]

    async def _ask(self, channel: str, root: str) -> bool:
        try:
            said, _ = await self._api.pages("conversations.replies", "messages", _READ, channel=channel, ts=root)
        except Refused as never:
            log.warning("slack.thread_not_read", reason=str(never))
            return False
        return any(is_from(one, self._me) or mentions(one, self._me) for one in said)

    def _keep(self, thread: tuple[str, str], *, ours: bool) -> None:
        self._known.pop(thread, None)
        self._known[thread] = ours
        while len(self._known) > _MOST:
            del self._known[next(iter(self._known))]
