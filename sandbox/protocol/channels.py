"""The channels to one kernel: Jupyter messages out, and only the well-formed ones in, in bounded steps.

Covered: no call blocks or raises, whatever the kernel sends or omits. A step reads at most `_STEP_BYTES` and returns
at most one message. Bytes are read only while the caller asks for a message: the rest stays in the memory of the
kernel. A kernel that breaks the protocol or the limits of a channel loses that channel; only the output channel can be
connected again, at any time. Not covered: the number of messages (request.py).
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from sandbox.isolation.bubblewrap import move_to_high_fd
from sandbox.policy import MIB, Policy
from sandbox.protocol.messages import Messages, Received
from sandbox.protocol.zmtp import Frame, Incoming, MessageLimits, ProtocolError, build_handshake, encode

CHANNELS = ("shell", "control", "iopub", "stdin")
_WELCOME_S = 2.0
_RESUBSCRIBE_S = 0.1
_SUBSCRIBE = b"\x01"  # to everything
_STEP_BYTES = 256 * 1024
_MAX_UNSENT_BYTES = 2**20  # with more than this unsent, a message is dropped

_Result = TypeVar("_Result")


class Listeners:
    """Unix sockets on which the host listens and which the kernel inherits: no writable folder is shared."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._sockets = {channel: _high_socket() for channel in paths}
        for channel, listening in self._sockets.items():
            listening.bind(str(paths[channel]))
            listening.listen()
            os.set_blocking(listening.fileno(), False)

    @property
    def descriptors(self) -> dict[str, int]:
        return {channel: listening.fileno() for channel, listening in self._sockets.items()}

    def close(self) -> None:
        for listening in self._sockets.values():
            listening.close()


def _high_socket() -> socket.socket:
    return socket.socket(fileno=move_to_high_fd(socket.socket(socket.AF_UNIX).detach()))


class Channels:
    """The channels of one kernel. Not thread-safe."""

    def __init__(self, paths: Mapping[str, Path], key: str, policy: Policy) -> None:
        self._paths = paths
        self._limits = _limits(policy)
        self._messages = Messages(key, self._limits["iopub"].message_bytes)
        self._identity = (
            os.urandom(8).hex().encode()
        )  # the same for shell and stdin, so that a kernel can address its host calls
        self._open: dict[str, Channel] = {}  # connected when first used: few sessions need all
        self.is_muted = False
        self.fault: str | None = None  # the protocol violation of the kernel on a required channel
        self.shell, self.output = self._connect("shell"), self._connect("iopub")

    @property
    def stdin(self) -> Channel:
        return self._open.get("stdin") or self._connect("stdin")

    def send(
        self,
        channel: Literal["shell", "control", "stdin"],
        kind: str,
        content: dict[str, Any],
        buffers: Sequence[bytes] = (),
    ) -> str:
        """Send a message; returns its id, which the answers name as their parent.

        A message that the kernel does not accept is lost; the request then times out.
        """
        identity, parts = self._messages.write(kind, content, buffers)
        (self._open.get(channel) or self._connect(channel)).send(parts)
        return identity

    def receive(self, channel: Channel) -> Received | None:
        """The next message, which may be MALFORMED; None if none has arrived completely."""
        parts = channel.receive()
        if channel.fault and channel is not self.output:
            self.fault = channel.fault
        return None if parts is None else self._messages.read(parts)

    def poll(
        self, wanted: Collection[Channel], descriptors: Collection[int], seconds: float
    ) -> set[Channel | int]:
        """Which of them become readable within this time. Sends and handshakes on other channels continue."""
        ready: set[Channel | int] = {channel for channel in wanted if channel.may_have_message}
        poll = select.poll()
        for descriptor in descriptors:
            poll.register(descriptor, select.POLLIN)
        watched = {}
        for channel in self._open.values():
            if events := channel.events(wanted=channel in wanted):
                watched[channel.fileno()] = channel
                poll.register(channel, events)
        for descriptor, events in poll.poll(0 if ready else seconds * 1000):
            if descriptor not in watched:
                ready.add(descriptor)
                continue
            channel = watched[descriptor]
            channel.advance()
            if channel.fault and channel is not self.output:
                self.fault = channel.fault
            if channel in wanted and events & ~select.POLLOUT:
                ready.add(channel)
        return ready

    def wait_for_welcome(self) -> bool:
        """Wait until the kernel has accepted the subscription: no later output is lost."""
        subscribed_at = time.monotonic()
        end = subscribed_at + _WELCOME_S
        while (now := time.monotonic()) < end and self.output.is_open:
            if self.poll((self.output,), (), _RESUBSCRIBE_S):
                message = self.receive(self.output)
                if message is not None and message.kind == "iopub_welcome":
                    return True
            if now - subscribed_at > _RESUBSCRIBE_S:
                self.output.subscribe()  # ipykernel can miss a subscription that arrives while it sends
                subscribed_at = now
        return False

    def reconnect_output(self) -> bool:
        """Drop all messages of the output channel and connect it again; False if the kernel does not accept it."""
        self.output.close()
        self.output = self._connect("iopub")
        self.is_muted = False
        return self.wait_for_welcome()

    def mute(self) -> None:
        """Close the output channel: the kernel drops its output until `reconnect_output`."""
        self.output.close()
        self.is_muted = True

    def close(self) -> None:
        """Close every channel. May be called twice."""
        for channel in self._open.values():
            channel.close()

    def _connect(self, name: str) -> Channel:
        kind: Literal["SUB", "DEALER"] = "SUB" if name == "iopub" else "DEALER"
        self._open[name] = Channel(self._paths[name], kind, self._limits[name], self._identity)
        return self._open[name]


def _limits(policy: Policy) -> dict[str, MessageLimits]:
    reply = MessageLimits(8 * MIB, 64)
    return {
        "shell": reply,
        "control": reply,
        "iopub": MessageLimits(2 * policy.figure_bytes + 8 * MIB, 64),
        "stdin": MessageLimits(policy.host_bytes + 8 * MIB, 10_000),  # images and bytes are one part each
    }


class Channel:
    """One connection to a socket of the kernel, made immediately. Not thread-safe.

    If the peer closes it or breaks the protocol, it stays closed: nothing is received or sent any more.
    """

    def __init__(
        self, path: Path, kind: Literal["DEALER", "SUB"], limits: MessageLimits, identity: bytes
    ) -> None:
        self.received = 0  # bytes, so far
        self.is_open = False
        self.fault: str | None = None  # how the peer broke the protocol
        self._incoming = Incoming(limits)
        self._outgoing: deque[Frame | memoryview] = deque()  # held back until the handshake is complete
        self._unsent = 0
        self._is_drained = False
        self._socket: socket.socket | None = None
        self._connect(path, build_handshake(kind, identity))
        if kind == "SUB":
            self.subscribe()

    @property
    def is_drained(self) -> bool:
        """Whether the last attempt to receive found nothing to read."""
        return self._is_drained or self._socket is None

    @property
    def may_have_message(self) -> bool:
        """Whether `receive` can give one without waiting for the socket."""
        return self._socket is not None and self._incoming.may_have_message

    def fileno(self) -> int:
        """The descriptor of an open connection."""
        assert self._socket is not None
        return self._socket.fileno()

    def events(self, *, wanted: bool) -> int:
        """What to poll for: messages if they are wanted, and unfinished handshakes and sends."""
        if self._socket is None:
            return 0
        if not self._incoming.is_ready:
            return select.POLLIN
        return (select.POLLIN if wanted else 0) | (select.POLLOUT if self._outgoing else 0)

    def advance(self) -> None:
        """Continue the handshake and pending sends, without blocking."""
        if not self._incoming.is_ready and self._read():
            self._step(self._incoming.finish_handshake)
        self._flush()

    def send(self, parts: Sequence[Frame]) -> bool:
        """Queue a message and send what is possible now; False if it is dropped because the peer does not read."""
        if self._socket is None or self._unsent > _MAX_UNSENT_BYTES:
            return False
        pieces = encode(parts)
        self._outgoing += pieces
        self._unsent += sum(map(len, pieces))
        self._flush()
        return True

    def subscribe(self) -> None:
        """Subscribe to every message of a publisher."""
        self.send([_SUBSCRIBE])

    def receive(self) -> list[Frame] | None:
        """The next message, or None if it is not complete yet."""
        message = self._step(self._incoming.next_message) if self._incoming.may_have_message else None
        if message is None and self._read():
            message = self._step(self._incoming.next_message)
            if self._outgoing:
                self._flush()
        return message

    def close(self) -> None:
        """Close it and drop what is unread or unsent. May be called twice."""
        if self._socket is not None:
            self._socket.close()
            self._socket, self.is_open = None, False
            self._incoming = Incoming(MessageLimits(0, 0))
            self._outgoing.clear()

    def _connect(self, path: Path, handshake: bytes) -> None:
        connecting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            connecting.connect(str(path))
            connecting.send(handshake, socket.MSG_NOSIGNAL)
        except OSError:  # no listener, or its backlog is full
            connecting.close()
        else:
            self._socket, self.is_open = connecting, True

    def _step(self, step: Callable[[], _Result]) -> _Result | None:
        try:
            return step()
        except ProtocolError as error:
            self.fault = str(error)
            self.close()
            return None

    def _read(self) -> bool:
        """Whether anything was received."""
        if self._socket is None:
            return False
        try:
            data = self._socket.recv(_STEP_BYTES)
        except BlockingIOError:
            self._is_drained = True
            return False
        except OSError:
            data = b""
        if not data:
            self.close()
            return False
        self._is_drained = False
        self.received += len(data)
        self._incoming.feed(data)
        return True

    def _flush(self) -> None:
        while self._outgoing and self._socket is not None and self._incoming.is_ready:
            first = self._outgoing[0]
            try:
                sent = self._socket.send(first, socket.MSG_NOSIGNAL)
            except BlockingIOError:
                return
            except OSError:
                self.close()
                return
            self._unsent -= sent
            if sent == len(first):
                self._outgoing.popleft()
            else:
                self._outgoing[0] = memoryview(first)[sent:]
