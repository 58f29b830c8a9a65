"""The files that a page shows or downloads, by addresses that say nothing of the server: images, reports, examples."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

from pyvision.demo.actions import Actions
from pyvision.errors import PyVisionError

FILES = "chat-files"  # the first part of every address
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, max-age=3600",
}
_PATH = re.compile(r"(?P<chat>[0-9a-f]{32}|examples)/(?P<file>[\w-]+(?:/[\w-]+)*\.\w+)", re.ASCII)


def serve_files(app: Any, actions: Actions) -> None:
    """Add the route to gradio's application, for those who are logged in where a login is needed."""
    from starlette.responses import FileResponse, PlainTextResponse, Response
    from starlette.routing import Route

    async def serve(request: Any) -> Response:
        if app.auth is not None and _user(app, request) is None:
            return PlainTextResponse("log in first", status_code=401, headers=_HEADERS)
        file = await asyncio.to_thread(find_file, actions, request.path_params["path"])
        if file is None:
            return PlainTextResponse("this file is gone", status_code=404, headers=_HEADERS)
        name = file.name if file.suffix == ".zip" else None
        return FileResponse(file, headers=_HEADERS, filename=name)

    app.router.routes.insert(0, Route(f"/{FILES}/{{path:path}}", serve))


def find_file(actions: Actions, path: str) -> Path | None:
    """The file of an address: of a conversation, by its id and the path there, or of an example."""
    parts = _PATH.fullmatch(path)
    if parts is None:
        return None
    if parts["chat"] == "examples":
        files = (file for example in actions.examples for file in example.files)
        return next((file for file in files if file.name == parts["file"]), None)
    chat = actions.registry.find_any(parts["chat"])
    try:
        return chat.file(parts["file"]) if chat else None
    except (PyVisionError, OSError):  # the folder of the run is damaged or gone
        return None


def _user(app: Any, request: Any) -> str | None:
    """The name of the user who is logged in, as gradio keeps it."""
    cookies = request.cookies
    token = cookies.get(f"access-token-{app.cookie_id}") or cookies.get(
        f"access-token-unsecure-{app.cookie_id}"
    )
    found: str | None = app.tokens.get(token)
    return found
