"""Which URLs may be fetched: those of public addresses, never one of a private network. Anybody may have written them.

Covered: schemes other than http and https, user names, ports, names of the local network, addresses written as numbers,
in octal or in hexadecimal, letters of other scripts that fold into digits, names that resolve to an address which is
not public. A name is resolved once: the connection goes to the addresses that were checked.
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
