"""What commands may ask and do beside the tape of their own session."""

from collections.abc import Sequence

from gateway.message import IncomingMessage, Reply, Route, SessionKey, TurnId
from gateway.session.inbox import Inbox, SessionStatus
from gateway.session.outbox import Outbox
from gateway.tape.entries import Entry
from gateway.tape.name import tape_name
from gateway.tape.query import Query
from gateway.tape.store import TapeStore
from gateway.tape.window import Window
from gateway.turn.access import Access
from gateway.turn.commands.command import Need


class GatewayDesk:
    """Every look-up is limited to the session of the message that asks."""

    def __init__(self, store: TapeStore, workspace: str, inbox: Inbox, outbox: Outbox, access: Access) -> None:
        self._store, self._workspace, self._inbox, self._outbox = store, workspace, inbox, outbox
        self._access = access

    async def entries(self, message: IncomingMessage) -> Sequence[Entry]:
        return await self._store.fetch_all(Query(self._tape(message)))

    async def window(self, message: IncomingMessage) -> Window:
        return await self._store.window(self._tape(message))

    async def status(self, message: IncomingMessage) -> SessionStatus:
        return await self._inbox.status(message.session)

    async def pair(self, message: IncomingMessage, code: str) -> str:
        approvals = self._access.approvals
        if not code:
            asked = [p for p in await approvals.everybody() if p.state == "asked"]
            lines = [f"- `{p.code}` {p.shown} (id {p.id}, {p.channel})" for p in asked]
            return "Nobody asks." if not lines else "Who asks to talk:\n\n" + "\n".join(lines)
        person = await approvals.decide(code, "approved", by=message.author)
        if person is None:
            return f"Nobody asked with the code {code[:20]!r}. /pair alone lists who asks."
        key = SessionKey.parse(person.session)
        await self._outbox.put(
            Reply(
                turn=TurnId(f"{message.id}/welcome"),
                session=key,
                route=Route(key.channel, key.account, key.conversation, key.thread),
                text="You may talk to me now. What can I do for you?",
                on_tape=False,
            )
        )
        return f"{person.shown} may talk to me now."

    def is_admin(self, message: IncomingMessage) -> bool | None:
        return self._access.is_admin(message)

    def may(self, message: IncomingMessage, need: Need) -> bool | None:
        return self._access.may(message, need)

    def _tape(self, message: IncomingMessage) -> str:
        return tape_name(self._workspace, str(message.session))
