"""Targets: raw ZMTP data and signed Jupyter messages from a kernel, and the answers of the zygote."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import socket
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.fuzz.campaign import Read, Target
from sandbox.errors import KernelStartError
from sandbox.policy import Policy
from sandbox.protocol.channels import Channel
from sandbox.protocol.collect import Collector, cell_error
from sandbox.protocol.messages import Messages
from sandbox.protocol.trace import TraceCollector
from sandbox.protocol.zmtp import Frame, MessageLimits, encode
from sandbox.runtime.zygote import parse_answer

_GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01NULL".ljust(55, b"\0")
_READY = b"\x04\x06\x05READY"
_LIMITS = MessageLimits(message_bytes=100_000, parts=64)
_KEY = "key"
_END = b"\0\xff\0"  # between the parts of a message
_KINDS = (
    "stream",
    "display_data",
    "execute_result",
    "error",
    "status",
    "trace",
    "execute_reply",
    "host_call",
)
_STRINGS = ("", "stdout", "image/png", "text/plain", "idle", "a\nb", "\ud800", "😀", "x" * 5_000, "__bytes__")
_KEYS = (
    *("name", "text", "data", "ename", "evalue", "traceback", "execution_state", "events", "omitted", "kind"),
    *("cell", "line", "depth", "function", "source", "value", "changes", "status", "image/png", "text/plain"),
)
_VALUES: tuple[object, ...] = (
    "no such file",
    "",
    7,
    0,
    -1,
    2**70,
    1.5,
    None,
    True,
    [],
    {},
    [[]],
    {"failed": 1},
)


def _conversation(random: Random) -> bytes:
    """Everything that a well-behaved peer sends."""
    messages = [
        [random.randbytes(random.choice((0, 1, 40, 255, 256, 3_000))) for _ in range(random.randint(1, 8))]
        for _ in range(random.randint(0, 5))
    ]
    return _GREETING + _READY + b"".join(bytes(each) for message in messages for each in encode(message))


@contextmanager
def _open_connection() -> Iterator[Read]:
    """Reads what a peer sends over a real socket, in pieces; the result must respect the limits."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, socket.socket(socket.AF_UNIX) as listening:
        path = Path(folder) / "socket"
        listening.bind(str(path))
        listening.listen()

        def read(data: bytes) -> None:
            connection = Channel(path, "DEALER", _LIMITS, b"host")
            peer, _ = listening.accept()
            with peer:
                try:
                    for piece in _pieces(data):
                        _deliver(peer, piece, connection)
                finally:
                    connection.close()

        yield read


def _deliver(peer: socket.socket, data: bytes, connection: Channel) -> None:
    rest = memoryview(data)
    os.set_blocking(peer.fileno(), False)
    while rest and connection.is_open:
        rest = rest[peer.send(rest[:50_000]) :]
        _receive_all(connection)


def _receive_all(connection: Channel) -> None:
    while True:
        message = connection.receive()
        if message is not None:
            assert 0 < len(message) <= _LIMITS.parts
            assert sum(map(len, message)) <= _LIMITS.message_bytes
        elif connection.is_drained:
            return


def _pieces(data: bytes) -> Sequence[bytes]:
    """Reproducible pieces of the data."""
    random = Random(zlib.crc32(data))
    ends = sorted(random.randint(0, len(data)) for _ in range(random.choice((0, 0, 1, 5))))
    return [data[start:end] for start, end in zip([0, *ends], [*ends, len(data)], strict=True) if start < end]


def _message(random: Random) -> bytes:
    """The signed parts of a message and its buffers."""
    kind = random.choice(_KINDS)
    content = {random.choice(_KEYS): _value(random, 0) for _ in range(random.randint(0, 6))}
    parts = [{"msg_type": kind}, {"msg_id": "1"}, {}, content]
    buffers = [random.randbytes(random.randint(0, 50)) for _ in range(random.choice((0, 0, 1, 3)))]
    return _END.join([*(json.dumps(part).encode() for part in parts), *buffers])


def _value(random: Random, level: int) -> Any:
    match random.choice(("plain", "string", "number", "list", "dict")[: 3 if level > 4 else 5]):
        case "list":
            return [_value(random, level + 1) for _ in range(random.randint(0, 4))]
        case "dict":
            return {random.choice(_KEYS): _value(random, level + 1) for _ in range(random.randint(0, 4))}
        case "number":
            return random.choice((random.randint(-(2**70), 2**70), random.random(), 0, 1))
        case "string":
            return random.choice(_STRINGS)
    return random.choice((None, True, False))


@contextmanager
def _open_messages() -> Iterator[Read]:
    """Reads a message with a valid signature, and processes it like the output of a cell."""
    policy = Policy()
    messages = Messages(_KEY)

    def read(data: bytes) -> None:
        signed, buffers = data.split(_END)[:4], data.split(_END)[4:]
        mac = hmac.new(_KEY.encode(), b"".join(signed), hashlib.sha256).hexdigest().encode()
        frames: list[Frame] = [b"topic", b"<IDS|MSG>", mac, *signed, *buffers]
        received = messages.read(frames)
        collector, tracer = Collector(policy), TraceCollector(policy)
        collector.add(received.kind, received.content)
        tracer.add(received.content)
        cell_error(received.content)
        assert sum(len(str(output)) for output in collector.outputs()) <= len(data) + policy.output_chars
        tracer.trace()

    yield read


def _answer(random: Random) -> bytes:
    kind = random.choice(("object", "value", "deep"))
    if kind == "deep":
        depth = random.randrange(5_000)
        return b"[" * depth + b"]" * depth
    if kind == "value":
        return json.dumps(random.choice(_VALUES)).encode()
    return json.dumps({random.choice(("failed", "landlock", "x")): random.choice(_VALUES)}).encode()


@contextmanager
def _open_zygote() -> Iterator[Read]:
    def read(data: bytes) -> None:
        with suppress(KernelStartError):
            parse_answer(data)

    yield read


ZMTP = Target("zmtp", _conversation, _open_connection)
MESSAGES = Target("messages", _message, _open_messages)
ZYGOTE = Target("zygote", _answer, _open_zygote)
