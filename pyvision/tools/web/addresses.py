"""Which URLs may be fetched when a model or a page names them: none that leads into a private network.

Covered: schemes other than http and https, user names, ports, names of the local network, addresses written as numbers,
in octal or in hexadecimal, letters of other scripts that fold into digits, names that resolve to an address which is
not public. A name is resolved once, and the connection goes to the addresses that were checked.
Not covered: a public server that forwards to a private one, and a resolver that hangs (its own limits apply).
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

from pyvision.errors import ToolError

IPAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve: TypeAlias = Callable[[str, int], Sequence[str]]  # name, port -> addresses

PORTS = {"http": 80, "https": 443}
_URL_CHARS = 2048
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")  # what other readers of URLs take for (a part of) an IPv4 address
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
# What is_global lets pass in one release of Python or another, and what a cloud gives a meaning of its own.
_NEVER_4 = tuple(
    map(
        ipaddress.IPv4Network,
        ("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "168.63.129.16/32"),
    )
)
# Addresses that are given to single machines; all of a private, mapped or translated kind lie outside of it.
_UNICAST_6 = ipaddress.IPv6Network("2000::/3")
_NEVER_6 = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))


@dataclass(frozen=True, slots=True)
class Target:
    """A URL that may be fetched, and the addresses that its name had when it was checked."""

    url: SplitResult
    host: str  # in ASCII, lower case
    port: int
    addresses: tuple[str, ...]

    @property
    def plain_url(self) -> str:
        """The URL with its host in ASCII, and without a fragment."""
        return self.url._replace(netloc=self.authority, fragment="").geturl()

    @property
    def authority(self) -> str:
        """What the Host header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.url.scheme] else f"{host}:{self.port}"


def is_public(address: IPAddress) -> bool:
    """Whether an address belongs to the public internet, and to one machine there."""
    if isinstance(address, ipaddress.IPv6Address):
        return address in _UNICAST_6 and not any(address in network for network in _NEVER_6)
    special = address.is_multicast or address.is_reserved or address.is_private
    return address.is_global and not special and not any(address in network for network in _NEVER_4)


def resolve(name: str, port: int) -> tuple[str, ...]:
    """The addresses of a name, as the system tells them. Raises OSError."""
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, slots=True)
class Guard:
    """The rules of what may be fetched; `resolve` and `allows` are replaced where there is no internet."""

    ports: frozenset[int] = frozenset(PORTS.values())
    allows: Callable[[IPAddress], bool] = is_public
    resolve: Resolve = resolve

    def check(self, url: str) -> Target:
        """The target behind a URL. Raises ToolError: one line that says what is wrong with it."""
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


def refusal_of(url: str, why: str) -> ToolError:
    """The error for a URL that is not fetched."""
    return ToolError(f"not fetched {format_url(url)}: {why}")


def format_url(url: str) -> str:
    """A URL for a message: one line, short, without user names and without its query, which may hold a key."""
    start = url.partition("?")[0].partition("#")[0]
    scheme, separator, rest = start.partition("://")
    authority, slash, path = rest.partition("/")
    plain = f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"
    return ascii(plain if len(plain) <= 120 else f"{plain[:119]}…")


def _split(url: str) -> SplitResult:
    if len(url) > _URL_CHARS:
        raise refusal_of(url, f"longer than {_URL_CHARS} characters")
    if re.search(r"[\x00-\x20\x7f-\xa0\\]", url) or not url.isprintable():
        raise refusal_of(url, "it holds a space, a control character or a backslash")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise refusal_of(url, "it is no URL") from None
    if parts.scheme not in PORTS:
        raise refusal_of(url, "only http and https are fetched")
    if "@" in parts.netloc:
        raise refusal_of(url, "it holds a user name")
    return parts


def _port(parts: SplitResult, url: str) -> int:
    try:
        port = parts.port
    except ValueError:
        raise refusal_of(url, "its port is no number up to 65535") from None
    return PORTS[parts.scheme] if port is None else port


def _host(parts: SplitResult, url: str) -> str:
    """The host in ASCII, checked as it is written: an IPv6 address, four plain numbers, or a name with dots."""
    if parts.netloc.startswith("["):
        return _bracketed(parts, url)
    host = _ascii(parts.hostname or "", url).removesuffix(".")
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        if _address(host) is None:
            raise refusal_of(url, "it writes an address in an odd way")
        return host
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise refusal_of(url, "its host is no name")
    if len(labels) < 2 or f".{host}".endswith(_LOCAL_ENDINGS):
        raise refusal_of(url, f"{host!r} is a name of the local network")
    return host


def _bracketed(parts: SplitResult, url: str) -> str:
    host = parts.hostname or ""
    if "%" in host or not isinstance(_address(host), ipaddress.IPv6Address):
        raise refusal_of(url, "its host is no IPv6 address")
    return str(_address(host))


def _ascii(host: str, url: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        raise refusal_of(url, "its host is no name") from None


def _address(text: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
