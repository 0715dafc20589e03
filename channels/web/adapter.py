"""The web page as a channel: one person, their own chats, on this machine."""

import json
from collections.abc import Callable, Sequence
from urllib.parse import quote

import structlog

from channels.web import parse, render
from channels.web.hub import Hub, News
from channels.web.login import Login
from channels.web.routes import History, Records, Routes, data
from channels.web.waiting import Waiting
from gateway.channel import Health, Part, Receive
from gateway.clock import Clock
from gateway.errors import Retryable
from gateway.message import IncomingMessage, Reply, Route, TurnId
from gateway.web.app import CannotBind, WebApp

log: structlog.stdlib.BoundLogger = structlog.get_logger()

_TRY_AGAIN, _BEAT = 5.0, 3.0  # seconds; at a beat a page that waits reads again what another process may have sent


class WebChannel:
    """A Channel that ShowsTyping and ShowsProgress. A reply counts as sent when it can be read: the tape has it, and
    the pages that are connected are told; one that is not reads it when it comes back.
    """

    name = parse.CHANNEL
    account = parse.ACCOUNT
    typing_every = 4.0

    def __init__(
        self,
        app: WebApp,
        *,
        token: str,
        history: History,
        records: Records | None = None,
        clock: Clock,
        announce: Callable[[str], None] = lambda link: None,
        commands: Sequence[tuple[str, str]] = (),
    ) -> None:
        """`announce` is called with the login link each time that the port is bound; it holds the token.

        `records` lets a page forget what a reset put away. `commands`: usage (`handoff [name]`) and what it does.
        """
        self._app, self._token, self._clock, self._announce = app, token, clock, announce
        self._hub, self._waiting = Hub(), Waiting()
        self._health = Health("starting")
        self._receive: Receive | None = None
        routes = Routes(
            Login(token),
            self._hub,
            self._waiting,
            self._accept,
            history=history,
            records=records,
            now=clock.now,
            commands=commands,
        )
        app.mount(routes.all(), on_stop=self._hub.close)

    @property
    def can_send(self) -> bool:
        return self._health.state == "connected"

    @property
    def health(self) -> Health:
        return self._health

    @property
    def base_url(self) -> str:
        """Where the page is, without a slash at the end; the real port once it is bound."""
        return self._app.base_url

    @property
    def login_link(self) -> str:
        """Opens the page and logs in. Secret."""
        return f"{self.base_url}/?token={quote(self._token, safe='')}"

    async def run(self, receive: Receive | None) -> None:
        self._receive = receive
        try:
            await self._bind()
            self._health = Health("connected", self.base_url)
            log.info("web.bound", url=self.base_url)
            self._announce(self.login_link)
            while True:
                await self._clock.wait(_BEAT)
                self._hub.publish_everywhere(News("beat", "{}", slot="beat"))
        finally:
            self._health = Health("off")
            await self._app.stop()

    def render(self, text: str) -> Sequence[Part]:
        return render.render(text)

    async def send(self, reply: Reply, part: Part, *, index: int, of: int, repeated: bool) -> str:
        """A page knows a reply by its turn, so a repeated one is no copy."""
        if not self.can_send:
            raise Retryable("the web page has no port now", after=_TRY_AGAIN)
        chat, id_ = reply.route.conversation, f"{reply.turn}#{index}"
        html = json.loads(part.body)["html"]
        self._waiting.answered(reply.turn)
        news = data(turn=reply.turn, part=index, of=of, text=part.text, html=html, id=id_)
        self._hub.publish(chat, News("reply", news))
        return id_

    async def typing(self, route: Route) -> None:
        self._hub.publish(route.conversation, News("typing", "{}", slot="typing"))

    async def preview(self, route: Route, turn: TurnId, text: str) -> None:
        news = News("preview", data(turn=turn, text=text, html=render.html(text)), slot=f"preview {turn}")
        self._hub.publish(route.conversation, news)

    async def _accept(self, message: IncomingMessage) -> None:
        if self._receive is None:
            raise Retryable("the gateway is still starting")
        new = message.id not in self._waiting
        self._waiting.add(message)
        try:
            await self._receive(message)
        except BaseException:
            if new:
                self._waiting.drop([message.id])
            raise

    async def _bind(self) -> None:
        told = False
        while True:
            try:
                return await self._app.start()
            except CannotBind as error:
                self._health = Health("degraded", f"{error}. It is tried again every {_TRY_AGAIN:.0f} seconds")
                if not told:
                    log.warning("web.port_taken" if error.taken else "web.port_refused", advice=str(error))
                    told = True
            await self._clock.wait(_TRY_AGAIN)
