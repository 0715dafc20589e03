"""What the Web API's methods do and refuse, in Slack's words (facts 3.1-3.4)."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.platforms.faults import Call
from tests.platforms.slack_channel import Channel
from tests.platforms.slack_history import History, has, page
from tests.platforms.slack_people import APP_ID, BOT_ID, BOT_NAME, BOT_USER
from tests.platforms.slack_text import MARKDOWN_LIMIT, SPLIT_ABOVE, Refusal, fully_parsed, pieces, read_blocks
from tests.platforms.slack_world import Sent, Status, World

Json = dict[str, Any]

QUIET: Final = frozenset(
    {"api.test", "conversations.mark", "pins.add", "pins.remove", "reactions.add", "reactions.remove", "views.publish"}
    | {"assistant.threads.setSuggestedPrompts", "assistant.threads.setTitle", "chat.postEphemeral"}
)
SCOPES: Final = (
    *("app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write", "commands"),
    *("files:read", "groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history"),
    *("mpim:read", "mpim:write", "reactions:write", "users:read"),
)
NEEDS: Final = {
    "assistant.threads.setStatus": "chat:write",
    "chat.delete": "chat:write",
    "chat.postMessage": "chat:write",
    "chat.update": "chat:write",
    "conversations.open": "im:write",
    "users.info": "users:read",
}
HISTORY_OF: Final = {"channel": "channels:history", "group": "groups:history", "im": "im:history"}
TYPES: Final = {"channel": "public_channel", "group": "private_channel"}


@dataclass(frozen=True, slots=True)
class Content:
    """What a message of the bot is made of."""

    text: str
    blocks: tuple[Json, ...]
    metadata: Json | None


class Methods:
    """Every method but apps.connections.open; each runs without an await, so a call has its effect whole or not."""

    def __init__(self, world: World, scopes: Iterable[str] = SCOPES) -> None:
        self._world = world
        self.scopes = list(scopes)
        self._known: dict[str, Callable[[Mapping[str, str]], Json]] = {
            "auth.test": self._auth_test,
            "chat.postMessage": self._post,
            "chat.update": self._update,
            "chat.delete": self._delete,
            "conversations.history": self._history,
            "conversations.replies": self._replies,
            "conversations.info": self._info,
            "conversations.members": self._members,
            "conversations.open": self._open,
            "conversations.join": self._join,
            "users.conversations": self._conversations,
            "users.info": self._user,
            "assistant.threads.setStatus": self._set_status,
        }

    def answer(self, call: Call) -> Json:
        """What a method answers beside `ok`."""
        if call.method in QUIET:
            return {}
        if call.method not in self._known:
            raise Refusal("unknown_method", more={"req_method": call.method})
        self._check_scope(NEEDS.get(call.method, ""))
        return self._known[call.method](call.form)

    def _check_scope(self, needed: str) -> None:
        if needed and needed not in self.scopes:
            raise Refusal("missing_scope", more={"needed": needed, "provided": ",".join(self.scopes)})

    def _channel(self, form: Mapping[str, str], name: str = "channel") -> Channel:
        """A conversation that the bot may know of: a private one it is not in does not exist for it."""
        found = self._world.channels.get(form.get(name, ""))
        if found is None or (found.kind != "channel" and not found.bot_is_member):
            raise Refusal("channel_not_found")
        return found

    def _readable(self, form: Mapping[str, str]) -> Channel:
        channel = self._channel(form)
        self._check_scope(HISTORY_OF.get(channel.kind, f"{channel.kind}:history"))
        if not channel.bot_is_member:
            raise Refusal("not_in_channel")
        return channel

    def _writable(self, form: Mapping[str, str]) -> Channel:
        if form.get("channel") in self._world.people:
            form = {"channel": self._world.im(self._world.people[form["channel"]]).id}
        channel = self._channel(form)
        if not channel.bot_is_member:
            raise Refusal("not_in_channel")
        if channel.is_archived:
            raise Refusal("is_archived")
        return channel

    def _content(self, form: Mapping[str, str], metadata: Json | None = None) -> Content:
        text, markdown = form.get("text", ""), form.get("markdown_text", "")
        blocks = read_blocks(form.get("blocks", ""))
        if markdown and (text or blocks):
            raise Refusal("markdown_text_conflict")
        if len(markdown) > MARKDOWN_LIMIT:
            raise Refusal("msg_too_long")
        if markdown:
            blocks = ({"type": "markdown", "text": markdown},)
        if not text.strip() and not blocks and not form.get("attachments"):
            raise Refusal("no_text")
        if form.get("parse") == "full" or has(form, "link_names"):
            text = fully_parsed(text, {person.name.lower(): person.id for person in self._world.people.values()})
        return Content(text or markdown, blocks, _metadata(form, metadata))

    def _auth_test(self, form: Mapping[str, str]) -> Json:
        names = {"url": "https://workspace.slack.com/", "team": "Workspace", "user": BOT_NAME}
        ids = {"team_id": self._world.team, "user_id": BOT_USER, "bot_id": BOT_ID, "app_id": APP_ID}
        return names | ids | {"is_enterprise_install": False}

    def _post(self, form: Mapping[str, str]) -> Json:
        """Too long a text without blocks becomes several messages; the answer names the first alone."""
        channel = self._writable(form)
        content = self._content(form)
        thread = form.get("thread_ts") or None
        if thread:
            _check_root(channel, thread)
        texts = pieces(content.text) if not content.blocks else [content.text]
        stored = [self._store(channel, content, text, thread, has(form, "reply_broadcast")) for text in texts or [""]]
        return {"channel": channel.id, "ts": stored[0]["ts"], "message": stored[0]}

    def _store(self, channel: Channel, content: Content, text: str, thread: str | None, broadcast: bool) -> Json:
        fields: Json = {"text": text} | ({"blocks": list(content.blocks)} if content.blocks else {})
        fields |= {"metadata": content.metadata} if content.metadata else {}
        message = channel.posts(fields, thread_ts=thread, broadcast=broadcast)
        at, ts = self._world.clock(), message["ts"]
        parts = (channel.id, thread, text, content.blocks, content.metadata)
        self._world.store(Sent(*parts, ts=ts, at=at, broadcast=broadcast))
        return message

    def _own(self, form: Mapping[str, str], refused: str) -> tuple[Channel, Json]:
        channel = self._writable(form)
        message = channel.messages.get(form.get("ts", ""))
        if message is None:
            raise Refusal("message_not_found")
        if message.get("bot_id") != BOT_ID:
            raise Refusal(refused)
        return channel, message

    def _update(self, form: Mapping[str, str]) -> Json:
        """Blocks that are not sent again are gone; metadata stays."""
        channel, old = self._own(form, "cant_update_message")
        content = self._content(form, old.get("metadata"))
        if len(content.text) > SPLIT_ABOVE:
            raise Refusal("msg_too_long")
        ts = old["ts"]
        blocks = list(content.blocks) or None
        changes = {"text": content.text, "blocks": blocks, "metadata": content.metadata}
        channel.changed(ts, changes, BOT_USER)
        edits = next(sent.edits for sent in self._world.sent if (sent.channel, sent.ts) == (channel.id, ts))
        kept = {"text": content.text, "blocks": content.blocks, "metadata": content.metadata}
        self._world.change(channel.id, ts, edits=edits + 1, **kept)
        return {"channel": channel.id, "ts": ts, "text": content.text, "message": channel.messages[ts]}

    def _delete(self, form: Mapping[str, str]) -> Json:
        channel, message = self._own(form, "cant_delete_message")
        channel.deletes(message)
        self._world.change(channel.id, message["ts"], deleted=True)
        return {"channel": channel.id, "ts": message["ts"]}

    def _history(self, form: Mapping[str, str]) -> Json:
        return History(self._readable(form), form).roots()

    def _replies(self, form: Mapping[str, str]) -> Json:
        return History(self._readable(form), form).thread()

    def _info(self, form: Mapping[str, str]) -> Json:
        return {"channel": self._described(self._channel(form))}

    def _members(self, form: Mapping[str, str]) -> Json:
        channel = self._channel(form)
        ids = [person.id for person in channel.members] + ([BOT_USER] if channel.bot_is_member else [])
        shown, cursor = page(ids, form, "user", 100)
        return {"members": shown, "response_metadata": {"next_cursor": cursor}}

    def _described(self, channel: Channel) -> Json:
        """A conversation as conversations.info shows it."""
        facts: Json = {"id": channel.id, "created": 1700000000, "is_archived": channel.is_archived}
        kinds = {"im": "is_im", "channel": "is_channel", "group": "is_group", "mpim": "is_mpim"}
        facts |= {name: kind == channel.kind for kind, name in kinds.items()}
        facts |= {"context_team_id": self._world.team, "is_private": channel.kind != "channel"}
        if channel.kind == "im":
            return facts | {"user": channel.members[0].id}
        topic = {"value": channel.topic, "creator": "", "last_set": 0}
        return facts | {"name": channel.name, "is_member": channel.bot_is_member, "topic": topic}

    def _open(self, form: Mapping[str, str]) -> Json:
        if form.get("channel"):
            return {"channel": {"id": self._channel(form).id}}
        users = [user for user in form.get("users", "").split(",") if user]
        if not users:
            raise Refusal("users_list_not_supplied")
        if missing := [user for user in users if user not in self._world.people]:
            raise Refusal("user_not_found", (f"unknown: {missing}",))
        members = [self._world.people[user] for user in users]
        if len(members) == 1:
            return {"channel": {"id": self._world.im(members[0]).id}}
        room_id = "G" + "".join(sorted(user[1:] for user in users))
        return {"channel": {"id": self._world.room(room_id, "mpim", "mpdm", members).id}}

    def _join(self, form: Mapping[str, str]) -> Json:
        channel = self._channel(form)
        channel.bot_is_member = True
        return {"channel": self._described(channel)}

    def _conversations(self, form: Mapping[str, str]) -> Json:
        """Where the bot is a member; public channels alone, unless other `types` are asked for."""
        types = form.get("types", "public_channel").split(",")
        rooms = [room for room in self._world.channels.values() if room.bot_is_member]
        rooms = [room for room in rooms if TYPES.get(room.kind, room.kind) in types]
        rooms = [room for room in rooms if not (room.is_archived and has(form, "exclude_archived"))]
        shown, cursor = page([self._described(room) for room in rooms], form, "channel", 100)
        return {"channels": shown, "response_metadata": {"next_cursor": cursor}}

    def _user(self, form: Mapping[str, str]) -> Json:
        person = self._world.people.get(form.get("user", ""))
        if person is None:
            raise Refusal("user_not_found")
        return {"user": person.user(self._world.team)}

    def _set_status(self, form: Mapping[str, str]) -> Json:
        thread = form.get("thread_ts", "")
        if not thread or "status" not in form:
            raise Refusal("invalid_arguments", ("[ERROR] missing required field: thread_ts",))
        channel = self._writable({"channel": form.get("channel_id", "")})
        lines = tuple(json.loads(form.get("loading_messages", "[]")))
        if len(lines) > 10:
            raise Refusal("invalid_arguments", ("[ERROR] no more than 10 items allowed",))
        if thread not in channel.messages:
            raise Refusal("invalid_thread_ts")
        self._world.statuses.append(Status(channel.id, thread, form["status"], lines, self._world.clock()))
        self._world.bell.ring()
        return {}


def _check_root(channel: Channel, thread: str) -> None:
    """A thread hangs on a root: an answer to an answer's `ts` would hang in the air (facts 3.3)."""
    root = channel.messages.get(thread)
    if root is None or root.get("thread_ts", thread) != thread:
        raise Refusal("thread_not_found")


def _metadata(form: Mapping[str, str], kept: Json | None) -> Json | None:
    if "metadata" not in form:
        return kept
    try:
        metadata = json.loads(form["metadata"])
    except ValueError:
        raise Refusal("invalid_metadata_format") from None
    if metadata == {}:
        return None
    if not isinstance(metadata, dict) or not {"event_type", "event_payload"} <= set(metadata):
        raise Refusal("invalid_metadata_format")
    return metadata
