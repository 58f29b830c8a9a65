"""One Jupyter kernel in its container: started, asked, interrupted and ended."""

from __future__ import annotations

import os
import re
import signal
import time
from typing import TYPE_CHECKING, Any

from sandbox.errors import KernelStartError
from sandbox.policy import Policy
from sandbox.protocol.calls import Calls
from sandbox.protocol.channels import CHANNELS, Channels
from sandbox.protocol.request import Connection, Ending, OnOutput, Request
from sandbox.runtime.kernel_handle import KernelHandle, Placement, begin, guest_setup
from sandbox.runtime.pidfd import send_signal

if TYPE_CHECKING:
    from sandbox.isolation.cgroup import Urgency
    from sandbox.isolation.memory import Exhausted
    from sandbox.runtime.zygote import Zygote

_DUMP_S = 0.5
_INNERMOST = re.compile(rb'^  File "<cell \d+>", line (\d{1,9}) in', re.MULTILINE)


class Kernel:
    """A live kernel. Not for several threads at once, but for `kill`."""

    def __init__(self, handle: KernelHandle, channels: Channels, policy: Policy) -> None:
        self.place = handle.place
        self._handle = handle
        self._container = handle.container
        self._channels = channels
        self._connection = Connection(handle.container, channels, policy)
        self.policy = policy

    @classmethod
    def start(cls, zygote: Zygote, place: Placement, policy: Policy) -> Kernel:
        """A new kernel out of the zygote. Raises KernelStartError."""
        deadline = time.monotonic() + policy.start_timeout_s
        key = os.urandom(32).hex()
        paths = {channel: place.sockets / channel for channel in CHANNELS}
        handle = begin(zygote, place, paths, guest_setup(key, policy))
        kernel = cls(handle, Channels(paths, key, policy), policy)
        try:
            kernel._wait_until_ready(deadline)
        except BaseException:  # also on Ctrl-C: nobody else knows of it yet
            kernel.close()
            raise
        return kernel

    @property
    def pid(self) -> int:
        return self._container.pid

    def is_alive(self) -> bool:
        return self._container.is_alive()

    def request(self, kind: str, content: dict[str, Any], deadline: float) -> tuple[Ending, dict[str, Any]]:
        """Send on the shell channel and wait for the reply; what the kernel shows meanwhile is dropped."""
        self.prioritize("new")
        request = Request(self._connection, self._channels.send("shell", kind, content))
        ending = request.wait(deadline)
        self.prioritize("none")
        return ending, request.reply or {}

    def execute(
        self, code: str, on_output: OnOutput, calls: Calls | None = None, *, trace: bool = False
    ) -> Request:
        """Start a cell, to be waited for."""
        self._channels.withdraw_interrupt()
        if not self._connection.clear():
            self.kill()  # a cell has ended what sends its output: nothing would ever be heard of it again
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
        return Request(
            self._connection, self._channels.send("shell", "execute_request", content), on_output, calls
        )

    def warm_up(self) -> None:
        """Run nothing once: the first cell of a kernel has many pages of memory to copy."""
        deadline = time.monotonic() + self.policy.start_timeout_s
        self.request("execute_request", {"code": "pass", "silent": True, "store_history": False}, deadline)

    def prioritize(self, urgency: Urgency) -> None:
        """Its part of a busy processor, where this machine has cgroups."""
        if self.place.group is not None:
            self.place.group.prioritize(urgency)

    def interrupt(self) -> None:
        """Ask for a KeyboardInterrupt in the cell; it need not obey."""
        self._channels.send("control", "interrupt_request", {})

    def current_line(self) -> int | None:
        """The line of the cell that runs now, also where it holds the interpreter; None if it cannot be told."""
        if not self.is_alive():
            return None
        send_signal(self._container.kernel, signal.SIGUSR1)
        said, end = b"", time.monotonic() + _DUMP_S
        while (left := end - time.monotonic()) > 0:
            said += self._handle.words(left)  # comes in pieces
            if found := _INNERMOST.search(said):
                return int(found[1])
        return None

    def exhausted(self) -> Exhausted | None:
        """Whose memory ran out, if processes of it were ended for that; None too where it cannot be told."""
        return self._handle.exhausted()

    def take_late_output(self) -> str:
        """What earlier cells left behind has written since the last time, up to a limit."""
        return self._connection.take_late_output()

    def kill(self) -> None:
        """End the container from any thread; `close` is still to come."""
        self._container.kill()

    def close(self) -> None:
        """End the container and everything in it. Twice is once."""
        self._container.kill()
        self._channels.close()  # while the container ends
        self._handle.close()

    def _wait_until_ready(self, deadline: float) -> None:
        ending, _ = self.request("kernel_info_request", {}, deadline)
        if ending == "died":
            raise self._handle.ended_early()
        if ending != "replied":
            raise KernelStartError("the kernel did not answer in time; raise Policy.start_timeout_s")
        self._channels.wait_for_welcome()
