"""The channels to one kernel: Jupyter messages out, and only the well-formed ones in.

A kernel that breaks the protocol or the limits of a channel loses that channel. Only the output channel can be
connected again, at any time.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from sandbox.isolation.bubblewrap import move_to_high_fd
from sandbox.policy import MIB, Policy
from sandbox.protocol.messages import Messages, Received
from sandbox.protocol.zmtp import Connection, Limits

CHANNELS = ("shell", "control", "iopub", "stdin")
_WELCOME_S = 2.0
_RESUBSCRIBE_S = 0.1


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
        self._open: dict[str, Connection] = {}  # connected when first used: few sessions need all
        self.is_muted = False
        self.shell, self.output = self._connect("shell"), self._connect("iopub")

    @property
    def stdin(self) -> Connection:
        return self._open.get("stdin") or self._connect("stdin")

    @property
    def fault(self) -> str | None:
        """The protocol violation of the kernel on a required channel, if any."""
        known = (self._open.get(name) for name in ("shell", "stdin", "control"))
        return next((each.fault for each in known if each is not None and each.fault), None)

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

    def cancel_interrupt(self) -> None:
        """Drop an interrupt that the kernel has not received yet: it would end a later cell."""
        control = self._open.get("control")
        if control is not None and control.events(wanted=False):
            self._open.pop("control").close()

    def receive(self, channel: Connection) -> Received | None:
        """The next message, which may be MALFORMED; None if none has arrived completely."""
        parts = channel.receive()
        return None if parts is None else self._messages.read(parts)

    def poll(
        self, wanted: Collection[Connection], descriptors: Collection[int], seconds: float
    ) -> set[Connection | int]:
        """Which of them become readable within this time. Sends and handshakes on other channels continue."""
        ready: set[Connection | int] = {channel for channel in wanted if channel.may_have_message}
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

    def _connect(self, name: str) -> Connection:
        kind: Literal["SUB", "DEALER"] = "SUB" if name == "iopub" else "DEALER"
        self._open[name] = Connection(self._paths[name], kind, self._limits[name], self._identity)
        return self._open[name]


def _limits(policy: Policy) -> dict[str, Limits]:
    reply = Limits(8 * MIB, 64)
    return {
        "shell": reply,
        "control": reply,
        "iopub": Limits(2 * policy.figure_bytes + 8 * MIB, 64),
        "stdin": Limits(policy.host_bytes + 8 * MIB, 10_000),  # images and bytes are one part each
    }
