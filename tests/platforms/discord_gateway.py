"""The gateway socket: HELLO, IDENTIFY, RESUME, heartbeats, and everything that cuts it (facts 2.5, 4)."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import WSMsgType, web

from tests.platforms.discord_sessions import CONTENT, EVERY_INTENT, PRIVILEGED, Session
from tests.platforms.discord_world import BotAccount, World

Json = dict[str, Any]

NAMES: Final = {
    1: "heartbeat",
    2: "identify",
    3: "presence",
    6: "resume",
    7: "reconnect",
    8: "request_members",
    9: "invalid_session",
    10: "hello",
    11: "heartbeat_ack",
}
"""What tests call the frames that are no events."""

ALIASES: Final = {"message": "message_create", "interaction": "interaction_create"}


@dataclass(frozen=True, slots=True)
class Identify:
    """One IDENTIFY that arrived, accepted or not."""

    token: str
    intents: int
    shard: tuple[int, int] | None
    at: float


@dataclass(frozen=True, slots=True)
class Resume:
    """One RESUME that arrived; `taken` is False where op 9 was the answer."""

    session_id: str | None
    seq: int | None
    taken: bool
    at: float


@dataclass(frozen=True, slots=True)
class Closed:
    """The end of a socket: who closed it first, and with which code (1006: no word)."""

    code: int
    by_client: bool
    session_id: str | None


@dataclass(slots=True, eq=False)
class Cut:
    """The socket ends at the `left`-th frame of a name from now: before it counts, or (`after`) right after it."""

    frame: str
    left: int
    code: int | None
    after: bool
    hits: int = 0

    def cancel(self) -> None:
        self.left = 0


@dataclass(slots=True, eq=False)
class Socket:
    """One connection. What is pushed goes out in order; a number is the code to close with, None cuts the TCP."""

    ws: web.WebSocketResponse
    request: web.Request
    session: Session | None = None
    muted: bool = False
    ended_here: int | None = None
    outbox: "asyncio.Queue[Json | int | None]" = field(default_factory=asyncio.Queue)

    def push(self, frame: Json) -> None:
        self.outbox.put_nowait(frame)

    async def end(self, code: int | None) -> None:
        self.ended_here = code or 1006
        if code is not None:
            await self.ws.close(code=code)
        elif self.request.transport is not None:
            self.request.transport.abort()


class Gateway:
    """All sockets of the fake. Sessions outlive them in the world, for `session_life` seconds of its clock."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.heartbeat_interval = 41.25
        self.session_life = 180.0
        self.sockets: list[Socket] = []
        self.cuts: list[Cut] = []
        self.identifies: list[Identify] = []
        self.resumes: list[Resume] = []
        self.closes: list[Closed] = []

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """One connection from HELLO to its end."""
        ws = web.WebSocketResponse(timeout=1)
        await ws.prepare(request)
        socket = Socket(ws, request)
        self.sockets.append(socket)
        self.world.bell.ring()
        socket.push({"op": 10, "d": {"heartbeat_interval": int(self.heartbeat_interval * 1000)}})
        writer = asyncio.ensure_future(self._write(socket))
        try:
            async for message in ws:
                if message.type is WSMsgType.TEXT and not await self._hear(socket, message.data):
                    break
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
            self._ended(socket)
        return ws

    def drop(self, socket: Socket, code: int | None) -> None:
        """End a connection after all that was pushed; what is told from now on waits for a RESUME."""
        self._leave(socket)
        if code is None and socket.request.transport is not None:
            socket.ended_here = 1006
            socket.request.transport.abort()
        else:
            socket.outbox.put_nowait(code)

    def cut(self, name: str, *, after: bool) -> Cut | None:
        """The cut that this frame meets, if any."""
        for cut in self.cuts:
            if cut.left > 0 and cut.frame == name and cut.after == after:
                cut.left -= 1
                if cut.left == 0:
                    cut.hits += 1
                    return cut
        return None

    async def _write(self, socket: Socket) -> None:
        while not socket.ws.closed:
            frame = await socket.outbox.get()
            if frame is None or isinstance(frame, int):
                await socket.end(frame)
                return
            name = (frame.get("t") or NAMES[frame["op"]]).lower()
            if not socket.muted and not await self._cuts(socket, name, after=False):
                try:
                    await socket.ws.send_str(json.dumps(frame))
                except ConnectionError:
                    return
                await self._cuts(socket, name, after=True)

    async def _cuts(self, socket: Socket, name: str, *, after: bool) -> bool:
        """Whether a cut met this frame; the connection is gone then."""
        cut = self.cut(name, after=after)
        if cut is not None:
            self._leave(socket)
            await socket.end(cut.code)
        return cut is not None

    async def _hear(self, socket: Socket, text: str) -> bool:
        """Act on a frame of the client; whether the connection goes on."""
        if socket.muted:
            return True
        try:
            frame = json.loads(text)
            name = NAMES[frame["op"]]
        except (ValueError, KeyError):
            await socket.end(4002)
            return False
        if await self._cuts(socket, name, after=False):
            return False
        code = None
        match name:
            case "heartbeat":
                socket.push({"op": 11, "d": None})
            case "identify":
                code = self._identify(socket, frame["d"])
            case "resume":
                code = self._resume(socket, frame["d"])
            case _ if socket.session is None:
                code = 4003
        self.world.bell.ring()
        if code is not None:
            await socket.end(code)
            return False
        return not await self._cuts(socket, name, after=True)

    def _identify(self, socket: Socket, data: Json) -> int | None:
        """Begin a session and tell it what there is; or the code to close with."""
        intents, shard = int(data.get("intents", 0)), tuple(data.get("shard") or ()) or None
        self.identifies.append(Identify(data["token"], intents, shard, self.world.clock()))
        bot = self.world.bots.get(data["token"])
        if socket.session is not None:
            return 4005
        if bot is None:
            return 4004
        if intents & ~EVERY_INTENT:
            return 4013
        if intents & PRIVILEGED & ~(CONTENT if bot.message_content else 0):
            return 4014
        session = socket.session = Session(f"session{len(self.world.sessions) + 1}", bot, intents, shard, socket)
        self.world.sessions.append(session)
        self._ready(session, bot)
        return None

    def _ready(self, session: Session, bot: BotAccount) -> None:
        guilds = [guild for guild in self.world.guilds.values() if session.serves(guild.id)]
        ready: Json = {"v": 10, "user": bot.user, "session_id": session.id, "session_type": "normal"}
        ready |= {"resume_gateway_url": f"{self.world.origin.replace('http', 'ws', 1)}/gateway/"}
        ready |= {"guilds": [{"id": guild.id, "unavailable": True} for guild in guilds]}
        ready |= {"application": {"id": bot.id, "flags": 0}} | ({"shard": session.shard} if session.shard else {})
        session.tell("READY", ready)
        for guild in guilds:
            self.world.introduce(guild, session)

    def _resume(self, socket: Socket, data: Json) -> int | None:
        """Tell a session what it missed; op 9 where it is not known any more, or was given up too long ago."""
        session = next((one for one in self.world.sessions if one.id == data.get("session_id")), None)
        now, seq = self.world.clock(), data.get("seq")
        if data["token"] not in self.world.bots:
            return 4004
        old = session is not None and session.gone_at is not None and now - session.gone_at > self.session_life
        taken = session is not None and not session.ended and not old and session.bot.token == data["token"]
        self.resumes.append(Resume(data.get("session_id"), seq, taken, now))
        if session is None or not taken:
            socket.push({"op": 9, "d": False})
            return None
        if seq is None or seq > session.seq:
            return 4007
        for socket_before in self.sockets:
            if socket_before.session is session:
                self.drop(socket_before, None)
        socket.session, session.line, session.gone_at = session, socket, None
        for frame in session.frames[seq:]:
            socket.push(frame)
        session.tell("RESUMED", {})
        return None

    def _leave(self, socket: Socket) -> None:
        if socket.session is not None and socket.session.line is socket:
            socket.session.leave(self.world.clock())

    def _ended(self, socket: Socket) -> None:
        """Note the end; a client that says 1000 or 1001 gives its session up (facts 2.5)."""
        code = socket.ended_here or socket.ws.close_code or 1006
        by_client = socket.ended_here is None
        session = socket.session
        self._leave(socket)
        if session is not None and by_client and code in (1000, 1001):
            session.ended = True
        self.closes.append(Closed(code, by_client, session.id if session else None))
        self.sockets.remove(socket)
        self.world.bell.ring()
