"""What the Bot API's methods do and refuse. Wordings: facts 1.1, 1.2 and the sources named there."""

import json
import re
from collections.abc import Callable
from typing import Any, Final

from tests.platforms.faults import Call, File
from tests.platforms.telegram_chat import Chat, Json
from tests.platforms.telegram_text import (
    CAPTION_LIMIT,
    TEXT_LIMIT,
    Formatted,
    Refusal,
    bad_request,
    detect,
    fix,
    read_entities,
)
from tests.platforms.telegram_world import BotAccount, Draft, Sent, World

COMMAND_NAME: Final = re.compile(r"/?[a-z0-9_]{1,32}")
DOWNLOAD_LIMIT: Final = 20 * 2**20
NOT_MODIFIED: Final = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current content "
    "and reply markup of the message"
)
POLL_CONFLICT: Final = (
    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
)
WEBHOOK_CONFLICT: Final = "Conflict: terminated by setWebhook request"
WEBHOOK_ACTIVE: Final = (
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)


class Methods:
    """Every method but `getUpdates`; each runs without an await, so a call has its effect whole or not at all."""

    def __init__(self, world: World, *, strict_entities: bool = True) -> None:
        self._world = world
        self._strict = strict_entities
        self._known: dict[str, Callable[[BotAccount, Call], Any]] = {
            "getme": self._get_me,
            "sendmessage": self._send_message,
            "sendmessagedraft": self._send_draft,
            "senddocument": self._send_document,
            "editmessagetext": self._edit_text,
            "deletemessage": self._delete_message,
            "sendchataction": self._chat_action,
            "setmycommands": self._set_commands,
            "getmycommands": self._get_commands,
            "deletemycommands": self._delete_commands,
            "getchat": self._get_chat,
            "getchatmember": self._get_member,
            "getchatadministrators": self._get_admins,
            "getfile": self._get_file,
            "setwebhook": self._set_webhook,
            "deletewebhook": self._delete_webhook,
            "getwebhookinfo": self._webhook_info,
        }

    def answer(self, bot: BotAccount, call: Call) -> Any:
        """The `result` of a call; unknown methods answer true."""
        known = self._known.get(call.method.lower())
        return known(bot, call) if known else True

    def _chat(self, bot: BotAccount, call: Call) -> Chat:
        raw = call.form.get("chat_id", "")
        if not raw:
            raise bad_request("chat_id is empty")
        chat_id = int(raw) if re.fullmatch(r"-?\d+", raw) else 0
        if chat := self._world.chat(bot, chat_id):
            return chat
        if chat_id in self._world.people:
            raise Refusal(403, "Forbidden: bot can't initiate conversation with a user")
        raise bad_request("chat not found")

    def _text(self, call: Call, name: str, limit: int, *, may_be_empty: bool = False) -> Formatted:
        text = call.form.get(name, "")
        prefix = "caption_" if name == "caption" else ""
        if not text and not may_be_empty:
            raise bad_request("message text is empty")
        if call.form.get("parse_mode"):
            raise Refusal(501, "The fake parses no markup: send entities")
        entities = read_entities(call.form.get(f"{prefix}entities") or "[]")
        return fix(text, entities, limit=limit, may_be_empty=may_be_empty, strict=self._strict)

    def _reply(self, chat: Chat, call: Call) -> tuple[int | None, str | None]:
        raw = json.loads(call.form.get("reply_parameters") or "{}")
        if "reply_to_message_id" in call.form:
            raw = {"message_id": int(call.form["reply_to_message_id"])} | {
                "allow_sending_without_reply": call.form.get("allow_sending_without_reply", "").lower() == "true"
            }
        target, quote = raw.get("message_id"), raw.get("quote")
        if target is None:
            return None, None
        if target not in chat.messages:
            if raw.get("allow_sending_without_reply"):
                return None, None
            raise bad_request("message to be replied not found")
        original = chat.messages[target]
        if quote is not None and quote not in str(original.get("text") or original.get("caption") or ""):
            raise bad_request("QUOTE_TEXT_INVALID")
        return int(target), quote

    def _post(self, bot: BotAccount, call: Call, said: Formatted, content: Json, document: File | None = None) -> Json:
        chat = self._chat(bot, call)
        chat.check_writable()
        thread = int(call.form.get("message_thread_id") or 0) or None
        chat.check_thread(thread)
        reply_to, quote = self._reply(chat, call)
        message = chat.add(bot.user, content, reply_to=reply_to, topic=thread)
        topic = message["message_thread_id"] if message.get("is_topic_message") else None
        sent = Sent(
            chat_id=chat.id,
            thread_id=topic,
            text=said.text,
            entities=said.entities,
            reply_to=reply_to,
            message_id=message["message_id"],
            at=self._world.clock(),
            bot_id=bot.id,
            quote=quote,
            document=document,
        )
        self._world.store(sent)
        return message

    def _get_me(self, bot: BotAccount, call: Call) -> Json:
        abilities = {"can_join_groups": True, "can_read_all_group_messages": not bot.privacy}
        return bot.user | abilities | {"supports_inline_queries": False}

    def _send_message(self, bot: BotAccount, call: Call) -> Json:
        self._chat(bot, call).check_writable()
        said = self._text(call, "text", TEXT_LIMIT)
        return self._post(bot, call, said, _content("text", said))

    def _send_document(self, bot: BotAccount, call: Call) -> Json:
        self._chat(bot, call).check_writable()
        said = self._text(call, "caption", CAPTION_LIMIT, may_be_empty=True)
        name = call.form.get("document", "").removeprefix("attach://") or "document"
        file = call.files.get(name) or self._world.files.get(name)
        if file is None:
            raise bad_request("there is no document in the request")
        if not file.data:
            raise bad_request("file must be non-empty")
        file_id = self._world.keep_file(file)
        document = {"file_id": file_id, "file_unique_id": f"u{file_id}", "file_size": len(file.data)}
        content = {"document": document | {"file_name": file.name}}
        return self._post(bot, call, said, content | (_content("caption", said) if said.text else {}), file)

    def _send_draft(self, bot: BotAccount, call: Call) -> bool:
        chat = self._chat(bot, call)
        if chat.kind != "private":
            raise bad_request("TEXTDRAFT_PEER_INVALID")
        chat.check_writable()
        thread = int(call.form.get("message_thread_id") or 0) or None
        chat.check_thread(thread)
        said = self._text(call, "text", TEXT_LIMIT, may_be_empty=True)
        self._world.drafts.append(Draft(chat.id, int(call.form["draft_id"]), said.text, thread))
        self._world.bell.ring()
        return True

    def _own_message(self, bot: BotAccount, call: Call, missing: str, foreign: str) -> tuple[Chat, Json]:
        chat = self._chat(bot, call)
        chat.check_writable()
        message = chat.messages.get(int(call.form.get("message_id") or 0))
        if message is None:
            raise bad_request(missing)
        if message["from"]["id"] != bot.id and foreign:
            raise bad_request(foreign)
        return chat, message

    def _edit_text(self, bot: BotAccount, call: Call) -> Json:
        chat, old = self._own_message(bot, call, "message to edit not found", "message can't be edited")
        if "text" not in old:
            raise bad_request("there is no text in the message to edit")
        said = self._text(call, "text", TEXT_LIMIT)
        content = _content("text", said)
        if all(old.get(key) == content.get(key) for key in ("text", "entities")):
            raise bad_request(NOT_MODIFIED)
        kept = {key: value for key, value in old.items() if key not in {"text", "entities"}}
        new = kept | content | {"edit_date": int(self._world.clock())}
        chat.messages[new["message_id"]] = new
        edits = next(s.edits for s in self._world.sent if (s.chat_id, s.message_id) == (chat.id, new["message_id"]))
        self._world.change(chat.id, new["message_id"], text=said.text, entities=said.entities, edits=edits + 1)
        return new

    def _delete_message(self, bot: BotAccount, call: Call) -> bool:
        chat = self._chat(bot, call)
        foreign = "" if chat.kind == "private" or chat.bot_is_admin else "message can't be deleted"
        chat, message = self._own_message(bot, call, "message to delete not found", foreign)
        del chat.messages[message["message_id"]]
        self._world.change(chat.id, message["message_id"], deleted=True)
        return True

    def _chat_action(self, bot: BotAccount, call: Call) -> bool:
        chat = self._chat(bot, call)
        chat.check_writable()
        chat.check_thread(int(call.form.get("message_thread_id") or 0) or None, general=True)
        if not call.form.get("action"):
            raise bad_request("wrong parameter action in request")
        return True

    def _scope(self, bot: BotAccount, call: Call) -> tuple[str, str]:
        scope = json.loads(call.form.get("scope") or '{"type": "default"}')
        if "chat_id" in scope and self._world.chat(bot, int(scope["chat_id"])) is None:
            raise bad_request("chat not found")
        return json.dumps(scope, sort_keys=True), call.form.get("language_code", "")

    def _set_commands(self, bot: BotAccount, call: Call) -> bool:
        commands = json.loads(call.form.get("commands") or "[]")
        if len(commands) > 100:
            raise bad_request("BOT_COMMANDS_TOO_MUCH")
        for command in commands:
            if not COMMAND_NAME.fullmatch(command["command"]):
                raise bad_request("BOT_COMMAND_INVALID")
            if not command["description"].strip():
                raise bad_request("command description must be non-empty")
            if len(command["description"]) > 256:
                raise bad_request("command description length must not exceed 256")
        bot.commands[self._scope(bot, call)] = commands
        self._world.bell.ring()
        return True

    def _get_commands(self, bot: BotAccount, call: Call) -> list[Json]:
        return bot.commands.get(self._scope(bot, call), [])

    def _delete_commands(self, bot: BotAccount, call: Call) -> bool:
        bot.commands.pop(self._scope(bot, call), None)
        return True

    def _get_chat(self, bot: BotAccount, call: Call) -> Json:
        full = {"accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": _NO_GIFTS}
        return self._chat(bot, call).wire | full

    def _get_member(self, bot: BotAccount, call: Call) -> Json:
        chat, user_id = self._chat(bot, call), int(call.form.get("user_id") or 0)
        if user_id == bot.id:
            return chat.member(bot.user)
        person = self._world.people.get(user_id)
        if person is None:
            raise bad_request("PARTICIPANT_ID_INVALID")
        if person not in chat.members and person not in chat.admins:
            return {"status": "left", "user": person.user}
        return chat.member(person.user)

    def _get_admins(self, bot: BotAccount, call: Call) -> list[Json]:
        chat = self._chat(bot, call)
        if chat.kind == "private":
            raise bad_request("there are no administrators in the private chat")
        return [chat.member(person.user) for person in chat.admins]

    def _get_file(self, bot: BotAccount, call: Call) -> Json:
        file_id = call.form.get("file_id", "")
        file = self._world.files.get(file_id)
        if file is None:
            raise bad_request("invalid file_id")
        if len(file.data) > DOWNLOAD_LIMIT:
            raise bad_request("file is too big")
        facts = {"file_id": file_id, "file_unique_id": f"u{file_id}", "file_size": len(file.data)}
        return facts | {"file_path": f"documents/{file_id}"}

    def _set_webhook(self, bot: BotAccount, call: Call) -> bool:
        bot.webhook = call.form.get("url", "")
        if bot.webhook:
            bot.end_poll(WEBHOOK_CONFLICT)
        self._world.bell.ring()
        return True

    def _delete_webhook(self, bot: BotAccount, call: Call) -> bool:
        bot.webhook = ""
        if call.form.get("drop_pending_updates", "").lower() == "true":
            bot.queue.clear()
        return True

    def _webhook_info(self, bot: BotAccount, call: Call) -> Json:
        return {"url": bot.webhook, "has_custom_certificate": False, "pending_update_count": len(bot.queue)}


_NO_GIFTS: Final = {
    f"{kind}": False
    for kind in ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels")
}


def _content(key: str, said: Formatted) -> Json:
    entities = [entity.wire() for entity in detect(said.text, said.entities)]
    name = "entities" if key == "text" else "caption_entities"
    return {key: said.text} | ({name: entities} if entities else {})
