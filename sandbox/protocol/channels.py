"""The sockets to one kernel: Jupyter messages out, and only the well-formed ones of the right parent in.

A message over the size limit makes ZeroMQ give up the connection, and a flood is cut off by giving it up: the
output channel can be made anew at any time.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sandbox.isolation.bubblewrap import high
from sandbox.policy import MIB, Policy

if TYPE_CHECKING:
    import zmq

    Channel: TypeAlias = zmq.Socket[bytes]
    Context: TypeAlias = zmq.Context[Channel]

CHANNELS = ("shell", "control", "iopub", "stdin")
_DELIMITER = b"<IDS|MSG>"  # between the route of a message and the message
_WELCOME_S = 2.0
_AGAIN_MS = 100
_MOST_PARTS = 1_200_000  # more than a piece of text can have (guest/streams.py)
_QUEUED = 2  # messages the host holds unread; the kernel drops or queues the others in its own memory


class Listeners:
    """Unix sockets on which the host listens and which the kernel adopts: no writable folder is shared."""

    def __init__(self, paths: dict[str, Path]) -> None:
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
    return socket.socket(fileno=high(socket.socket(socket.AF_UNIX).detach()))


@dataclass(frozen=True, slots=True)
class Received:
    """A message whose signature and shape are right. All of it is still a guest's to choose."""

    kind: str
    parent: str | None  # the identity of the request that it belongs to
    content: dict[str, Any]
    buffers: Sequence[bytes] = ()


class Channels:
    """Not for several threads at once."""

    def __init__(self, context: Context, addresses: dict[str, str], key: str, policy: Policy) -> None:
        import zmq
        from jupyter_client.session import Session

        self._context = context
        self._addresses = addresses
        self._largest = 2 * policy.figure_bytes + 8 * MIB
        self._session = Session(key=key.encode(), username="host")
        self._identity = (
            os.urandom(8).hex().encode()
        )  # one for shell and stdin: so a kernel knows whom to ask
        self.shell = self._connect(zmq.DEALER, "shell")
        self.output = self._connect(zmq.SUB, "iopub")
        self.is_mute = False
        self._later: dict[str, Channel] = {}  # few sessions need them, and each takes two descriptors

    @property
    def stdin(self) -> Channel:
        return self._later.get("stdin") or self._connect_later("stdin")

    @property
    def _control(self) -> Channel:
        return self._later.get("control") or self._connect_later("control")

    def send(
        self,
        channel: Literal["shell", "control", "stdin"],
        kind: str,
        content: dict[str, Any],
        buffers: Sequence[bytes] = (),
    ) -> str:
        """Returns the identity by which the answers name it as their parent.

        A message that the kernel takes no more, because it has closed its socket, is lost: its answer will be
        missed in due time.
        """
        import zmq

        to = self.shell if channel == "shell" else self._control if channel == "control" else self.stdin
        message = self._session.msg(kind, content)
        with contextlib.suppress(zmq.Again):
            self._session.send(to, message, buffers=list(buffers) or None)
        return str(message["header"]["msg_id"])

    def receive(self, channel: Channel) -> tuple[Received | None, int]:
        """The next message, None if it is malformed; with the number of bytes that came."""
        import zmq

        frames = channel.recv_multipart(zmq.NOBLOCK)
        size = sum(len(frame) for frame in frames)
        if _has_too_many_parts(frames):
            return None, size
        try:
            return self._read(frames), size
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
            return None, size  # made by a cell, not by ipykernel

    def _read(self, frames: Sequence[bytes]) -> Received | None:
        """Raises nearly anything. Jupyter's own reading would also make dates of texts, and warn of odd ones."""
        at = list(frames).index(_DELIMITER)
        signature, signed, buffers = frames[at + 1], list(frames[at + 2 : at + 6]), frames[at + 6 :]
        if not hmac.compare_digest(self._session.sign(signed), signature):
            return None
        header, parent, _, content = (json.loads(each) for each in signed)
        kind, identity = header["msg_type"], parent.get("msg_id")
        if not isinstance(kind, str) or not isinstance(content, dict):
            return None
        return Received(kind, identity if isinstance(identity, str) else None, content, buffers)

    def wait_for_welcome(self) -> bool:
        """Until the kernel knows that its output is wanted: what it says from then on is not lost."""
        asked = time.monotonic()
        end = asked + _WELCOME_S
        while (now := time.monotonic()) < end:
            said = self.output.recv_multipart() if self.output.poll(_AGAIN_MS) else ()
            if any(b"iopub_welcome" in frame[:4096] for frame in said):
                return True
            if now - asked > _AGAIN_MS / 1000:
                self.output.subscribe(os.urandom(4))  # one that comes while ipykernel sends can be overlooked
                asked = now
        return False

    def renew_output(self) -> bool:
        """Forget what the output channel holds and may still bring, and connect it anew, if the kernel still does."""
        import zmq

        self.output.close(linger=0)
        self.output = self._connect(zmq.SUB, "iopub")
        self.is_mute = False
        return self.wait_for_welcome()

    def mute(self) -> None:
        """Take no more output: the kernel drops it at its own cost, until `renew_output`."""
        self.output.close(linger=0)
        self.is_mute = True

    def close(self) -> None:
        for channel in (self.shell, self.output, *self._later.values()):
            channel.close(linger=0)

    def _connect_later(self, channel: str) -> Channel:
        import zmq

        self._later[channel] = self._connect(zmq.DEALER, channel)
        return self._later[channel]

    def _connect(self, kind: int, channel: str) -> Channel:
        import zmq

        connected: Channel = self._context.socket(kind)
        connected.setsockopt(zmq.LINGER, 0)
        connected.setsockopt(zmq.SNDTIMEO, 0)  # without a peer it would wait for ever
        connected.setsockopt(zmq.MAXMSGSIZE, self._largest)
        connected.setsockopt(zmq.RCVHWM, _QUEUED)
        if kind == zmq.SUB:
            connected.setsockopt(zmq.SUBSCRIBE, b"")
        else:
            connected.setsockopt(zmq.IDENTITY, self._identity)
        connected.connect(self._addresses[channel])
        return connected


def _has_too_many_parts(frames: Sequence[bytes]) -> bool:
    """A few megabytes of `{},{},…` would become a gigabyte of objects."""
    return any(
        len(frame) > MIB and sum(frame.count(mark) for mark in (b",", b"{", b"[")) > _MOST_PARTS
        for frame in frames
    )
