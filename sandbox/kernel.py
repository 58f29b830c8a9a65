"""One Jupyter kernel in its room: started, asked, interrupted and ended."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sandbox.errors import KernelStartError
from sandbox.jail import GUEST_FOLDER, Jail, Mount, high
from sandbox.room import Room
from sandbox.wire import Listeners, Wire

if TYPE_CHECKING:
    from sandbox.wire import Channel

Ending: TypeAlias = Literal["replied", "died", "late", "woken"]
OnOutput: TypeAlias = Callable[[str, dict[str, Any]], None]

_IDLE_GRACE_S = 2.0  # between the reply and the end of the output
_WAKE_UP_S = 1.0  # a Ctrl-C that Linux gives to another thread is seen no later than this
_GUEST = Path(__file__).parent / "guest"
_BOOT = f"import sys; sys.path.insert(0, {str(Path(GUEST_FOLDER).parent)!r}); import guest.__main__"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a kernel starts: in a room of `jail` with these mounts, as user `uid` if the caller is root."""

    jail: Jail
    mounts: tuple[Mount, ...]
    uid: int


class Kernel:
    """A live kernel. Not for several threads at once."""

    def __init__(self, room: Room, wire: Wire) -> None:
        self._room = room
        self._wire = wire

    @classmethod
    def start(cls, place: Place, folder: Path) -> Kernel:
        """Build a room and boot a kernel in it; `folder` gets its sockets. Raises KernelStartError."""
        policy = place.jail.policy
        deadline = time.monotonic() + policy.start_timeout_s
        key = os.urandom(32).hex()
        listeners = Listeners(folder)
        wire = Wire(listeners.addresses, key, policy)
        try:
            kernel = cls(_open_room(place, listeners, key), wire)
        except BaseException:  # also on Ctrl-C
            wire.close()
            raise
        finally:
            listeners.close()
        try:
            kernel._wait_until_ready(deadline)
        except BaseException:  # also on Ctrl-C: nobody else knows of it yet
            kernel.close()
            raise
        return kernel

    def is_alive(self) -> bool:
        return self._room.is_alive()

    def request(self, kind: str, content: dict[str, Any], deadline: float) -> tuple[Ending, dict[str, Any]]:
        """Send on the shell channel and wait for the reply; what the kernel shows meanwhile is dropped."""
        exchange = Exchange(self._wire, self._room, self._wire.send("shell", kind, content))
        return exchange.wait(deadline), exchange.reply or {}

    @contextmanager
    def execute(self, code: str, on_output: OnOutput) -> Iterator[Exchange]:
        """Start a cell, to be waited for inside the `with` block."""
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        with self._wire.output() as channel:
            identity = self._wire.send("shell", "execute_request", content)
            yield Exchange(self._wire, self._room, identity, channel, on_output)

    def interrupt(self) -> None:
        """Ask for a KeyboardInterrupt in the cell; it need not obey."""
        self._wire.send("control", "interrupt_request", {})

    def kill(self) -> None:
        """End the room from any thread; `close` is still to come."""
        self._room.kill()

    def close(self) -> None:
        """End the room and everything in it. Twice is once."""
        self._room.close()
        self._wire.close()

    def _wait_until_ready(self, deadline: float) -> None:
        ending, _ = self.request("kernel_info_request", {}, deadline)
        if ending == "died":
            words = self._room.last_words() or "it said nothing"
            raise KernelStartError(f"the kernel ended while it started: {words}")
        if ending != "replied":
            raise KernelStartError("the kernel did not answer in time; raise Policy.start_timeout_s")


class Exchange:
    """One request: its reply, and the output on the way if there is a channel for it."""

    def __init__(
        self,
        wire: Wire,
        room: Room,
        identity: str,
        channel: Channel | None = None,
        on_output: OnOutput | None = None,
    ) -> None:
        self._wire = wire
        self._room = room
        self._identity = identity
        self._channel = channel
        self._on_output = on_output
        self._replied_at = 0.0
        self.reply: dict[str, Any] | None = None
        self.complete = channel is None  # whether all of the output came

    def wait(self, deadline: float, wake: int | None = None) -> Ending:
        """Until the reply and the end of the output, the kernel's death, `deadline` (monotonic) or `wake`."""
        poller = self._poller(wake)
        while True:
            left = self._limit(deadline) - time.monotonic()
            if left <= 0:
                return "late" if self.reply is None else "replied"
            ready = {source for source, _ in poller.poll(min(left, _WAKE_UP_S) * 1000)}
            spoken = self._read(ready)
            if self.reply is not None and self.complete:
                return "replied"
            if wake in ready:
                return "woken"
            if self._room.init in ready and not spoken:
                return "died"  # and nothing that it said is left

    def _limit(self, deadline: float) -> float:
        return deadline if self.reply is None else self._replied_at + _IDLE_GRACE_S

    def _poller(self, wake: int | None) -> Any:
        import zmq

        poller = zmq.Poller()
        for source in (self._wire.shell, self._channel, self._room.init, wake):
            if source is not None:
                poller.register(source, zmq.POLLIN)
        return poller

    def _read(self, ready: set[Any]) -> bool:
        """At most one message of each channel, so that a flood of output cannot hide the deadline."""
        if self._channel in ready:
            assert self._channel is not None
            self._take_output(self._wire.receive(self._channel, self._identity))
        if self._wire.shell in ready:
            answer = self._wire.receive(self._wire.shell, self._identity)
            if answer and self.reply is None:
                self.reply, self._replied_at = answer[1], time.monotonic()
        return self._channel in ready or self._wire.shell in ready

    def _take_output(self, message: tuple[str, dict[str, Any]] | None) -> None:
        match message:
            case ("status", {"execution_state": "idle"}):
                self.complete = True
            case (kind, content) if self._on_output:
                self._on_output(kind, content)


def _open_room(place: Place, listeners: Listeners, key: str) -> Room:
    setup = _readable(_setup(place.jail, listeners, key))
    try:
        payload = (place.jail.interpreter.executable, "-I", "-c", _BOOT, str(setup))
        mounts = (Mount(_GUEST, GUEST_FOLDER), *place.mounts)
        descriptors = (setup, *listeners.descriptors.values())
        return Room.open(place.jail, mounts, place.uid, payload, descriptors)
    finally:
        os.close(setup)


def _readable(data: bytes) -> int:
    """A descriptor from which `data` can be read; it must fit into a pipe, which holds 64 KiB."""
    read, write = os.pipe()
    try:
        os.write(write, data)
    finally:
        os.close(write)
    return high(read)


def _setup(jail: Jail, listeners: Listeners, key: str) -> bytes:
    policy = jail.policy
    setup = {
        "key": key,
        "sockets": listeners.descriptors,
        "packages": jail.interpreter.packages,
        "figure_pixels": policy.figure_pixels,
        "limits": {
            "RLIMIT_AS": policy.memory_bytes,
            "RLIMIT_NPROC": policy.processes,
            "RLIMIT_FSIZE": policy.file_bytes,
            "RLIMIT_CORE": 0,
        },
    }
    return json.dumps(setup).encode()
