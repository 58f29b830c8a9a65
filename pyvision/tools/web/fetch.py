"""Fetch a page or an image by a URL that anybody may have written.

Covered: the URL and each redirect are checked (`tools.web.address_guard`), and the connection goes to the addresses
that were checked. Size (also after decompression), time, redirects and content types are limited. No cookie, key or
referrer is sent, and no proxy is used, as it would resolve the name again.
Not covered: what the guard does not cover. The text is untrusted: a model gets it only through `text.wrap_untrusted`.
"""

from __future__ import annotations

import re
import ssl
import time
from dataclasses import dataclass
from urllib.parse import urljoin

from pyvision.errors import ToolError, reason
from pyvision.tools.web.address_guard import INTERNET, Guard, Target, format_url, refusal_of
from pyvision.tools.web.text import page_text

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_HTML = ("text/html", "application/xhtml+xml")
_PLAIN = ("text/plain", "text/markdown")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """bytes: of a body, before and after decompression. seconds: for everything, including redirects."""

    bytes: int = 4 * 2**20
    seconds: float = 15.0
    redirects: int = 5


IMAGE_LIMITS = FetchLimits(bytes=64 * 2**20, seconds=60.0)


@dataclass(frozen=True, slots=True)
class _Accepted:
    """The content types that are read: equal to one of these, or starting with one that ends in a slash."""

    types: tuple[str, ...]
    name: str  # in an error message

    def __contains__(self, kind: str) -> bool:
        return any(kind == each or (each.endswith("/") and kind.startswith(each)) for each in self.types)

    def headers(self) -> dict[str, str]:
        accepted = ", ".join(f"{each}*" if each.endswith("/") else each for each in self.types)
        return {"User-Agent": "PyVision (reads pages for a question about an image)", "Accept": accepted}


_TEXT = _Accepted((*_HTML, *_PLAIN), "HTML and plain text")
_IMAGE = _Accepted(("image/", "application/octet-stream", "binary/octet-stream"), "images")


@dataclass(frozen=True, slots=True)
class _Body:
    """url: after all redirects."""

    url: str
    kind: str
    charset: str
    data: bytes


@dataclass(frozen=True, slots=True)
class WebPage:
    """url: after all redirects. text: the visible text; untrusted."""

    url: str
    title: str
    text: str


def fetch(
    url: str,
    limits: FetchLimits = FetchLimits(),
    guard: Guard = INTERNET,
    tls: ssl.SSLContext | None = None,
) -> WebPage:
    """The page at a URL. Raises ToolError if it is not allowed, missing, too large, too slow or not text.

    tls: the trusted certificates, by default those of the system.
    """
    body = _fetch(url, _TEXT, limits, guard, tls)
    return _page(body.url, body.kind, _decode(body.data, body.charset))


def fetch_image(url: str, limits: FetchLimits = IMAGE_LIMITS, guard: Guard = INTERNET) -> bytes:
    """The bytes of the image file at a URL, undecoded. Raises ToolError as `fetch` does."""
    return _fetch(url, _IMAGE, limits, guard, None).data


def _fetch(
    url: str, accepted: _Accepted, limits: FetchLimits, guard: Guard, tls: ssl.SSLContext | None
) -> _Body:
    until = time.monotonic() + limits.seconds
    for _ in range(limits.redirects + 1):
        found = _fetch_once(url, guard.check(url), accepted, limits, until, tls)
        if isinstance(found, _Body):
            return found
        url = found
    raise refusal_of(url, f"more than {limits.redirects} redirects")


def _fetch_once(  # noqa: PLR0913, PLR0917 - one request is made of these
    url: str,
    target: Target,
    accepted: _Accepted,
    limits: FetchLimits,
    until: float,
    tls: ssl.SSLContext | None,
) -> _Body | str:
    """The body, or the URL that it redirects to."""
    from pyvision.tools.web.transport import HttpRequest, TooLarge, Unreadable, open_response

    headers = accepted.headers()
    request = HttpRequest("GET", target.plain_url, headers, until, addresses=target.addresses, tls=tls)
    try:
        with open_response(request) as response:
            if response.status in _REDIRECTS:
                return _location(url, response.headers.get("location", ""))
            kind, charset = _kind(url, response.status, response.headers.get("content-type", ""), accepted)
            return _Body(url, kind, charset, response.read(limits.bytes))
    except TimeoutError:
        raise refusal_of(url, f"it took longer than {limits.seconds:g} s") from None
    except (TooLarge, Unreadable) as error:
        raise refusal_of(url, str(error)) from None
    except OSError as error:
        raise refusal_of(url, f"no connection ({reason(error)})") from None


def _location(url: str, location: str) -> str:
    if not location:
        raise refusal_of(url, "it redirects without a location")
    try:
        return urljoin(url, location.encode("latin-1").decode("utf-8", "replace"))
    except ValueError:
        raise refusal_of(url, f"it redirects to {format_url(location)}, which is not a valid URL") from None


def _kind(url: str, status: int, content_type: str, accepted: _Accepted) -> tuple[str, str]:
    """The content type and the charset, empty if there is none. Raises ToolError for other types."""
    if status != 200:
        raise refusal_of(url, f"the server answered {status}")
    kind, _, parameters = content_type.partition(";")
    kind = kind.strip().lower()
    if kind not in accepted:
        found = ascii(kind[:60]) if kind else "missing"
        raise refusal_of(url, f"its type is {found}; only {accepted.name} are read")
    charset = re.search(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", parameters, re.IGNORECASE)
    return kind, charset[1] if charset else ""


def _decode(body: bytes, charset: str) -> str:
    in_page = _CHARSET.search(body[:2048])
    name = charset or (in_page[1].decode("ascii") if in_page else "utf-8")
    try:
        return body.decode(name, "replace")
    except (LookupError, UnicodeError, ValueError):  # an unknown charset, or a codec that is not for text
        return body.decode("utf-8", "replace")


def _page(url: str, kind: str, text: str) -> WebPage:
    if kind in _PLAIN:
        return WebPage(url, "", text.removeprefix("\ufeff"))
    read = page_text(text.removeprefix("\ufeff"))
    if not read.text and not read.title:
        raise ToolError(f"{format_url(url)}: the page contains no text")
    return WebPage(url, read.title, read.text)
