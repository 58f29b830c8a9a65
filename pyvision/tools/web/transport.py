"""Send one HTTP request under one time limit, which covers connecting, every header and every byte of the body.

Imported only to send a request, as it builds on httpcore2. A higher-level client would log URLs (one provider takes
its key there), follow redirects, and resolve the host name again.
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
_SAFE = "/%:@!$&'()*+,;=~?"  # in a path with its query, which is already encoded if it is well formed
_ENCODINGS = {"", "identity", "gzip", "x-gzip", "deflate"}


class TooLarge(Exception):  # noqa: N818 - says what the body is
    """The body is larger than the limit."""


class Unreadable(Exception):  # noqa: N818 - says what the response is
    """The response is not valid HTTP, or has an encoding that was not requested."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request. addresses: where to connect, instead of resolving the host, which remains in Host and TLS.

    url: in ASCII except its path. until: the deadline, of time.monotonic(). proxy: the URL of a proxy, if any.
    tls: the trusted certificates, by default those of the system.
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
            raise Unreadable(f"its body is encoded as {encoding!r:.40}, which was not requested")
        pieces = _limit(self._pieces(), limit)
        if encoding in ("", "identity"):
            return b"".join(pieces)
        return b"".join(_limit(_decompress(pieces, limit), limit))

    def _pieces(self) -> Iterator[bytes]:
        stream = self._response.stream
        assert isinstance(stream, Iterable)
        yield from stream


@contextmanager
def open_response(request: HttpRequest) -> Iterator[Response]:
    """The response, once its headers have arrived. Raises TimeoutError, Unreadable, and OSError for the connection."""
    with _translate_errors(), _pool(request) as pool:
        response = pool.handle_request(_request(request))
        try:
            yield Response(response)
        finally:
            response.close()


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except httpcore2.TimeoutException:
        raise TimeoutError("it took too long") from None
    except (httpcore2.NetworkError, httpcore2.ProxyError) as error:
        raise ConnectionError(" ".join(str(error).split()) or type(error).__name__) from None
    except httpcore2.ProtocolError:
        raise Unreadable("it is not valid HTTP") from None


def _pool(request: HttpRequest) -> httpcore2.ConnectionPool:
    encrypted = request.url.startswith("https:") or request.proxy
    settings: dict[str, Any] = {
        "ssl_context": request.tls or (_default_tls() if encrypted else None),
        "network_backend": _Backend(request.addresses, request.until),
        "max_connections": 1,
    }
    return httpcore2.ConnectionPool(
        proxy=httpcore2.Proxy(request.proxy) if request.proxy else None, **settings
    )


def _default_tls() -> ssl.SSLContext:
    """Trust the certificates of the system or of SSL_CERT_FILE, as for model endpoints."""
    import httpx2

    return httpx2.create_ssl_context()


def _request(request: HttpRequest) -> httpcore2.Request:
    parts = urlsplit(request.url)
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
        **request.headers,
    }
    if request.body:
        headers["Content-Length"] = str(len(request.body))
    return httpcore2.Request(request.method, url, headers=_encode(headers), content=request.body or None)


def _encode(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers.items()]


def _limit(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limit:
            raise TooLarge(f"larger than {limit:,} bytes")
        yield piece


def _decompress(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Yields at most one piece beyond the limit, so that a decompression bomb does no harm."""
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)  # gzip or zlib, as its header says
    size = 0
    try:
        for piece in pieces:
            rest = piece
            while rest and size <= limit and not decoder.eof:
                plain = decoder.decompress(rest, _PIECE_BYTES)
                size += len(plain)
                yield plain
                rest = decoder.unconsumed_tail
        yield decoder.flush(_PIECE_BYTES)
    except zlib.error:
        raise Unreadable("its compressed body is broken") from None
    if not decoder.eof:
        raise Unreadable("its compressed body is truncated")


class _Backend(httpcore2.NetworkBackend):
    """Connects only to the given addresses, if there are any."""

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
                remaining_s = _remaining_s(self._until, httpcore2.ConnectTimeout)
                return _Stream(self._backend.connect_tcp(address, port, remaining_s), self._until)
            except httpcore2.ConnectError as error:
                failure = error
        raise failure


class _Stream(httpcore2.NetworkStream):
    """A connection on which every wait ends at the deadline."""

    def __init__(self, stream: httpcore2.NetworkStream, until: float) -> None:
        self._stream = stream
        self._until = until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _remaining_s(self._until, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _remaining_s(self._until, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        remaining_s = _remaining_s(self._until, httpcore2.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, remaining_s), self._until)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _remaining_s(until: float, error: type[Exception]) -> float:
    remaining_s = until - time.monotonic()
    if remaining_s <= 0:
        raise error("no time is left")
    return remaining_s
