"""What was accepted and is not yet on the tape, as far as this process knows."""

from collections.abc import Iterable, Iterator

from gateway.message import IncomingMessage, MessageId, TurnId


class Waiting:
    """Only for showing: what is accepted is safe in the inbox. After a restart the pages post theirs again."""

    def __init__(self) -> None:
        self._messages: dict[MessageId, IncomingMessage] = {}

    def __contains__(self, message: MessageId) -> bool:
        return message in self._messages

    def add(self, message: IncomingMessage) -> None:
        """Remembers an accepted message, once."""
        self._messages.setdefault(message.id, message)

    def drop(self, ids: Iterable[MessageId]) -> None:
        """Forgets messages; unknown ones are no matter."""
        for id_ in ids:
            self._messages.pop(id_, None)

    def answered(self, turn: TurnId) -> None:
        """A reply to the message came, or one about it (`<message id>/full`)."""
        self.drop([known for known in self._messages if f"{turn}/".startswith(f"{known}/")])

    def of(self, chat: str) -> Iterator[IncomingMessage]:
        """In the order in which they came."""
        return (message for message in self._messages.values() if message.session.conversation == chat)
