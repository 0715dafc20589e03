"""The conversations of the fake Slack, and the events by which Slack tells a bot about them (facts 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tests.platforms.slack_people import APP_ID, BOT_ID, BOT_NAME, BOT_USER
from tests.platforms.slack_said import Command, Said, thread_root, timestamp

if TYPE_CHECKING:
    from tests.platforms.faults import File
    from tests.platforms.slack_delivery import Delivery
    from tests.platforms.slack_people import Person
    from tests.platforms.slack_world import World

Json = dict[str, Any]

MENTION: Final = f"<@{BOT_USER}>"
NOT_IN_THREADS: Final = "{} is not supported in threads. Sorry!"
COMMAND_NAMES: Final = {"im": "directmessage", "group": "privategroup", "mpim": "mpdm"}


@dataclass(slots=True, eq=False)
class Channel:
    """One conversation: `kind` is im, channel, group or mpim. A `ts` is unique and grows in its conversation only."""

    world: World
    id: str
    kind: str
    name: str
    members: list[Person]
    bot_is_member: bool = True
    is_archived: bool = False
    topic: str = ""
    messages: dict[str, Json] = field(default_factory=dict)
    last_ts: int = 0

    def says(
        self,
        person: Person,
        text: str = "",
        *,
        mention: bool = False,
        thread: Said | Json | str | None = None,
        subtype: str | None = None,
        files: Iterable[File] = (),
        broadcast: bool = False,
        raw: Mapping[str, Any] | None = None,
        sends: bool = True,
    ) -> Said:
        """A person's message and its events. `text` is as it goes over the wire (`&amp;`, `<@U1>`); `raw` goes into
        the message as it is; where `sends` is false the first delivery of each event is lost."""
        text = f"{MENTION} {text}" if mention else text
        message: Json = {"user": person.id, "text": text}
        if person.is_bot:
            message |= {"bot_id": f"B{person.id[1:]}", "app_id": f"A{person.id[1:]}"}
        else:
            message |= {"client_msg_id": f"client-{self.id}-{len(self.messages) + 1}"}
        if subtype == "bot_message":
            message = {"bot_id": f"B{person.id[1:]}", "username": person.name, "text": text}
        if kept := [self._file(file, person) for file in files]:
            message |= {"files": kept, "upload": False}
            subtype = subtype or "file_share"
        elif text:
            message |= {"blocks": [_rich(text, f"b{len(self.messages) + 1}")]}
        if subtype:
            message["subtype"] = subtype
        root = thread_root(thread)
        stored = self.add(message | dict(raw or {}), thread_ts=root, broadcast=broadcast)
        return self.announce(stored, sends=sends)

    def announce(self, message: Json, *, sends: bool = True) -> Said:
        """The events of a new message: `message` to a member, `app_mention` too where the bot is mentioned."""
        events: list[Json] = []
        if self.bot_is_member:
            events.append(self.event(message))
        if self.bot_is_member and message.get("subtype") == "thread_broadcast":
            copy = {key: value for key, value in self.event(message).items() if key not in {"subtype", "root"}}
            events.append(copy)
        if self.kind != "im" and MENTION in str(message.get("text")) and message.get("user") != BOT_USER:
            mention: Json = {key: message[key] for key in _MENTION_FIELDS if key in message}
            mention |= {"type": "app_mention", "channel": self.id, "event_ts": message["ts"]}
            events.insert(0 if self.world.mention_first else len(events), mention)
        deliveries = tuple(self.world.tell(event, sends=sends) for event in events)
        return Said(self, message["ts"], message, deliveries)

    def event(self, message: Json) -> Json:
        """A message as its event shows it."""
        hidden = {"reply_count", "reply_users", "reply_users_count", "latest_reply", "metadata"}
        shown = {key: value for key, value in message.items() if key not in hidden}
        return shown | {"channel": self.id, "channel_type": self.kind, "event_ts": message["ts"]}

    def edits(self, person: Person, said: Said | Json | str, text: str, *, sends: bool = True) -> Said:
        """A person changes an own message: message_changed, under a `ts` of its own."""
        changes = {"text": text, "blocks": [_rich(text, "edited")]}
        return self.changed(timestamp(said), changes, person.id, sends=sends)

    def changed(self, ts: str, changes: Mapping[str, Any], by: str, *, sends: bool = True) -> Said:
        old = self.messages[ts]
        edited = {"edited": {"user": by, "ts": self.next_ts()}}
        new = {key: value for key, value in {**old, **changes, **edited}.items() if value is not None}
        self.messages[ts] = new
        return self._happened(
            "message_changed", {"message": self._inner(new), "previous_message": self._inner(old)}, sends
        )

    def deletes(self, said: Said | Json | str, *, sends: bool = True) -> Said:
        """A message disappears: message_deleted. A root with replies leaves a tombstone."""
        ts = timestamp(said)
        old = self.messages.pop(ts)
        if any(message.get("thread_ts") == ts for message in self.messages.values()):
            stone = {"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "hidden": True}
            self.messages[ts] = {**stone, "text": "This message was deleted.", "ts": ts, "thread_ts": ts}
        return self._happened("message_deleted", {"deleted_ts": ts, "previous_message": self._inner(old)}, sends)

    def joins(self, person: Person) -> Said:
        """A person comes in: the channel_join message, and member_joined_channel."""
        self.members.append(person)
        said = self.says(person, f"<@{person.id}> has joined the channel", subtype="channel_join")
        return Said(self, said.ts, said.message, (*said.deliveries, self._joined(person.id)))

    def leaves(self, person: Person) -> Said:
        self.members.remove(person)
        return self.says(person, f"<@{person.id}> has left the channel", subtype="channel_leave")

    def sets_topic(self, person: Person, topic: str) -> Said:
        self.topic = topic
        told = f"<@{person.id}> set the channel topic: {topic}"
        return self.says(person, told, subtype="channel_topic", raw={"topic": topic})

    def invites_bot(self) -> None:
        self.bot_is_member = True
        self.world.tell(
            {"type": "member_joined_channel", "user": BOT_USER, "channel": self.id, "team": self.world.team}
        )

    def removes_bot(self) -> None:
        """The bot is thrown out: it hears no messages, and writing is refused."""
        self.bot_is_member = False
        self.world.tell({"type": "channel_left", "channel": self.id, "event_ts": self.next_ts()})

    def archives(self) -> None:
        self.is_archived = True
        self.world.tell({"type": "channel_archive", "channel": self.id, "event_ts": self.next_ts()})

    def commands(self, person: Person, command: str, text: str = "", *, thread: Said | str | None = None) -> Command:
        """A slash command. In a thread Slack refuses it to the person's face, and the bot hears nothing (facts 3.4)."""
        made = Command(self, person, command, text, self.world.clock())
        if thread is not None:
            made.refused = NOT_IN_THREADS.format(command)
            return made
        return self.world.deliveries.command(made)

    def command_payload(self, command: Command, trigger: str) -> Json:
        """What the bot is sent of a command: no `thread_ts`, and nothing of where in the channel it was typed."""
        return {
            "token": "verification-token",
            "team_id": self.world.team,
            "team_domain": "workspace",
            "channel_id": self.id,
            "channel_name": COMMAND_NAMES.get(self.kind, self.name),
            "user_id": command.person.id,
            "user_name": command.person.name.lower(),
            "command": command.command,
            "text": command.text,
            "api_app_id": APP_ID,
            "is_enterprise_install": "false",
            "response_url": command.response_url,
            "trigger_id": trigger,
        }

    def posts(self, content: Json, *, thread_ts: str | None = None, broadcast: bool = False) -> Json:
        """Store a message of the bot, and tell the bot of it as Slack does."""
        profile = {"id": BOT_ID, "app_id": APP_ID, "name": BOT_NAME, "team_id": self.world.team, "deleted": False}
        sender = {"user": BOT_USER, "bot_id": BOT_ID, "app_id": APP_ID, "bot_profile": profile}
        message = self.add(sender | content, thread_ts=thread_ts, broadcast=broadcast)
        if self.world.echoes:
            self.announce(message)
        return message

    def add(self, content: Json, *, thread_ts: str | None = None, broadcast: bool = False) -> Json:
        """Store a message under the next `ts`; a reply counts at its root."""
        ts = self.next_ts()
        message: Json = {"type": "message", "ts": ts, "team": self.world.team, **content}
        if thread_ts:
            root = self.messages[thread_ts]
            author = root.get("user", root.get("bot_id"))
            message |= {"thread_ts": thread_ts, "parent_user_id": author}
            if broadcast:
                message |= {"subtype": "thread_broadcast", "root": self._inner(root)}
            users = list(dict.fromkeys([*root.get("reply_users", []), message.get("user", "")]))
            root |= {"thread_ts": thread_ts, "reply_count": root.get("reply_count", 0) + 1, "latest_reply": ts}
            root |= {"reply_users": users, "reply_users_count": len(users)}
        self.messages[message["ts"]] = message
        self.world.bell.ring()
        return message

    def next_ts(self) -> str:
        self.last_ts = max(int(self.world.clock() * 1_000_000), self.last_ts + 100)
        return f"{self.last_ts // 1_000_000}.{self.last_ts % 1_000_000:06d}"

    def _joined(self, user: str) -> Delivery:
        kind = "C" if self.kind == "channel" else "G"
        event = {"type": "member_joined_channel", "user": user, "channel": self.id, "channel_type": kind}
        return self.world.tell(event | {"team": self.world.team, "event_ts": self.next_ts()})

    def _happened(self, subtype: str, content: Json, sends: bool) -> Said:
        ts = self.next_ts()
        event: Json = {"type": "message", "subtype": subtype, "hidden": True, "ts": ts, **content}
        own = BOT_USER in {event.get(key, {}).get("user") for key in ("message", "previous_message")}
        told = self.bot_is_member and (self.world.echoes or not own)
        self.world.bell.ring()
        return Said(self, ts, event, (self.world.tell(self.event(event), sends=sends),) if told else ())

    def _inner(self, message: Json) -> Json:
        return {key: value for key, value in message.items() if key != "root"}

    def _file(self, file: File, person: Person) -> Json:
        file_id = self.world.keep_file(file)
        address = f"{self.world.origin()}/files/{file_id}/{file.name}"
        ending = file.name.rpartition(".")[2]
        voice = {"subtype": "slack_audio"} if file.name.startswith("audio_message") else {}
        return voice | {
            "id": file_id,
            "name": file.name,
            "title": file.name,
            "mimetype": _MIME.get(ending, "application/octet-stream"),
            "filetype": ending,
            "user": person.id,
            "size": len(file.data),
            "mode": "hosted",
            "is_external": False,
            "url_private": address,
            "url_private_download": address,
        }


_MENTION_FIELDS: Final = (
    *("user", "text", "ts", "team", "client_msg_id", "blocks", "thread_ts", "parent_user_id", "bot_id", "app_id"),
)
_MIME: Final = {
    "txt": "text/plain",
    "png": "image/png",
    "jpg": "image/jpeg",
    "m4a": "audio/mp4",
    "pdf": "application/pdf",
}


def _rich(text: str, block_id: str) -> Json:
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    return {"type": "rich_text", "block_id": block_id, "elements": [section]}
