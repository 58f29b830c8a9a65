"""Connections of ZMTP: to a libzmq of this process, and to raw sockets that break the protocol."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import pytest
import zmq
from hypothesis import given
from hypothesis import strategies as st

from sandbox.protocol.channels import Channel
from sandbox.protocol.zmtp import Frame, Incoming, MessageLimits, ProtocolError, encode
from tests.sandbox.processes import wait_until

Bind: TypeAlias = Callable[[int, Path], zmq.Socket[bytes]]

_PATIENCE_S = 5.0
_LIMITS = MessageLimits(message_bytes=100_000, parts=20)
_LARGE = MessageLimits(message_bytes=2**25, parts=20)
_GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01NULL".ljust(55, b"\0")
_READY = b"\x04\x06\x05READY"
_MESSAGES = st.lists(st.lists(st.binary(max_size=400), min_size=1, max_size=20), max_size=5)


@pytest.fixture
def bind(short_temp: Path) -> Iterator[Bind]:
    """Makes a socket of libzmq that listens on this path."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    context.setsockopt(zmq.RCVTIMEO, int(_PATIENCE_S * 1000))

    made: list[zmq.Socket[bytes]] = []

    def bound(kind: int, path: Path) -> zmq.Socket[bytes]:
        made.append(context.socket(kind))
        made[-1].bind(f"ipc://{path}")
        return made[-1]

    yield bound
    context.destroy(linger=0)


@pytest.fixture
def listening(short_temp: Path) -> Iterator[tuple[Path, socket.socket]]:
    with socket.socket(socket.AF_UNIX) as raw:
        raw.bind(str(short_temp / "raw"))
        raw.listen()
        yield short_temp / "raw", raw


@pytest.fixture
def hostile(listening: tuple[Path, socket.socket]) -> Iterator[tuple[Channel, socket.socket]]:
    """A connection whose other end is in the hands of a test."""
    path, raw = listening
    connection = Channel(path, "DEALER", _LIMITS, b"me")
    peer, _ = raw.accept()
    yield connection, peer
    connection.close()
    peer.close()


def receive(connection: Channel) -> list[Frame]:
    """The next message, waited for."""
    got: list[list[Frame]] = []

    def came() -> bool:
        connection.advance()
        message = connection.receive()
        if message is not None:
            got.append(message)
        return bool(got) or not connection.is_open

    assert wait_until(came, _PATIENCE_S)
    assert got, connection.fault
    return got[0]


def settle(connection: Channel, until: Callable[[], bool]) -> None:
    def done() -> bool:
        connection.advance()
        return until()

    assert wait_until(done, _PATIENCE_S)


def fault_of(connection: Channel) -> str | None:
    """What a connection says once it is closed."""
    for _ in range(1000):
        assert connection.receive() is None
        if not connection.is_open or connection.is_drained:
            break
    return connection.fault


def read_all(data: bytes, cuts: list[int] = [], limits: MessageLimits = _LIMITS) -> list[list[Frame]]:  # noqa: B006
    """The messages in these bytes, which come in pieces that end there."""
    incoming = Incoming(limits)
    found = []
    for start, end in pairwise(sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})):
        incoming.feed(data[start:end])
        while (message := incoming.next_message()) is not None:
            found.append(message)
    return found


def test_a_message_reaches_a_router_of_libzmq(bind: Bind, short_temp: Path) -> None:
    router = bind(zmq.ROUTER, short_temp / "r")
    connection = Channel(short_temp / "r", "DEALER", _LARGE, b"me")
    connection.send([b"", b"a" * 255, b"b" * 256, b"c" * 300_000])
    settle(connection, lambda: not connection.events(wanted=False))
    assert router.recv_multipart() == [b"me", b"", b"a" * 255, b"b" * 256, b"c" * 300_000]
    connection.close()


def test_a_message_of_a_router_of_libzmq_arrives(bind: Bind, short_temp: Path) -> None:
    router = bind(zmq.ROUTER, short_temp / "r")
    connection = Channel(short_temp / "r", "DEALER", _LARGE, b"me")
    connection.send([b"hello"])
    settle(connection, lambda: bool(router.poll(0)))
    router.send_multipart([b"me", b"", b"a" * 255, b"b" * 256, b"c" * 10_000_000])
    assert receive(connection) == [b"", b"a" * 255, b"b" * 256, b"c" * 10_000_000]
    connection.close()


def test_a_subscriber_hears_a_publisher_of_libzmq(bind: Bind, short_temp: Path) -> None:
    publisher = bind(zmq.XPUB, short_temp / "p")
    connection = Channel(short_temp / "p", "SUB", _LIMITS, b"")
    settle(connection, lambda: bool(publisher.poll(0)))
    assert publisher.recv_multipart() == [b"\x01"]
    publisher.send_multipart([b"topic", b"news"])
    assert receive(connection) == [b"topic", b"news"]
    connection.close()


def test_a_renewed_subscription_reaches_a_verbose_publisher(bind: Bind, short_temp: Path) -> None:
    publisher = bind(zmq.XPUB, short_temp / "p")
    publisher.setsockopt(zmq.XPUB_VERBOSE, 1)
    connection = Channel(short_temp / "p", "SUB", _LIMITS, b"")
    connection.subscribe()
    settle(connection, lambda: bool(publisher.poll(0)))
    assert [publisher.recv(), publisher.recv()] == [b"\x01", b"\x01"]
    connection.close()


def test_many_messages_keep_their_order(bind: Bind, short_temp: Path) -> None:
    router = bind(zmq.ROUTER, short_temp / "r")
    connection = Channel(short_temp / "r", "DEALER", _LIMITS, b"me")
    connection.send([b"hello"])
    settle(connection, lambda: bool(router.poll(0)))
    for number in range(900):
        router.send_multipart([b"me", str(number).encode(), bytes(number)])
    assert [receive(connection)[0] for _ in range(900)] == [str(number).encode() for number in range(900)]
    connection.close()


def test_a_connection_without_a_listener_is_closed(short_temp: Path) -> None:
    connection = Channel(short_temp / "nobody", "DEALER", _LIMITS, b"me")
    assert not connection.is_open
    assert connection.receive() is None
    assert not connection.send([b"lost"])


def test_a_peer_that_leaves_closes_it_without_a_fault(hostile: tuple[Channel, socket.socket]) -> None:
    connection, peer = hostile
    peer.sendall(_GREETING + _READY + b"\x00\x02hi")
    peer.close()
    assert connection.receive() == [b"hi"]
    assert connection.receive() is None
    assert (connection.is_open, connection.fault) == (False, None)


def test_a_message_that_comes_byte_by_byte_is_read(hostile: tuple[Channel, socket.socket]) -> None:
    connection, peer = hostile
    got = []
    for byte in _GREETING + _READY + b"\x01\x01a\x02" + struct.pack(">Q", 300) + b"b" * 300:
        peer.sendall(bytes((byte,)))
        if (message := connection.receive()) is not None:
            got.append(message)
    assert got == [[b"a", b"b" * 300]]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"HTTP/1.1 200 OK".ljust(64), "no greeting of ZMTP 3"),
        (b"\xff" + bytes(8) + b"\x7f\x01".ljust(55, b"\0"), "no greeting of ZMTP 3"),
        (_GREETING.replace(b"NULL", b"PLAIN"), "another security mechanism"),
        (_GREETING + b"\x00\x06\x05READY", "no READY command"),
        (_GREETING + b"\x05\x06\x05READY", "no READY command"),
        (_GREETING + b"\x04\x06\x05ERROR", "no READY command"),
        (_GREETING + b"\x06" + struct.pack(">Q", 2**62), "more than 512 bytes"),
        (_GREETING + _READY + b"\x08\x00", "the flags 0x8"),
        (_GREETING + _READY + b"\x04\x05\x04PING", "a command after the handshake"),
        (_GREETING + _READY + b"\x02" + struct.pack(">Q", 2**63), "more than 100000 bytes"),
        (_GREETING + _READY + b"\x02" + struct.pack(">Q", 100_001), "more than 100000 bytes"),
        (_GREETING + _READY + b"\x01\x00" * 21, "more than 20 parts"),
        (_GREETING + _READY + (b"\x01\xff" + bytes(255)) * 19 + b"\x03" + b"\xff" * 8, "more than 100000"),
    ],
)
def test_a_peer_that_breaks_the_protocol_is_cut_off(
    hostile: tuple[Channel, socket.socket], data: bytes, fault: str
) -> None:
    connection, peer = hostile
    peer.sendall(data)
    assert fault in (fault_of(connection) or "")
    assert not connection.is_open


def test_messages_before_a_fault_are_read(hostile: tuple[Channel, socket.socket]) -> None:
    connection, peer = hostile
    peer.sendall(_GREETING + _READY + b"\x00\x02hi\xff\xff")
    assert connection.receive() == [b"hi"]
    assert connection.receive() is None
    assert not connection.is_open


def test_a_message_without_end_is_cut_off_at_the_limit(hostile: tuple[Channel, socket.socket]) -> None:
    connection, peer = hostile
    peer.setblocking(False)
    peer.send(_GREETING + _READY)
    flood = (b"\x03" + struct.pack(">Q", 9_000) + bytes(9_000)) * 10
    while connection.is_open:
        with suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
            peer.send(flood)
        connection.receive()
    assert connection.fault == "a message of more than 100000 bytes"
    assert connection.received < 500_000


def test_a_flood_of_commands_is_cut_off_at_the_first(hostile: tuple[Channel, socket.socket]) -> None:
    connection, peer = hostile
    peer.sendall(_GREETING + _READY * 10_000)
    assert fault_of(connection) == "a command after the handshake"


def test_half_a_frame_gives_nothing(hostile: tuple[Channel, socket.socket]) -> None:
    connection, peer = hostile
    peer.sendall(_GREETING + _READY + b"\x00\x40half of it")
    assert connection.receive() is None
    assert (connection.is_open, connection.may_have_message) == (True, False)


def test_what_is_not_asked_for_stays_with_the_peer(hostile: tuple[Channel, socket.socket]) -> None:
    connection, peer = hostile
    peer.setblocking(False)
    peer.send(_GREETING + _READY)
    connection.advance()
    with suppress(BlockingIOError):
        for _ in range(1000):
            peer.send(b"\x00\x02hi" * 10_000)
    before = connection.received
    connection.advance()
    assert connection.events(wanted=False) == 0
    assert connection.received == before


def test_a_peer_that_never_reads_does_not_block_the_sender(hostile: tuple[Channel, socket.socket]) -> None:
    connection, peer = hostile
    peer.sendall(_GREETING + _READY)
    connection.advance()
    assert connection.send([bytes(5_000_000)])
    assert not connection.send([b"lost"])


def test_what_could_not_be_sent_at_once_is_sent_later(bind: Bind, short_temp: Path) -> None:
    router = bind(zmq.ROUTER, short_temp / "r")
    connection = Channel(short_temp / "r", "DEALER", _LARGE, b"me")
    large = bytes(range(256)) * 30_000
    connection.send([b"a", large])
    settle(connection, lambda: not connection.events(wanted=False))
    connection.send([b"b"])
    settle(connection, lambda: bool(router.poll(0)))
    assert router.recv_multipart() == [b"me", b"a", large]
    assert router.recv_multipart() == [b"me", b"b"]
    connection.close()


def test_a_closed_connection_has_nothing_to_poll(hostile: tuple[Channel, socket.socket]) -> None:
    connection, _ = hostile
    connection.close()
    assert (connection.events(wanted=True), connection.is_drained) == (0, True)


@given(_MESSAGES, st.lists(st.integers(0, 3000), max_size=20))
def test_messages_come_out_as_they_went_in(messages: list[list[bytes]], cuts: list[int]) -> None:
    data = b"".join(bytes(piece) for message in messages for piece in encode(message))
    assert read_all(_GREETING + _READY + data, cuts) == messages


@given(st.binary(max_size=300), st.lists(st.integers(0, 400), max_size=20))
def test_how_data_is_cut_makes_no_difference(data: bytes, cuts: list[int]) -> None:
    def outcome(at: list[int]) -> list[list[Frame]] | str:
        try:
            return read_all(_GREETING + _READY + data, at)
        except ProtocolError as error:
            return str(error)

    assert outcome(cuts) == outcome([])


@given(st.lists(st.binary(max_size=200), max_size=30))
def test_whatever_comes_is_a_message_or_a_protocol_error(chunks: list[bytes]) -> None:
    incoming = Incoming(_LIMITS)
    incoming.feed(_GREETING + _READY)
    with suppress(ProtocolError):
        for chunk in chunks:
            incoming.feed(chunk)
            while (message := incoming.next_message()) is not None:
                assert 0 < len(message) <= _LIMITS.parts
                assert sum(map(len, message)) <= _LIMITS.message_bytes
