"""Fetch a page whose address came from a model or from another page, and read its text.

Covered: see `addresses` for where it may lead; each redirect is checked like the first address; size (also after
decompression), time, number of redirects and kind of content are limited. No cookie, key or referrer is sent, and
no proxy is used, as it would choose the address anew.
Not covered: what the text says. It is somebody else's, and goes to a model only through `wrap`.
"""

from __future__ import annotations

import re
import ssl
import time
from dataclasses import dataclass
from urllib.parse import urljoin

from pyvision.errors import ToolError, reason
from pyvision.tools.web.addresses import Guard, Target, format_url, refusal_of
from pyvision.tools.web.pages import page_text

INTERNET = Guard()
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_HTML = ("text/html", "application/xhtml+xml")
_PLAIN = ("text/plain", "text/markdown")
_HEADERS = {
    "User-Agent": "PyVision (reads pages for a question about an image)",
    "Accept": ", ".join((*_HTML, *_PLAIN)),
}
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """bytes: of a body, as it comes and as it is. seconds: for everything, redirects included."""

    bytes: int = 4 * 2**20
    seconds: float = 15.0
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class Page:
    """url: where the last redirect led. text: as a person would read it; never to be obeyed."""

    url: str
    title: str
    text: str


def fetch(
    url: str,
    limits: FetchLimits = FetchLimits(),
    guard: Guard = INTERNET,
    tls: ssl.SSLContext | None = None,
) -> Page:
    """The page behind a URL. Raises ToolError: not allowed, not there, too large, too slow or no text.

    tls: whom to trust, the system's authorities unless told.
    """
    until = time.monotonic() + limits.seconds
    for _ in range(limits.redirects + 1):
        found = _visited(url, guard.check(url), limits, until, tls)
        if isinstance(found, Page):
            return found
        url = found
    raise refusal_of(url, f"more than {limits.redirects} redirects")


def _visited(
    url: str, target: Target, limits: FetchLimits, until: float, tls: ssl.SSLContext | None
) -> Page | str:
    """The page, or where it redirects to."""
    from pyvision.tools.web.transport import Exchange, TooLarge, Unreadable, open_response

    exchange = Exchange("GET", target.plain_url, _HEADERS, until, addresses=target.addresses, tls=tls)
    try:
        with open_response(exchange) as response:
            if response.status in _REDIRECTS:
                return _location(url, response.headers.get("location", ""))
            kind, charset = _kind(url, response.status, response.headers.get("content-type", ""))
            body = response.read(limits.bytes)
    except TimeoutError:
        raise refusal_of(url, f"it took longer than {limits.seconds:g} s") from None
    except (TooLarge, Unreadable) as error:
        raise refusal_of(url, str(error)) from None
    except OSError as error:
        raise refusal_of(url, f"no connection ({reason(error)})") from None
    return _page(url, kind, _decode(body, charset))


def _location(url: str, location: str) -> str:
    if not location:
        raise refusal_of(url, "it redirects nowhere")
    try:
        return urljoin(url, location.encode("latin-1").decode("utf-8", "replace"))
    except ValueError:
        raise refusal_of(url, f"it redirects to {format_url(location)}, which is no URL") from None


def _kind(url: str, status: int, content_type: str) -> tuple[str, str]:
    """The kind of the content and its character set, if that is told. Raises ToolError for what is not read."""
    if status != 200:
        raise refusal_of(url, f"the server answered {status}")
    kind, _, parameters = content_type.partition(";")
    kind = kind.strip().lower()
    if kind not in (*_HTML, *_PLAIN):
        raise refusal_of(
            url, f"it is {ascii(kind[:60]) if kind else 'of no kind'}; only HTML and plain text are read"
        )
    told_set = re.search(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", parameters, re.IGNORECASE)
    return kind, told_set[1] if told_set else ""


def _decode(body: bytes, charset: str) -> str:
    in_page = _CHARSET.search(body[:2048])
    name = charset or (in_page[1].decode("ascii") if in_page else "utf-8")
    try:
        return body.decode(name, "replace")
    except (LookupError, UnicodeError, ValueError):  # a name that is none, or of a codec that is not for text
        return body.decode("utf-8", "replace")


def _page(url: str, kind: str, text: str) -> Page:
    if kind in _PLAIN:
        return Page(url, "", text.removeprefix("\ufeff"))
    read = page_text(text.removeprefix("\ufeff"))
    if not read.text and not read.title:
        raise ToolError(f"{format_url(url)}: the page holds no text")
    return Page(url, read.title, read.text)
