"""The bytes of ZMTP 3.0, the protocol of ZeroMQ: parse those of an untrusted peer, and encode our own.

Covered: a message that breaks the protocol or exceeds its limits is refused before it is held in memory.
Not covered: the socket (channels.py) and the content of a message (messages.py).

ZMTP 3.0 is https://rfc.zeromq.org/spec/23/. It has no PING, so every command after the handshake is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Frame: TypeAlias = bytes | bytearray

_MORE, _LONG, _COMMAND = 1, 2, 4  # the flags of a frame; the others are reserved
_GREETING_BYTES = 64
_GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
_MECHANISM = slice(12, 32)
_READY = b"\x05READY"
_READY_BYTES = 512
_SMALL_BYTES = 16 * 1024  # parts that are copied into one piece to be sent together


class ProtocolError(Exception):
    """The peer broke the protocol or a limit. The message is one line."""


@dataclass(frozen=True, slots=True)
class MessageLimits:
    """The limits of one message."""

    message_bytes: int
    parts: int


class Incoming:
    """Parses the bytes of a peer: its greeting, READY, then messages. Unusable after a ProtocolError."""

    def __init__(self, limits: MessageLimits) -> None:
        self.is_ready = False
        self._limits = limits
        self._has_greeting = False
        self._data, self._at = b"", 0  # received but not yet parsed, and the position in it
        self._parts: list[Frame] = []  # of the current message
        self._size = 0
        self._body: bytearray | None = None  # of the current frame
        self._flags = self._missing = 0
        self.may_have_message = False  # whether `next_message` can return one without more data

    def feed(self, data: bytes) -> None:
        """Add the next bytes that were received."""
        self.may_have_message = True
        if self._body is None:
            self._data, self._at = self._data[self._at :] + data, 0
            return
        self._body += data[: self._missing]  # nothing is unparsed: the current frame took all of it
        self._data, self._at = data, min(self._missing, len(data))
        self._missing -= self._at

    def next_message(self) -> list[Frame] | None:
        """The next message, or None if it is not complete yet. Raises ProtocolError."""
        if self.finish_handshake():
            while (body := self._next_frame()) is not None:
                if self._flags & _COMMAND:
                    raise ProtocolError("a command after the handshake")
                self._parts.append(body)
                if not self._flags & _MORE:
                    return self._end_message()
        self.may_have_message = False
        return None

    def finish_handshake(self) -> bool:
        """Whether the peer's part of the handshake is complete. Raises ProtocolError."""
        if self.is_ready:
            return True
        if not self._has_greeting:
            if len(self._data) < _GREETING_BYTES:
                return False
            _check_greeting(self._data[:_GREETING_BYTES])
            self._has_greeting, self._at = True, _GREETING_BYTES
        if (command := self._next_frame()) is None:
            return False
        if self._flags & (_COMMAND | _MORE) != _COMMAND or not command.startswith(_READY):
            raise ProtocolError("no READY command")
        self._end_message()
        self.is_ready = True
        return True

    def _end_message(self) -> list[Frame]:
        parts, self._parts, self._size = self._parts, [], 0
        if self._at == len(self._data):
            self._data, self._at, self.may_have_message = b"", 0, False
        return parts

    def _next_frame(self) -> Frame | None:
        """The body of the next frame, with its flags in `_flags`."""
        if self._body is None:
            return self._begin_frame()
        if self._missing:
            return None
        body, self._body = self._body, None
        return body

    def _begin_frame(self) -> Frame | None:
        data, at = self._data, self._at
        if len(data) - at < 2:
            return None
        flags, size, start = data[at], data[at + 1], at + 2
        if flags > _MORE | _LONG | _COMMAND:
            raise ProtocolError(f"a frame with the flags {flags:#x}")
        if flags & _LONG:
            start = at + 9
            if len(data) < start:
                return None
            size = int.from_bytes(data[at + 1 : start], "big")
        self._count(size)
        self._flags, self._at = flags, start + size
        if len(data) >= self._at:
            return data[start : self._at]
        # It grows as data comes: a large size alone must not cost memory.
        self._body, self._missing = bytearray(data[start:]), self._at - len(data)
        self._data, self._at = b"", 0
        return None

    def _count(self, size: int) -> None:
        if len(self._parts) >= self._limits.parts:
            raise ProtocolError(f"a message of more than {self._limits.parts} parts")
        most = self._limits.message_bytes if self.is_ready else _READY_BYTES
        self._size += size
        if self._size > most:
            raise ProtocolError(f"a message of more than {most} bytes")


def encode(parts: Sequence[Frame]) -> list[Frame]:
    """A message as pieces to be sent one after the other; large parts are not copied."""
    pieces: list[Frame] = []
    small = bytearray()
    for at, part in enumerate(parts, 1):
        small += _header(_MORE if at < len(parts) else 0, len(part))
        if len(part) <= _SMALL_BYTES:
            small += part
            continue
        pieces += (small, part)
        small = bytearray()
    return [*pieces, small] if small else pieces


def _header(flags: int, size: int) -> bytes:
    if size < 256:
        return bytes((flags, size))
    return bytes((flags | _LONG,)) + size.to_bytes(8, "big")


def build_handshake(kind: Literal["DEALER", "SUB"], identity: bytes) -> bytes:
    """What this side sends first: the greeting and the READY command."""
    properties = ((b"Socket-Type", kind.encode()), (b"Identity", identity))
    body = _READY + b"".join(
        bytes((len(name),)) + name + len(value).to_bytes(4, "big") + value for name, value in properties
    )
    return _GREETING + _header(_COMMAND, len(body)) + body


def _check_greeting(greeting: bytes) -> None:
    if greeting[0] != 0xFF or greeting[9] != 0x7F or greeting[10] < 3:
        raise ProtocolError("no greeting of ZMTP 3")
    if greeting[_MECHANISM] != _GREETING[_MECHANISM]:
        raise ProtocolError("another security mechanism than NULL")
