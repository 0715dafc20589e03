"""Who may look: whoever has the token, or the cookie that proves it was had."""

import hashlib
import hmac

from aiohttp import web

from gateway.errors import Refused

_DAYS = 30


class Login:
    """The token itself is in no cookie. A new token shuts all old cookies out."""

    def __init__(self, token: str) -> None:
        if not token:
            raise Refused("The web page needs a token: set GATEWAY_WEB__TOKEN to a long random text.")
        self._token = token.encode()
        self._proof = hmac.new(self._token, b"gateway web login", hashlib.sha256).hexdigest()
        # Cookies know no ports: two gateways on one machine must not overwrite each other's.
        self._cookie = f"gateway-{hashlib.sha256(b'name' + self._token).hexdigest()[:8]}"

    def opens(self, token: str) -> bool:
        """Whether it is the token. Takes as long for a wrong one."""
        return hmac.compare_digest(token.strip().encode("utf-8", "surrogatepass"), self._token)

    def knows(self, request: web.BaseRequest) -> bool:
        """Whether the request brings the cookie."""
        shown = request.cookies.get(self._cookie, "")
        return hmac.compare_digest(shown.encode("utf-8", "surrogatepass"), self._proof.encode())

    def remember(self, request: web.BaseRequest, response: web.Response) -> None:
        """Gives the browser the cookie, out of reach of scripts and of other sites."""
        response.set_cookie(
            self._cookie,
            self._proof,
            max_age=_DAYS * 86_400,
            path="/",
            httponly=True,
            samesite="Strict",
            secure=request.secure,
        )
