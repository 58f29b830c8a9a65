"""One HTTP request with limits that hold for all of it: connecting, each header, each byte of the body.

Loaded by those who send something, as it is made of classes of httpcore2. That, and not a client above it, because a
client logs addresses (one provider takes its key there), follows redirects, and connects to whatever a name means now.
Not covered: a resolver that hangs.
"""

from __future__ import annotations

import ssl
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpcore2

_PIECE_BYTES = 65536
_SAFE = "/%:@!$&'()*+,;=~?"  # of a path with its query, which is encoded already where it is well made
_ENCODINGS = {"", "identity", "gzip", "x-gzip", "deflate"}


class TooLarge(Exception):  # noqa: N818 - it says what the body is
    """The body is larger than the limit."""


class Unreadable(Exception):  # noqa: N818 - it says what the answer is
    """The answer does not keep to HTTP, or comes in an encoding that was not asked for."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request. addresses: where to connect instead of asking who `url` is; its name stays in Host and TLS.

    url: in ASCII but for its path. until: of time.monotonic(), when everything is over. proxy: the URL of one that
    the request goes through. tls: whom to trust, the system's authorities unless told.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    until: float
    body: bytes = b""
    addresses: Sequence[str] = ()
    proxy: str | None = None
    tls: ssl.SSLContext | None = None


class Response:
    """Status and headers; the body is read once, by `read`."""

    def __init__(self, response: httpcore2.Response) -> None:
        self.status: int = response.status
        self._response = response
        self.headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers
        }

    def read(self, limit: int) -> bytes:
        """The whole body, decompressed. Raises TooLarge beyond `limit` bytes, before or after decompression."""
        encoding = self.headers.get("content-encoding", "").strip().lower()
        if encoding not in _ENCODINGS:
            raise Unreadable(f"its body is encoded as {encoding!r:.40}, which was not asked for")
        pieces = _limited(self._pieces(), limit)
        if encoding in ("", "identity"):
            return b"".join(pieces)
        return b"".join(_limited(_decompress(pieces, limit), limit))

    def _pieces(self) -> Iterator[bytes]:
        stream = self._response.stream
        assert isinstance(stream, Iterable)
        yield from stream


@contextmanager
def open_response(exchange: Exchange) -> Iterator[Response]:
    """The response, once its headers are there. Raises TimeoutError, Unreadable, and OSError without a connection."""
    with _our_errors(), _pool(exchange) as pool:
        response = pool.handle_request(_request(exchange))
        try:
            yield Response(response)
        finally:
            response.close()


@contextmanager
def _our_errors() -> Iterator[None]:
    try:
        yield
    except httpcore2.TimeoutException:
        raise TimeoutError("it took too long") from None
    except (httpcore2.NetworkError, httpcore2.ProxyError) as error:
        raise ConnectionError(" ".join(str(error).split()) or type(error).__name__) from None
    except httpcore2.ProtocolError:
        raise Unreadable("it does not keep to HTTP") from None


def _pool(exchange: Exchange) -> httpcore2.ConnectionPool:
    encrypted = exchange.url.startswith("https:") or exchange.proxy
    settings: dict[str, Any] = {
        "ssl_context": exchange.tls or (_authorities() if encrypted else None),
        "network_backend": _Backend(exchange.addresses, exchange.until),
        "max_connections": 1,
    }
    return httpcore2.ConnectionPool(
        proxy=httpcore2.Proxy(exchange.proxy) if exchange.proxy else None, **settings
    )


def _authorities() -> ssl.SSLContext:
    """Those that the system trusts, or that SSL_CERT_FILE names: as for the endpoints of models."""
    import httpx2

    return httpx2.create_ssl_context()


def _request(exchange: Exchange) -> httpcore2.Request:
    parts = urlsplit(exchange.url)
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    url = httpcore2.URL(
        scheme=parts.scheme,
        host=(parts.hostname or "").encode("ascii"),
        port=parts.port,
        target=quote(path, safe=_SAFE).encode("ascii"),
    )
    headers = {
        "Host": parts.netloc.rpartition("@")[2],
        "Connection": "close",
        "Accept-Encoding": "gzip, deflate",
        **exchange.headers,
    }
    if exchange.body:
        headers["Content-Length"] = str(len(exchange.body))
    return httpcore2.Request(exchange.method, url, headers=_encode(headers), content=exchange.body or None)


def _encode(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers.items()]


def _limited(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limit:
            raise TooLarge(f"larger than {limit:,} bytes")
        yield piece


def _decompress(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Never more than one piece beyond the limit is made, whatever the data claims to be."""
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)  # gzip or zlib, as its header says
    made = 0
    try:
        for piece in pieces:
            rest = piece
            while rest and made <= limit and not decoder.eof:
                plain = decoder.decompress(rest, _PIECE_BYTES)
                made += len(plain)
                yield plain
                rest = decoder.unconsumed_tail
        yield decoder.flush(_PIECE_BYTES)
    except zlib.error:
        raise Unreadable("its compressed body is broken") from None
    if not decoder.eof:
        raise Unreadable("its compressed body is cut short")


class _Backend(httpcore2.NetworkBackend):
    """Connects to the addresses that were checked, and to nothing else where there are any."""

    def __init__(self, addresses: Sequence[str], until: float) -> None:
        self._addresses = addresses
        self._until = until
        self._backend = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        failure: Exception = httpcore2.ConnectError("it has no address")
        for address in self._addresses or (host,):
            try:
                left_s = _left_s(self._until, httpcore2.ConnectTimeout)
                return _Stream(self._backend.connect_tcp(address, port, left_s), self._until)
            except httpcore2.ConnectError as error:
                failure = error
        raise failure


class _Stream(httpcore2.NetworkStream):
    """A connection whose every wait ends with the exchange."""

    def __init__(self, stream: httpcore2.NetworkStream, until: float) -> None:
        self._stream = stream
        self._until = until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left_s(self._until, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left_s(self._until, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left_s = _left_s(self._until, httpcore2.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left_s), self._until)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left_s(until: float, error: type[Exception]) -> float:
    left_s = until - time.monotonic()
    if left_s <= 0:
        raise error("no time is left")
    return left_s
