"""A web site on loopback: what each path answers is a table; every request is recorded."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import cast

from pyvision.tools.web.address_guard import Guard, IPAddress, is_public

LOOPBACK = ip_address("127.0.0.1")
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Served:
    """One answer. pause_s: between single bytes of the body, or of the header lines with `slow_headers`."""

    body: bytes = b""
    status: int = 200
    kind: str = HTML
    headers: Mapping[str, str] = field(default_factory=dict)
    pause_s: float = 0.0
    slow_headers: bool = False
    claims: int | None = None  # a Content-Length other than the true one


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


Answers = Mapping[str, Served | Sequence[Served]]


class Site:
    """Answers by path; where there are several for one, each in turn, the last one for ever."""

    def __init__(self, answers: Answers) -> None:
        self.visits: list[ReceivedRequest] = []
        self.closing = threading.Event()
        self._answers = dict(answers)
        self._lock = threading.Lock()
        self.server = _Server(("127.0.0.1", 0), _Handler)
        self.server.site = self

    @property
    def port(self) -> int:
        return self.server.server_port

    def url(self, path: str = "/", host: str = "site.example.com") -> str:
        return f"http://{host}:{self.port}{path}"

    def guard(self, names: Mapping[str, tuple[str, ...]] | None = None) -> Guard:
        """The real rules, but for this one port on 127.0.0.1. names: who is where, besides the site itself."""
        known = {"site.example.com": ("127.0.0.1",), **(names or {})}

        def resolve(name: str, port: int) -> tuple[str, ...]:
            if name not in known:
                raise OSError("no such name")
            return known[name]

        return Guard(frozenset({80, 443, self.port}), _or_loopback, resolve)

    def answer(self, visit: ReceivedRequest) -> Served:
        path = visit.path.partition("?")[0]
        with self._lock:
            self.visits.append(visit)
            found = self._answers.get(path, Served(status=404))
            if isinstance(found, Served):
                return found
            if len(found) > 1:
                self._answers[path] = found[1:]
            return found[0]


def _or_loopback(address: IPAddress) -> bool:
    return address == LOOPBACK or is_public(address)


@contextmanager
def serving(answers: Answers, tls: ssl.SSLContext | None = None) -> Iterator[Site]:
    """tls: served over TLS with this certificate."""
    site = Site(answers)
    if tls is not None:
        site.server.socket = tls.wrap_socket(
            site.server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=site.server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        site.server.shutdown()
        thread.join()
        site.server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    site: Site


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._do()

    def do_POST(self) -> None:
        self._do()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - as in the base class
        """Say nothing."""

    def _do(self) -> None:
        site = cast("_Server", self.server).site
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        lower = {name.lower(): value for name, value in self.headers.items()}
        served = site.answer(ReceivedRequest(self.command, self.path, lower, body))
        self.close_connection = True
        try:
            self._send(served, site)
        except OSError:
            return  # the client has seen enough

    def _send(self, served: Served, site: Site) -> None:
        length = len(served.body) if served.claims is None else served.claims
        headers = {"Content-Type": served.kind, "Content-Length": str(length), **served.headers}
        self.send_response(served.status)
        for name, value in headers.items():
            self.send_header(name, value)
        if served.slow_headers:
            self.wfile.write(b"".join(self._headers_buffer))
            self._headers_buffer: list[bytes] = []
            self._trickle(b"X-Slow: " + b"x" * 1000, served.pause_s, site)
        self.end_headers()
        if served.pause_s:
            self._trickle(served.body, served.pause_s, site)
        else:
            self.wfile.write(served.body)

    def _trickle(self, data: bytes, pause_s: float, site: Site) -> None:
        for byte in data:
            if site.closing.wait(pause_s):
                return
            self.wfile.write(bytes([byte]))
