"""What a response may cost: the time of all of it together, and the bytes that are kept of it."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx2
import pytest

from pyvision.models import connection
from pyvision.models.connection import deadline, open_client

BODY = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@contextmanager
def asking(
    sent: bytes, *, slowly: bool = False, reads: bool = True, within_s: float = 0.3
) -> Iterator[tuple[httpx2.Client, str]]:
    """A client in a deadline block, and the address of a server that sends these bytes and then waits for its end."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_serve, args=(listener, sent, slowly, reads))
        thread.start()
        with (
            closing(open_client(httpx2.Client, trust_env=False)) as client,
            deadline(time.monotonic() + within_s),
        ):
            yield client, f"http://127.0.0.1:{listener.getsockname()[1]}/"
        thread.join(60.0)
        assert not thread.is_alive()


def _serve(listener: socket.socket, sent: bytes, slowly: bool, reads: bool) -> None:
    peer, _ = listener.accept()
    with peer:
        try:
            if reads:
                peer.recv(1 << 16)
            size = 1 if slowly else len(sent) + 1
            for start in range(0, len(sent), size):
                peer.sendall(sent[start : start + size])
                time.sleep(0.02 if slowly else 0.0)
            peer.settimeout(30.0)
            while reads and peer.recv(1 << 16):
                pass
            if not reads:
                time.sleep(1.0)
        except OSError:
            return  # the client is gone


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 200 OK" + b"x" * 5_000,
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 900,
        b"HTTP/1.1 100 Go\r\n\r\n" * 300,
    ],
)
def test_headers_of_one_byte_after_the_other_end_at_the_deadline(sent: bytes) -> None:
    with asking(sent, slowly=True) as (client, url), pytest.raises(httpx2.ReadTimeout):
        client.get(url, timeout=20.0)


def test_a_body_that_is_read_later_still_has_the_deadline_of_its_request() -> None:
    sent = b"HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n" + b"x" * 100
    with asking(sent, within_s=1.0) as (client, url):
        answer = client.send(client.build_request("GET", url, timeout=20.0), stream=True)
        with deadline(float("inf")), closing(answer), pytest.raises(httpx2.ReadTimeout):
            answer.read()


def test_a_request_that_is_not_read_ends_at_the_deadline() -> None:
    with (
        asking(b"", reads=False, within_s=0.8) as (client, url),
        pytest.raises((httpx2.WriteTimeout, httpx2.ReadTimeout)),
    ):
        client.post(url, content=bytes(16 << 20), timeout=20.0)


def test_after_the_deadline_nothing_is_connected() -> None:
    with (
        closing(open_client(httpx2.Client, trust_env=False)) as client,
        deadline(time.monotonic() - 1.0),
        pytest.raises(httpx2.ConnectTimeout),
    ):
        client.get("http://127.0.0.1:9/", timeout=20.0)


def test_an_answer_in_time_is_whole() -> None:
    with asking(BODY, within_s=60.0) as (client, url):
        assert client.get(url).content == b"ok"


def test_a_request_without_a_deadline_has_no_limit() -> None:
    with asking(BODY, within_s=float("inf")) as (client, url):
        assert client.get(url).content == b"ok"


def packed(status: int) -> bytes:
    """A response of a few kilobytes that unpacks to more than the largest body."""
    body = gzip.compress(b"e" * (connection.MAX_BODY_BYTES + 1))
    head = f"HTTP/1.1 {status} X\r\ncontent-encoding: gzip\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def test_a_body_has_a_largest_size_after_unpacking() -> None:
    with (
        asking(packed(200), within_s=60.0) as (client, url),
        pytest.raises(httpx2.DecodingError, match="more than 16 MiB"),
    ):
        client.get(url)


def test_the_body_of_an_error_is_cut() -> None:
    with asking(packed(500), within_s=60.0) as (client, url):
        assert len(client.get(url).content) == connection.MAX_ERROR_BYTES


def tls_context(client: httpx2.Client) -> object:
    return client._transport._pool._ssl_context  # type: ignore[attr-defined]


def test_clients_share_the_certificates_that_one_has_read() -> None:
    with (
        closing(open_client(httpx2.Client, trust_env=True)) as first,
        closing(open_client(httpx2.Client, trust_env=True)) as second,
    ):
        assert tls_context(first) is tls_context(second)


def test_certificates_that_the_environment_names_later_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with closing(open_client(httpx2.Client, trust_env=True)) as before:
        monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
        with closing(open_client(httpx2.Client, trust_env=True)) as after:
            assert tls_context(before) is not tls_context(after)
