"""The channels to one kernel: Jupyter messages out, and only the well-formed ones in.

A kernel that breaks the protocol or the limits of a channel loses that channel. The output channel alone can be
connected anew at any time.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from sandbox.isolation.bubblewrap import high
from sandbox.policy import MIB, Policy
from sandbox.protocol.messages import Messages, Received
from sandbox.protocol.zmtp import Connection, Limits

CHANNELS = ("shell", "control", "iopub", "stdin")
_WELCOME_S = 2.0
_AGAIN_S = 0.1


class Listeners:
    """Unix sockets on which the host listens and which the kernel adopts: no writable folder is shared."""

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
    return socket.socket(fileno=high(socket.socket(socket.AF_UNIX).detach()))


class Channels:
    """Not for several threads at once."""

    def __init__(self, paths: Mapping[str, Path], key: str, policy: Policy) -> None:
        self._paths = paths
        self._limits = _limits(policy)
        self._messages = Messages(key, self._limits["iopub"].message_bytes)
        self._identity = (
            os.urandom(8).hex().encode()
        )  # one for shell and stdin: so a kernel knows whom to ask
        self._open: dict[str, Connection] = {}  # few sessions need all of them
        self.is_mute = False
        self.shell, self.output = self._connect("shell"), self._connect("iopub")

    @property
    def stdin(self) -> Connection:
        return self._open.get("stdin") or self._connect("stdin")

    @property
    def fault(self) -> str | None:
        """What the kernel did wrong on a channel without which it is of no use."""
        known = (self._open.get(name) for name in ("shell", "stdin", "control"))
        return next((each.fault for each in known if each is not None and each.fault), None)

    def send(
        self,
        channel: Literal["shell", "control", "stdin"],
        kind: str,
        content: dict[str, Any],
        buffers: Sequence[bytes] = (),
    ) -> str:
        """Returns the identity by which the answers name it as their parent.

        A message that the kernel takes no more is lost: its answer will be missed in due time.
        """
        identity, parts = self._messages.write(kind, content, buffers)
        (self._open.get(channel) or self._connect(channel)).send(parts)
        return identity

    def withdraw_interrupt(self) -> None:
        """Forget one that the kernel has not taken yet: it would end a later cell."""
        control = self._open.get("control")
        if control is not None and control.events(wanted=False):
            self._open.pop("control").close()

    def receive(self, channel: Connection) -> Received | None:
        """The next message, which may be MALFORMED; None if it has not come in full."""
        parts = channel.receive()
        return None if parts is None else self._messages.read(parts)

    def poll(
        self, wanted: Collection[Connection], descriptors: Collection[int], seconds: float
    ) -> set[Connection | int]:
        """Those that have something to read now, or in time. What is under way on other channels goes on."""
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
        """Until the kernel knows that its output is wanted: what it says from then on is not lost."""
        asked = time.monotonic()
        end = asked + _WELCOME_S
        while (now := time.monotonic()) < end and self.output.is_open:
            if self.poll((self.output,), (), _AGAIN_S):
                message = self.receive(self.output)
                if message is not None and message.kind == "iopub_welcome":
                    return True
            if now - asked > _AGAIN_S:
                self.output.subscribe()  # one that comes while ipykernel sends can be overlooked
                asked = now
        return False

    def renew_output(self) -> bool:
        """Forget what the output channel holds and may still bring, and connect it anew, if the kernel still does."""
        self.output.close()
        self.output = self._connect("iopub")
        self.is_mute = False
        return self.wait_for_welcome()

    def mute(self) -> None:
        """Take no more output: the kernel drops it at its own cost, until `renew_output`."""
        self.output.close()
        self.is_mute = True

    def close(self) -> None:
        """Twice is once."""
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
        "stdin": Limits(policy.host_bytes + 8 * MIB, 10_000),  # with images and bytes, each a part
    }
