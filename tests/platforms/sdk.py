"""The real SDKs, pointed at the fakes, with small words for what the tests ask them often."""

from typing import Any

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.types import Message, Update

from tests.platforms.telegram import FakeTelegram

USER = {"role": "user", "content": "hi"}
TOOLS = [{"type": "function", "function": {"name": "time", "parameters": {"type": "object", "properties": {}}}}]


def call(call_id: str = "c1", arguments: Any = "{}", name: str = "time") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def result(call_id: str = "c1", content: str = "noon") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def connected(tg: FakeTelegram, token: str | None = None) -> Any:
    return Bot(token or tg.token, session=AiohttpSession(api=TelegramAPIServer.from_base(tg.url))).context()


async def received(bot: Bot, offset: int | None = None) -> list[Update]:
    return await bot.get_updates(offset=offset, timeout=0)


async def last_message(bot: Bot) -> Message:
    message = (await received(bot))[-1].message
    assert message is not None
    return message


async def ask(client: Any, *messages: dict[str, Any], **options: Any) -> Any:
    return await client.chat.completions.create(model="fake-model", messages=list(messages) or [USER], **options)


class Heard:
    """What a stream brought until it ended or failed."""

    def __init__(self) -> None:
        self.text = ""
        self.reason: str | None = None
        self.usage: Any = None
        self.calls: dict[int, dict[str, str]] = {}
        self.chunks = 0

    async def listen(self, client: Any, *messages: dict[str, Any], **options: Any) -> "Heard":
        async with await ask(client, *messages, stream=True, **options) as stream:
            async for chunk in stream:
                self.chunks += 1
                self.usage = chunk.usage or self.usage
                for choice in chunk.choices:
                    self.text += choice.delta.content or ""
                    self.reason = choice.finish_reason or self.reason
                    for piece in choice.delta.tool_calls or []:
                        kept = self.calls.setdefault(piece.index, {"id": "", "name": "", "arguments": ""})
                        kept["id"] += piece.id or ""
                        kept["name"] += piece.function.name or ""
                        kept["arguments"] += piece.function.arguments or ""
        return self
