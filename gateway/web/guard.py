"""What stands in front of every route: foreign hosts and origins, plain errors, safe headers."""

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler

log: structlog.stdlib.BoundLogger = structlog.get_logger()

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # `no-referrer` would make browsers send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Server": "gateway",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

_SENTENCES = {
    404: "There is nothing at this address.",
    405: "This address does not take that kind of request.",
    413: "This is too large: a message may have at most 1 MB.",
}


class Guard:
    """Answers a request that a foreign page could have caused, before any route sees it.

    Bound to loopback, only loopback names (and `names`) are answered: a foreign name that resolves to this machine is
    DNS rebinding. Bound to anything else, every name is, since we cannot know ours.
    """

    def __init__(self, host: str, names: Iterable[str] = ()) -> None:
        self._any_name = not is_loopback(host)
        self._names = {name.lower() for name in names}
        self._signed: set[str] = set()

    def trust(self, paths: Iterable[str]) -> None:
        """Leaves these paths to the signatures that their requests carry."""
        self._signed.update(paths)

    def refusal(self, request: web.BaseRequest) -> str | None:
        """The sentence that refuses the request, or None."""
        if request.path in self._signed:
            return None
        host = request.headers.get("Host", "")
        if host and not self._any_name and not self._known(host):
            return "This name is not one of this machine's: open the page by http://127.0.0.1 or http://localhost."
        origin = request.headers.get("Origin")
        foreign = origin is not None and _netloc(origin) != host.lower()
        if request.method not in ("GET", "HEAD") and (foreign or _from_elsewhere(request)):
            return "This request came from another page and is not answered."
        return None

    def _known(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return is_loopback(name) or name in self._names


def _netloc(url: str) -> str | None:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def middleware(guard: Guard) -> object:
    """One plain sentence for every failure; a traceback goes to the log alone."""

    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        if refusal := guard.refusal(request):
            return sentence(request, 403, refusal)
        try:
            return await handler(request)
        except web.HTTPException as error:
            if error.status < 400:
                raise
            return sentence(request, error.status, _SENTENCES.get(error.status, "This request cannot be answered."))
        except ConnectionResetError:
            raise
        # The owner of every other failure in a route: it is logged, the person gets one sentence, the rest runs on.
        except Exception as error:
            log.exception("web.failed", path=request.path, error=type(error).__name__)
            return sentence(request, 500, "Something went wrong here; the log of the gateway says what. Try again.")

    return answer


def sentence(
    request: web.BaseRequest, status: int, text: str, headers: dict[str, str] | None = None
) -> web.StreamResponse:
    """An answer of one sentence, in the form that the asker reads."""
    if request.path.startswith("/api/"):
        return web.json_response({"error": text}, status=status, headers=headers)
    return web.Response(text=text + "\n", status=status, headers=headers)


async def add_headers(_request: web.BaseRequest, response: web.StreamResponse) -> None:
    """Goes on every response, streams included."""
    for name, value in HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("Cache-Control", "no-store")


def _from_elsewhere(request: web.BaseRequest) -> bool:
    return request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none")
