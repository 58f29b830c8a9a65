"""The sockets to one kernel: Jupyter messages out, and only the well-formed ones of the right parent in.

The output channel is subscribed to anew for each cell. So nothing said between cells is ever received, and
a message over the size limit, after which ZeroMQ gives up a connection, costs one cell's output and no more.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sandbox.jail import high
from sandbox.policy import MIB, Policy

if TYPE_CHECKING:
    import zmq

    Channel: TypeAlias = zmq.Socket[bytes]

CHANNELS = ("shell", "control", "iopub")
_WELCOME_S = 2.0
_QUEUED = 16  # messages the host holds unread; the kernel queues the others in its own memory


class Listeners:
    """Unix sockets on which the host listens and which the kernel adopts: no writable folder is shared."""

    def __init__(self, folder: Path) -> None:
        self.addresses = {channel: f"ipc://{folder / channel}" for channel in CHANNELS}
        self._sockets = {channel: _high_socket() for channel in CHANNELS}
        for channel, listening in self._sockets.items():
            listening.bind(str(folder / channel))
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


class Wire:
    """Not for several threads at once."""

    def __init__(self, addresses: dict[str, str], key: str, policy: Policy) -> None:
        import zmq
        from jupyter_client.session import Session

        self._addresses = addresses
        self._largest = 2 * policy.figure_bytes + 16 * MIB
        self._session = Session(key=key.encode(), username="host")
        self._context: zmq.Context[Channel] = zmq.Context()
        self.shell = self._connect(zmq.DEALER, "shell")
        self._control = self._connect(zmq.DEALER, "control")

    def send(self, channel: Literal["shell", "control"], kind: str, content: dict[str, Any]) -> str:
        """Returns the identity by which `receive` knows the answers."""
        message = self._session.msg(kind, content)
        self._session.send(self.shell if channel == "shell" else self._control, message)
        return str(message["header"]["msg_id"])

    def receive(self, channel: Channel, parent: str) -> tuple[str, dict[str, Any]] | None:
        """Kind and content of the next message; None if it answers another request or is malformed."""
        import zmq

        frames = channel.recv_multipart(zmq.NOBLOCK)
        try:
            _, parts = self._session.feed_identities(frames)
            message = self._session.deserialize(parts)
            if message["parent_header"].get("msg_id") != parent:
                return None
            kind, content = message["msg_type"], message["content"]
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            return None  # made by a cell, not by ipykernel
        return (kind, content) if isinstance(kind, str) and isinstance(content, dict) else None

    @contextmanager
    def output(self) -> Iterator[Channel]:
        """The output channel from now on."""
        import zmq

        iopub = self._connect(zmq.SUB, "iopub")
        try:
            end = time.monotonic() + _WELCOME_S
            while iopub.poll(max(0, int((end - time.monotonic()) * 1000))):
                if any(b"iopub_welcome" in frame[:4096] for frame in iopub.recv_multipart()):
                    break  # what the cell says is not lost any more
            yield iopub
        finally:
            iopub.close(linger=0)

    def close(self) -> None:
        self._context.destroy(linger=0)

    def _connect(self, kind: int, channel: str) -> Channel:
        import zmq

        connected: Channel = self._context.socket(kind)
        connected.setsockopt(zmq.LINGER, 0)
        connected.setsockopt(zmq.MAXMSGSIZE, self._largest)
        connected.setsockopt(zmq.RCVHWM, _QUEUED)
        if kind == zmq.SUB:
            connected.setsockopt(zmq.SUBSCRIBE, b"")
        connected.connect(self._addresses[channel])
        return connected
