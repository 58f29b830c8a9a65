"""HTTP as the model server speaks it: answers sent whole, or with the fault that befalls them."""

from __future__ import annotations

import json
import os
import re
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, cast

from tests.servers.conversation import Failure, Request, ServedReply, Wire
from tests.servers.faults import Fault

if TYPE_CHECKING:
    from tests.servers.server import ModelServer

_NO_FAULT = Fault()
_LOST = ServedReply("This answer does not arrive as a whole. " * 8)
_JSON = "application/json"


class Listener(ThreadingHTTPServer):
    """The sockets of one model server."""

    daemon_threads = False  # server_close waits for them, so that no socket outlives a test
    request_queue_size = 128

    def __init__(self, owner: ModelServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), Handler)


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers and body; a body of several pieces is a stream."""

    status: int
    pieces: list[bytes]
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_stream(self) -> bool:
        return len(self.pieces) > 1


class Handler(BaseHTTPRequestHandler):
    """One connection, kept alive from request to request."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def owner(self) -> ModelServer:
        return cast("Listener", self.server).owner

    def setup(self) -> None:
        self.owner.opened(self.request)
        super().setup()

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:
            self.close_connection = True  # a reset was asked for, or the client is gone

    def finish(self) -> None:
        self.owner.closed(self.request)
        try:
            super().finish()
        except OSError:
            self.close_connection = True  # the same

    def do_GET(self) -> None:
        self.owner.asked.append((self.path, {name.lower(): text for name, text in self.headers.items()}))
        fault = self.owner.fault_of_get
        body = fault.body if fault.body is not None else json.dumps(self.owner.models).encode()
        self._send(Answer(fault.status, [body], fault.headers), fault)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        taken = self.owner.take(self.path, dict(self.headers), raw)
        if taken is None:
            self._send(Answer(404, [_json({"error": {"message": f"no such path {self.path}"}})]), _NO_FAULT)
            return
        wire, request, fault = taken
        self.owner.wait(fault.delay_s)
        try:
            if fault.header_trickle_s:
                self._trickle_headers(fault)
                return
            if fault.filler:
                self._fill(fault)
                return
            self._deliver(word_fault(self.owner, wire, request, fault), fault)
        except OSError:
            self.owner.left()
            self.close_connection = True

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - as in the base class
        """Say nothing: tests read standard error."""

    def _trickle_headers(self, fault: Fault) -> None:
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not self.owner.is_closing:
            for byte in b"x-more: and more\r\n":
                self.wfile.write(bytes([byte]))
                self.owner.wait(fault.header_trickle_s)

    def _fill(self, fault: Fault) -> None:
        """A stream that never ends; it stops when the client has closed the connection."""
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        while not self.owner.is_closing:
            self.wfile.write(fault.filler)

    def _deliver(self, answer: Answer, fault: Fault) -> None:
        if fault.ending == "whole" or fault.share:
            self._send(answer, fault)
        if fault.ending == "whole":
            return
        self.close_connection = True
        if fault.ending == "stalled":
            self.owner.wait(60.0)
        if fault.ending == "held" and not self.request.recv(1):
            self.owner.left()
        if fault.ending == "reset":
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(self.request.detach())  # with nothing to linger for: a reset

    def _send(self, answer: Answer, fault: Fault) -> None:
        size = sum(map(len, answer.pieces))
        kind = "text/event-stream" if answer.is_stream else _JSON
        length = {"transfer-encoding": "chunked"} if answer.is_stream else {"content-length": str(size)}
        self.send_response(answer.status)
        for name, value in ({"content-type": kind} | dict(answer.headers) | length).items():
            self.send_header(name, value)
        self.end_headers()
        for piece in _pieces(answer, int(size * fault.share), fault):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if answer.is_stream else piece)
            self.owner.sent(piece)
            self.owner.wait(fault.trickle_s)
        if answer.is_stream and fault.ending == "whole":
            self.wfile.write(b"0\r\n\r\n")


def word_fault(owner: ModelServer, wire: Wire, request: Request, fault: Fault) -> Answer:
    """The answer as the wire words it, or what stands in its place."""
    if fault.body is not None:
        return Answer(fault.status, [fault.body], fault.headers)
    if fault.failure is not None:
        return Answer(fault.status, [_json(wire.error(fault.failure))], fault.headers)
    if fault.oddity is not None:
        return Answer(200, [_json(wire.odd(fault.oddity))])
    arrives = fault.ending in {"whole", "held"} and not fault.delay_s
    reply = owner.answer(request) if arrives else _LOST
    if isinstance(reply, Failure):
        return Answer(reply.status, [_json(wire.error(reply))])
    if owner.streams(request):
        events = [_rewrite(event.encode(), fault) for event in wire.events(reply, request.body)]
        return Answer(200, [event for at, event in enumerate(events) for _ in range(1 + (at in fault.twice))])
    return Answer(200, [_rewrite(_json(wire.whole(reply)), fault)])


def _rewrite(body: bytes, fault: Fault) -> bytes:
    return re.sub(*fault.rewrite, body) if fault.rewrite else body


def _pieces(answer: Answer, size: int, fault: Fault) -> Iterator[bytes]:
    """The first `size` bytes of the body, piece by piece; single bytes where it trickles."""
    for piece in answer.pieces:
        remaining = piece[: max(0, size)]
        size -= len(remaining)
        if fault.trickle_s:
            yield from (bytes([byte]) for byte in remaining)
        elif remaining:
            yield remaining


def _json(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body).encode()
