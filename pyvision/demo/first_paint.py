"""The page as the browser first gets it, with the frame of the chat, which takes text until gradio's scripts are there.

Gradio sends an empty page, and draws when its scripts have loaded one after the other. This middleware puts the frame
and its style into that page, names the scripts so that they load at once, compresses it, and lets browsers keep the
files of gradio whose names hold a hash. `start.js` removes the frame when the chat takes its place.
"""

from __future__ import annotations

import gzip
import re
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HOST_ID = "chat-host"  # of the component; a login page does not have it
_FILES = Path(__file__).parent / "assets"
_LOADED = re.compile(r'"\./([\w-]+\.(?:js|css))"')  # in the list that the first script begins with
_LOADED_LATER = ("Blocks-*.js", "HTML-*.js")  # by pages with a component such as ours
_ASSETS = "/assets/"
_KEPT = (b"cache-control", b"public, max-age=31536000, immutable")


def read_asset(name: str) -> str:
    """A file of the chat: its frame, a script or its style."""
    return (_FILES / name).read_text(encoding="utf-8")


class FirstPaint:
    """ASGI middleware for gradio's application. style: of the chat, as CSS."""

    def __init__(self, app: Any, style: str) -> None:
        self._app = app
        self._head = f"<style>{style}</style>{''.join(map(_link, find_scripts(frontend())))}".encode()
        frame, script = read_asset("chat.html"), read_asset("early.js")
        self._body = f'<div id="chat-early">{frame}</div><script>{script}</script>'.encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        if scope["type"] == "http" and path == "/":
            await self._app(scope, receive, self._changing_page(scope, send))
        elif path.startswith(_ASSETS):
            await self._app(scope, receive, partial(_send_kept, send))
        else:
            await self._app(scope, receive, send)

    def _changing_page(self, scope: Any, send: Any) -> Any:
        """Sends the page when all of it is there."""
        takes_gzip = any(name == b"accept-encoding" and b"gzip" in value for name, value in scope["headers"])
        started: dict[str, Any] = {}
        parts: list[bytes] = []

        async def change(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                started.update(message)
                return
            parts.append(message.get("body", b""))
            if not message.get("more_body"):
                body = self._add_preview(b"".join(parts))
                body = gzip.compress(body, 5) if takes_gzip else body
                headers = [(b"vary", b"accept-encoding"), (b"content-length", str(len(body)).encode())]
                headers += [(b"content-encoding", b"gzip")] if takes_gzip else []
                other_headers = [each for each in started["headers"] if each[0] != b"content-length"]
                await send({**started, "headers": [*other_headers, *headers]})
                await send({**message, "body": body})

        return change

    def _add_preview(self, page: bytes) -> bytes:
        """A login page, which has no chat, stays as it is."""
        if HOST_ID.encode() not in page:
            return page
        page = page.replace(b"</head>", self._head + b"</head>", 1)
        return page.replace(b"<gradio-app", self._body + b"<gradio-app", 1)


def find_scripts(frontend: Path) -> list[str]:
    """Scripts and styles that gradio loads for the page besides those that the page names; none if it changed."""
    page = (frontend / "index.html").read_text(encoding="utf-8")
    first = re.search(r"assets/(index-[\w-]+\.js)", page)
    if first is None:
        return []
    list_at_start = (frontend / "assets" / first[1]).read_text(encoding="utf-8").partition("\n")[0]
    later = (file.name for pattern in _LOADED_LATER for file in sorted((frontend / "assets").glob(pattern)))
    return [*dict.fromkeys(_LOADED.findall(list_at_start)), *later]


def frontend() -> Path:
    """Where gradio keeps the files of its page."""
    found = find_spec("gradio")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "templates" / "frontend"


def _link(name: str) -> str:
    kind = 'rel="modulepreload"' if name.endswith(".js") else 'rel="preload" as="style" crossorigin'
    return f'<link {kind} href=".{_ASSETS}{name}">'


async def _send_kept(send: Any, message: dict[str, Any]) -> None:
    if message["type"] == "http.response.start" and message["status"] == 200:
        message = {**message, "headers": [*message["headers"], _KEPT]}
    await send(message)
