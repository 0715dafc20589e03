"""The files of the page, read once: no build step, nothing from elsewhere."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

_FOLDER = Path(__file__).parent / "page"
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class File:
    """One file, as it is served."""

    text: str
    kind: str

    def response(self, request: web.BaseRequest, *, status: int = 200, notice: str = "") -> web.Response:
        """`notice`: a sentence for the place that the file keeps for one. A browser that has the file gets 304."""
        text = self.text.replace("<!--notice-->", f'<p class="notice" role="alert">{notice}</p>' if notice else "")
        tag = hashlib.sha256(text.encode()).hexdigest()[:16]
        headers = {"ETag": f'"{tag}"', "Cache-Control": "no-cache"}
        if status == 200 and f'"{tag}"' in request.headers.get("If-None-Match", ""):
            return web.Response(status=304, headers=headers)
        return web.Response(text=text, status=status, content_type=self.kind, charset="utf-8", headers=headers)


def load() -> dict[str, File]:
    """By name. What is not here is not served."""
    return {
        path.name: File(path.read_text("utf-8"), _KINDS[path.suffix])
        for path in sorted(_FOLDER.iterdir())
        if path.suffix in _KINDS
    }
