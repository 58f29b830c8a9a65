"""What the first answer of the demo's server holds."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path
from typing import Any

import pytest

from pyvision.demo.first_paint import HOST_ID, FirstPaint, find_scripts, frontend

PAGE = f"<html><head></head><body><gradio-app></gradio-app>{HOST_ID}</body></html>".encode()
LOGIN = b"<html><head></head><body><gradio-app></gradio-app></body></html>"
Headers = dict[bytes, bytes]


def get(path: str, content: bytes = PAGE, accepts: bytes = b"", status: int = 200) -> tuple[Headers, bytes]:
    """What a browser gets whose request gradio answers with this content, in two pieces."""
    sent: list[dict[str, Any]] = []

    async def gradio(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/html"), (b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content[:20], "more_body": True})
        await send({"type": "http.response.body", "body": content[20:]})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "path": path, "headers": [(b"accept-encoding", accepts)]}
    asyncio.run(FirstPaint(gradio, "#chat { color: red }")(scope, None, send))
    return dict(sent[0]["headers"]), b"".join(message["body"] for message in sent[1:])


def test_the_page_holds_the_frame_before_gradio_draws() -> None:
    body = get("/")[1]
    assert body.index(b"#chat { color: red }") < body.index(b'id="chat-box"') < body.index(b"<gradio-app")


def test_a_login_page_stays_as_it_is() -> None:
    assert get("/", LOGIN)[1] == LOGIN


def test_the_length_is_that_of_the_changed_page() -> None:
    headers, body = get("/")
    assert headers[b"content-length"] == str(len(body)).encode()


def test_a_browser_that_takes_gzip_gets_the_page_compressed() -> None:
    headers, body = get("/", accepts=b"gzip, deflate")
    assert (headers[b"content-encoding"], gzip.decompress(body)) == (b"gzip", get("/")[1])


def test_files_with_a_hash_in_their_name_are_kept_by_the_browser() -> None:
    assert b"immutable" in get("/assets/index-1a2b.js")[0][b"cache-control"]


@pytest.mark.parametrize(("path", "status"), [("/assets/gone.js", 404), ("/config", 200)])
def test_nothing_else_is_kept(path: str, status: int) -> None:
    headers, body = get(path, status=status)
    assert (b"cache-control" in headers, body) == (False, PAGE)


def test_the_scripts_that_are_named_exist_in_the_installed_gradio() -> None:
    names = find_scripts(frontend())
    assert any(name.startswith("HTML-") for name in names)
    assert [name for name in names if not (frontend() / "assets" / name).is_file()] == []


def test_a_gradio_with_another_build_has_no_scripts_to_name(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<script src='main.js'></script>")
    assert find_scripts(tmp_path) == []
