"""The HTTP client of an endpoint: one deadline for a whole request, and limits for what comes back.

The deadline holds for connecting, the handshake of TLS, sending, headers and body, and for every redirect; then the
socket is closed. httpx limits each silence only, so an endpoint that sends or reads a byte now and then could continue
forever. Not covered: looking up the name of a host, for which the system has its own limits.

Limits: a stream of events, another body, and the body of an error, which is cut there, since it is only quoted from.
Headers: httpcore gives up after 100 kB. A response is asked for without compression; gzip is unpacked all the same,
since some proxies compress whatever they are asked for, and what it unpacks to counts.
"""

from __future__ import annotations

import os
import socket
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl

    import httpx2

MAX_STREAM_BYTES = 128 << 20
MAX_BODY_BYTES = 16 << 20
MAX_ERROR_BYTES = 64 << 10
_UNPACKED_BYTES = 64 << 10  # at once
_SENT_BYTES = 16 << 10  # at once
_REST_S = 0.1
_GZIP = 16 + zlib.MAX_WBITS
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_DEADLINE: ContextVar[float] = ContextVar("deadline")  # of time.monotonic()


def open_client(kind: Callable[..., httpx2.Client], *, trust_env: bool) -> httpx2.Client:
    """A client of this class whose requests, made in a `deadline` block, keep to it and to the limits."""
    client = kind(
        trust_env=trust_env,
        verify=_share_tls_context(trust_env, *map(os.environ.get, _CERTIFICATES)),
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [_limit_response]},
    )
    # A transport takes no network backend, only the pool that it makes does.
    transports: list[Any] = [client._transport, *client._mounts.values()]
    for transport in transports:
        if transport is not None:
            transport._pool._network_backend = _Network(transport._pool._network_backend)
    return client


@cache
def _share_tls_context(trust_env: bool, *certificates: str | None) -> ssl.SSLContext:  # noqa: FBT001 - a key
    """One context for all clients with these settings: reading the certificates of the system takes 60 ms."""
    from httpx2 import create_ssl_context

    return create_ssl_context(trust_env=trust_env)


@contextmanager
def deadline(until: float) -> Iterator[None]:
    """Every request made in this block, on this thread, ends by then: its socket is closed, its caller gets a timeout.

    That holds for the body of a response too, wherever it is read.
    """
    token = _DEADLINE.set(until)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def read_rest(response: httpx2.Response, pieces: Iterator[bytes]) -> None:
    """Read what follows the last event of a reply, for 0.1 s at most: only then the connection can be used again.

    A new one costs a handshake; the end of a body mostly comes together with the last event.
    """
    from httpx2 import HTTPError

    stream: Any = response.stream  # as `_limit_response` made it
    stream.until = min(stream.until, time.monotonic() + _REST_S)
    with suppress(HTTPError):
        for _ in pieces:
            pass


class _Network:
    """A backend of httpcore that connects by the deadline."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **settings: Any) -> _Connection:
        """Connect to the first address of the host that answers."""
        from httpcore2 import ConnectError, ConnectTimeout

        addresses = _find_addresses(host, port)
        for address in addresses[:-1]:
            try:
                return self._connect(address, port, timeout, settings)
            except (ConnectError, ConnectTimeout):
                continue  # the next one may answer
        return self._connect(addresses[-1], port, timeout, settings)

    def connect_unix_socket(self, path: str, timeout: float | None = None, **settings: Any) -> _Connection:
        """Connect to a socket in the file system."""
        from httpcore2 import ConnectTimeout

        left_s = _limit_timeout(timeout, ConnectTimeout)
        return _Connection(self._backend.connect_unix_socket(path, timeout=left_s, **settings))

    def sleep(self, seconds: float) -> None:
        """As the backend does."""
        self._backend.sleep(seconds)

    def _connect(
        self, address: str, port: int, timeout: float | None, settings: dict[str, Any]
    ) -> _Connection:
        from httpcore2 import ConnectTimeout

        left_s = _limit_timeout(timeout, ConnectTimeout)
        return _Connection(self._backend.connect_tcp(address, port, timeout=left_s, **settings))


class _Connection:
    """A stream of httpcore that is read and written by the deadline of the caller."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What has come."""
        from httpcore2 import ReadTimeout

        received: bytes = self._stream.read(max_bytes, timeout=_limit_timeout(timeout, ReadTimeout))
        return received

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it, piece by piece: the stream would grant the whole timeout to each byte that is taken."""
        from httpcore2 import WriteTimeout

        for start in range(0, len(buffer), _SENT_BYTES):
            piece = buffer[start : start + _SENT_BYTES]
            self._stream.write(piece, timeout=_limit_timeout(timeout, WriteTimeout))

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Connection:
        """The same connection, encrypted."""
        from httpcore2 import ConnectTimeout

        left_s = _limit_timeout(timeout, ConnectTimeout)
        return _Connection(self._stream.start_tls(ssl_context, server_hostname, timeout=left_s))

    def close(self) -> None:
        """Close the socket."""
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        """As the stream says."""
        return self._stream.get_extra_info(info)


def _find_addresses(host: str, port: int) -> list[str]:
    """The addresses of a host, as numbers; the host itself if it has none, for the backend to complain."""
    numeric = socket.NI_NUMERICHOST | socket.NI_NUMERICSERV
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [socket.getnameinfo(address, numeric)[0] for *_, address in found] or [host]
    except OSError:
        return [host]


def _limit_timeout(timeout: float | None, too_late: type[Exception]) -> float | None:
    """The timeout, or the time that is left if that is shorter. Raises `too_late` when none is."""
    left_s = _DEADLINE.get(float("inf")) - time.monotonic()
    if left_s <= 0:
        raise too_late("the deadline has passed")
    if left_s == float("inf"):
        return timeout
    return left_s if timeout is None else min(timeout, left_s)


def _limit_response(response: httpx2.Response) -> None:
    """Hold the body of a response to the deadline and to the limits; an event hook of the client."""
    from httpx2 import DecodingError

    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    if encoding not in {"", "identity", "gzip"}:
        raise DecodingError(f"content-encoding {encoding[:40]!r}, which was not asked for")
    response.encoding = "utf-8"  # of an error; a response could name a codec that is none of text
    is_stream = "text/event-stream" in response.headers.get("content-type", "")
    limit = MAX_ERROR_BYTES if response.is_error else MAX_STREAM_BYTES if is_stream else MAX_BODY_BYTES
    response.stream = _make_limited_stream()(
        response.stream,
        _DEADLINE.get(float("inf")),
        limit,
        unpack=_unpack if encoding == "gzip" else iter,
        cuts=response.is_error,
    )


def _unpack(pieces: Iterator[bytes]) -> Iterator[bytes]:
    from httpx2 import DecodingError

    unpacker = zlib.decompressobj(_GZIP)
    for piece in pieces:
        waiting = piece
        while waiting and not unpacker.eof:
            try:
                yield unpacker.decompress(waiting, _UNPACKED_BYTES)
            except zlib.error as error:
                raise DecodingError(f"invalid gzip ({error})") from None
            waiting = unpacker.unconsumed_tail


@cache
def _make_limited_stream() -> Callable[..., httpx2.SyncByteStream]:
    """The class of a stream with limits; made at its first use, since its base class is slow to import."""
    from httpx2 import DecodingError, SyncByteStream

    class LimitedStream(SyncByteStream):
        """cuts: it ends at the limit; otherwise it raises there."""

        def __init__(
            self,
            stream: SyncByteStream,
            until: float,
            limit: int,
            *,
            unpack: Callable[[Iterator[bytes]], Iterator[bytes]],
            cuts: bool,
        ) -> None:
            self._stream = stream
            self.until = until
            self._limit = limit
            self._unpack = unpack
            self._cuts = cuts

        def __iter__(self) -> Iterator[bytes]:
            left = self._limit
            for piece in self._unpack(self._pieces()):
                if len(piece) > left and not self._cuts:
                    raise DecodingError(f"more than {self._limit >> 20} MiB")
                yield piece[:left]
                left -= len(piece)
                if left <= 0 and self._cuts:
                    return

        def _pieces(self) -> Iterator[bytes]:
            pieces = iter(self._stream)
            while True:
                with deadline(self.until):
                    piece = next(pieces, None)
                if piece is None:
                    return
                yield piece

        def close(self) -> None:
            self._stream.close()

    return LimitedStream
