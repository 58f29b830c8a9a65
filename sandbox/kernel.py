"""One Jupyter kernel in its room: started, asked, interrupted and ended."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox.calls import Calls
from sandbox.errors import KernelStartError
from sandbox.exchange import Ending, Exchange, Line, OnOutput
from sandbox.jail import WORK_FOLDER
from sandbox.policy import Policy
from sandbox.wire import CHANNELS, Listeners, Wire

if TYPE_CHECKING:
    from sandbox.cgroup import Group
    from sandbox.room import Room
    from sandbox.template import Template
    from sandbox.wire import Context

_DUMP_S = 0.5
_INNERMOST = re.compile(rb'^  File "<cell \d+>", line (\d{1,9}) in', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a kernel starts: with these images; the private folder for its sockets and its group are its own."""

    images: Path
    sockets: Path
    context: Context
    mounts: tuple[str, ...]
    group: Group | None = None
    work: str = WORK_FOLDER


class Kernel:
    """A live kernel. Not for several threads at once, but for `kill`."""

    def __init__(self, place: Place, room: Room, wire: Wire, dump: int, policy: Policy) -> None:
        self.place = place
        self._room = room
        self._wire = wire
        self._line = Line(room, wire, policy)
        self.policy = policy
        self._dump = dump

    @classmethod
    def start(cls, template: Template, place: Place, policy: Policy) -> Kernel:
        """A new kernel out of the template. Raises KernelStartError."""
        deadline = time.monotonic() + policy.start_timeout_s
        key = os.urandom(32).hex()
        paths = {channel: place.sockets / channel for channel in CHANNELS}
        try:
            listeners = Listeners(paths)
        except OSError as error:
            raise KernelStartError(f"no sockets can be made: {error.strerror}; see ulimit -n") from error
        try:
            room, dump = _enter(template, place, listeners, _setup(key, policy))
        finally:
            listeners.close()
        wire = Wire(place.context, {channel: f"ipc://{path}" for channel, path in paths.items()}, key, policy)
        kernel = cls(place, room, wire, dump, policy)
        try:
            kernel._join_group()
            kernel._wait_until_ready(deadline)
        except BaseException:  # also on Ctrl-C: nobody else knows of it yet
            kernel.close()
            raise
        return kernel

    @property
    def pid(self) -> int:
        return self._room.pid

    def is_alive(self) -> bool:
        return self._room.is_alive()

    def request(self, kind: str, content: dict[str, Any], deadline: float) -> tuple[Ending, dict[str, Any]]:
        """Send on the shell channel and wait for the reply; what the kernel shows meanwhile is dropped."""
        exchange = Exchange(self._line, self._wire.send("shell", kind, content))
        return exchange.wait(deadline), exchange.reply or {}

    def execute(
        self, code: str, on_output: OnOutput, calls: Calls | None = None, *, trace: bool = False
    ) -> Exchange:
        """Start a cell, to be waited for."""
        self._line.clear()
        content = {
            "trace": trace,
            "functions": calls.functions if calls else [],
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        return Exchange(self._line, self._wire.send("shell", "execute_request", content), on_output, calls)

    def rehearse(self) -> None:
        """Run nothing once: the first cell of a kernel has many pages of memory to copy."""
        deadline = time.monotonic() + self.policy.start_timeout_s
        self.request("execute_request", {"code": "pass", "silent": True, "store_history": False}, deadline)

    def interrupt(self) -> None:
        """Ask for a KeyboardInterrupt in the cell; it need not obey."""
        self._wire.send("control", "interrupt_request", {})

    def current_line(self) -> int | None:
        """The line of the cell that runs now, also where it holds the interpreter; None if it cannot be told."""
        if not self.is_alive():
            return None
        signal.pidfd_send_signal(self._room.kernel, signal.SIGUSR1)
        found = _INNERMOST.search(_read_now(self._dump, _DUMP_S))
        return int(found[1]) if found else None

    def ran_out_of_memory(self) -> bool:
        """Whether Linux has ended one of its processes for that; False where it cannot be told."""
        return self.place.group is not None and self.place.group.ran_out_of_memory()

    def take_strays(self) -> str:
        """What earlier cells left behind has written since the last time, up to a limit."""
        return self._line.take_strays()

    def kill(self) -> None:
        """End the room from any thread; `close` is still to come."""
        self._room.kill()

    def close(self) -> None:
        """End the room and everything in it. Twice is once."""
        self._room.close()
        self._wire.close()
        if self._dump >= 0:
            os.close(self._dump)
            self._dump = -1
        if self.place.group is not None:
            self.place.group.remove()
        shutil.rmtree(self.place.sockets, ignore_errors=True)

    def _join_group(self) -> None:
        """While it is starting: it runs nothing of the guest's before it was asked to."""
        if self.place.group is None:
            return
        try:
            self.place.group.add(self._room.pid)
        except OSError as error:
            raise KernelStartError(f"the kernel cannot be put into its control group: {error}") from error

    def _wait_until_ready(self, deadline: float) -> None:
        ending, _ = self.request("kernel_info_request", {}, deadline)
        if ending == "died":
            words = _read_now(self._dump, 0).decode(errors="replace").strip().splitlines()
            raise KernelStartError(
                f"the kernel ended while it started: {words[-1] if words else 'it said nothing'}"
            )
        if ending != "replied":
            raise KernelStartError("the kernel did not answer in time; raise Policy.start_timeout_s")
        self._wire.wait_for_welcome()


def _enter(
    template: Template, place: Place, listeners: Listeners, setup: Mapping[str, Any]
) -> tuple[Room, int]:
    """The room of a new kernel that has begun, and the descriptor of what it says in distress."""
    told, tell = os.pipe()
    dump, written = os.pipe()
    os.set_blocking(dump, False)
    try:
        request = {"mounts": place.mounts, "work": place.work}
        room = template.kernel(request, [told, written, *listeners.descriptors.values()])
        os.write(tell, json.dumps(setup).encode())
    except BaseException:
        os.close(dump)
        raise
    finally:
        for descriptor in (told, tell, written):
            os.close(descriptor)
    return room, dump


def _setup(key: str, policy: Policy) -> dict[str, Any]:
    """What guest/kernel.py wants to know."""
    trace = {
        "events": policy.trace_events,
        "chars": policy.trace_chars,
        "value_chars": policy.trace_value_chars,
        "steps": policy.trace_steps,
    }
    return {"key": key, "channels": CHANNELS, "trace": trace}


def _read_now(descriptor: int, wait_s: float) -> bytes:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return os.read(descriptor, 65_536) if poll.poll(wait_s * 1000) else b""
