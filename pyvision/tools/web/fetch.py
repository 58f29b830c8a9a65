"""Fetch a page or an image by a URL that anybody may have written; never from a private network.

Covered: schemes other than http and https, user names, ports, names of the local network, addresses written as numbers,
in octal or in hexadecimal, letters of other scripts that fold into digits, names that resolve to an address which is
not public. A name is resolved once, and the connection goes to the addresses that were checked; each redirect is
checked like the first URL. Size (also after decompression), time, redirects and content types are limited. No cookie,
key or referrer is sent, and no proxy is used, as it would resolve the name again.
Not covered: a public server that forwards to a private one, and a resolver that hangs (its own limits apply). The text
is untrusted: a model gets it only through `text.wrap_untrusted`.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import SplitResult, urljoin, urlsplit

from pyvision.errors import ToolError, reason
from pyvision.tools.web.text import page_text

IPAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve: TypeAlias = Callable[[str, int], Sequence[str]]  # name, port -> addresses

PORTS = {"http": 80, "https": 443}
_URL_CHARS = 2048
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")  # what some URL parsers accept as (part of) an IPv4 address
_LOCAL_ENDINGS = (
    ".localhost",
    ".localdomain",
    ".local",
    ".internal",
    ".intranet",
    ".private",
    ".corp",
    ".home",
    ".lan",
    ".home.arpa",
    ".onion",
)
# Addresses that is_global accepts in some releases of Python, and a cloud's metadata address.
_NEVER_4 = tuple(
    map(
        ipaddress.IPv4Network,
        ("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "168.63.129.16/32"),
    )
)
# Global unicast; private, mapped and translated addresses lie outside of it, or in _NEVER_6.
_UNICAST_6 = ipaddress.IPv6Network("2000::/3")
_NEVER_6 = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_HTML = ("text/html", "application/xhtml+xml")
_PLAIN = ("text/plain", "text/markdown")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """A URL that may be fetched, and the addresses that its host had when it was checked."""

    url: SplitResult
    host: str  # in ASCII, lower case
    port: int
    addresses: tuple[str, ...]

    @property
    def plain_url(self) -> str:
        """The URL with its host in ASCII, without fragment."""
        return self.url._replace(netloc=self.authority, fragment="").geturl()

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.url.scheme] else f"{host}:{self.port}"


def is_public(address: IPAddress) -> bool:
    """Whether an address is a unicast address on the public internet."""
    if isinstance(address, ipaddress.IPv6Address):
        return address in _UNICAST_6 and not any(address in network for network in _NEVER_6)
    special = address.is_multicast or address.is_reserved or address.is_private
    return address.is_global and not special and not any(address in network for network in _NEVER_4)


def resolve(name: str, port: int) -> tuple[str, ...]:
    """The addresses of a name, from the system's resolver. Raises OSError."""
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, slots=True)
class Guard:
    """The rules for what may be fetched; tests replace `resolve` and `allows`."""

    ports: frozenset[int] = frozenset(PORTS.values())
    allows: Callable[[IPAddress], bool] = is_public
    resolve: Resolve = resolve

    def check(self, url: str) -> Target:
        """The target of a URL. Raises ToolError with one line that says what is wrong with it."""
        parts = _split(url)
        host = _host(parts, url)
        port = _port(parts, url)
        if port not in self.ports:
            raise refusal_of(url, f"port {port} is not one of {', '.join(map(str, sorted(self.ports)))}")
        return Target(parts, host, port, self._addresses(host, port, url))

    def _addresses(self, host: str, port: int, url: str) -> tuple[str, ...]:
        literal = _address(host)
        if literal is not None:
            found: Sequence[str] = (host,)
        else:
            try:
                found = self.resolve(host, port)
            except (OSError, UnicodeError):
                raise refusal_of(url, f"there is no host {host!r}") from None
        for text in found:
            address = _address(text)
            if address is None or not self.allows(address):
                where = host if literal is not None else f"{host} ({text})"
                raise refusal_of(url, f"{where} is not on the public internet")
        if not found:
            raise refusal_of(url, f"there is no host {host!r}")
        return tuple(found)


INTERNET = Guard()


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
        raise refusal_of(url, "it redirects nowhere")
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


def refusal_of(url: str, why: str) -> ToolError:
    """The error for a URL that must not be, or cannot be, fetched."""
    return ToolError(f"not fetched {format_url(url)}: {why}")


def format_url(url: str) -> str:
    """A URL for a message: one short line, without user name, and without the query, which may contain a key."""
    start = url.partition("?")[0].partition("#")[0]
    scheme, separator, rest = start.partition("://")
    authority, slash, path = rest.partition("/")
    plain = f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"
    return ascii(plain if len(plain) <= 120 else f"{plain[:119]}…")


def _split(url: str) -> SplitResult:
    if len(url) > _URL_CHARS:
        raise refusal_of(url, f"longer than {_URL_CHARS} characters")
    if re.search(r"[\x00-\x20\x7f-\xa0\\]", url) or not url.isprintable():
        raise refusal_of(url, "it contains a space, a control character or a backslash")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise refusal_of(url, "it is not a valid URL") from None
    if parts.scheme not in PORTS:
        raise refusal_of(url, "only http and https are fetched")
    if "@" in parts.netloc:
        raise refusal_of(url, "it contains a user name")
    return parts


def _port(parts: SplitResult, url: str) -> int:
    try:
        port = parts.port
    except ValueError:
        raise refusal_of(url, "its port is not a number up to 65535") from None
    return PORTS[parts.scheme] if port is None else port


def _host(parts: SplitResult, url: str) -> str:
    """The host in ASCII: an IPv6 address, an IPv4 address of four decimal numbers, or a name with dots."""
    if parts.netloc.startswith("["):
        return _ipv6_host(parts, url)
    host = _ascii(parts.hostname or "", url).removesuffix(".")
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        if _address(host) is None:
            raise refusal_of(url, "its address is not written as four decimal numbers")
        return host
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise refusal_of(url, "its host is not a valid name")
    if len(labels) < 2 or f".{host}".endswith(_LOCAL_ENDINGS):
        raise refusal_of(url, f"{host!r} is a name of the local network")
    return host


def _ipv6_host(parts: SplitResult, url: str) -> str:
    host = parts.hostname or ""
    if "%" in host or not isinstance(_address(host), ipaddress.IPv6Address):
        raise refusal_of(url, "its host is not a valid IPv6 address")
    return str(_address(host))


def _ascii(host: str, url: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        raise refusal_of(url, "its host is not a valid name") from None


def _address(text: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
