"""One Jupyter kernel in its container: start it, send it requests, interrupt it, end it."""

from __future__ import annotations

import os
import re
import signal
import time
from typing import TYPE_CHECKING, Any

from sandbox.errors import KernelStartError
from sandbox.isolation.processes import send_signal
from sandbox.policy import Exhausted, Policy
from sandbox.protocol.channels import CHANNELS, Channels
from sandbox.protocol.request import Connection, Ending, OnOutput, Request
from sandbox.runtime.kernel_handle import KernelHandle, KernelResources, build_guest_setup, start_kernel

if TYPE_CHECKING:
    from sandbox.isolation.cgroup import Urgency
    from sandbox.protocol.rpc import Calls
    from sandbox.runtime.zygote import Zygote

_DUMP_S = 0.5
_INNERMOST = re.compile(rb'^  File "<cell \d+>", line (\d{1,9}) in', re.MULTILINE)


class Kernel:
    """A running kernel. Not thread-safe, except for `kill`."""

    def __init__(self, handle: KernelHandle, channels: Channels, policy: Policy) -> None:
        self.resources = handle.resources
        self._handle = handle
        self._container = handle.container
        self._channels = channels
        self._connection = Connection(handle.container, channels, policy)
        self.policy = policy

    @classmethod
    def start(
        cls, zygote: Zygote, resources: KernelResources, policy: Policy, urgency: Urgency = "new"
    ) -> Kernel:
        """Fork a new kernel from the zygote. Raises KernelStartError."""
        if resources.group is not None:
            resources.group.prioritize(urgency)
        deadline = time.monotonic() + policy.start_timeout_s
        key = os.urandom(32).hex()
        paths = {channel: resources.sockets / channel for channel in CHANNELS}
        handle = start_kernel(zygote, resources, paths, build_guest_setup(key, policy))
        kernel = cls(handle, Channels(paths, key, policy), policy)
        try:
            kernel._wait_until_ready(deadline, urgency)
        except BaseException:  # also on Ctrl-C: nothing else holds the kernel yet
            kernel.close()
            raise
        return kernel

    @property
    def pid(self) -> int:
        return self._container.pid

    def is_alive(self) -> bool:
        return self._container.is_alive()

    def request(
        self, kind: str, content: dict[str, Any], deadline: float, urgency: Urgency = "new"
    ) -> tuple[Ending, dict[str, Any]]:
        """Send a request on the shell channel and wait for the reply; output meanwhile is dropped."""
        self.prioritize(urgency)
        request = Request(self._connection, self._channels.send("shell", kind, content))
        ending = request.wait(deadline)
        self.prioritize("none")
        return ending, request.reply or {}

    def execute(
        self, code: str, on_output: OnOutput, calls: Calls | None = None, *, trace: bool = False
    ) -> Request:
        """Start a cell; the caller waits for the request that is returned."""
        if not self._connection.clear():
            self.kill()  # a cell has stopped the output thread: no output would ever arrive
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
        """Run an empty cell: the first cell of a kernel copies many pages of memory (copy-on-write)."""
        deadline = time.monotonic() + self.policy.start_timeout_s
        self.request("execute_request", {"code": "pass", "silent": True, "store_history": False}, deadline)

    def prioritize(self, urgency: Urgency) -> None:
        """Set its share of a busy processor, where this machine has cgroups."""
        if self.resources.group is not None:
            self.resources.group.prioritize(urgency)

    def interrupt(self, request: Request) -> None:
        """Ask for a KeyboardInterrupt in the cell of this request, which the cell can ignore."""
        self._channels.send("control", "interrupt_request", {"request": request.identity})

    def current_line(self) -> int | None:
        """The line that runs now, even if the cell holds the GIL; None if it cannot be found."""
        if not self.is_alive():
            return None
        send_signal(self._container.kernel, signal.SIGUSR1)
        dump, end = b"", time.monotonic() + _DUMP_S
        while (left := end - time.monotonic()) > 0:
            dump += self._handle.read_stderr(left)  # it arrives in pieces
            if found := _INNERMOST.search(dump):
                return int(found[1])
        return None

    def find_exhausted(self) -> Exhausted | None:
        """Which memory limit was reached, if processes were killed for that; also None if it cannot be found."""
        return self._handle.find_exhausted()

    def take_late_output(self) -> str:
        """What threads and processes of earlier cells have written since the last call, up to a limit."""
        return self._connection.take_late_output()

    def kill(self) -> None:
        """End the container, from any thread; `close` must still be called."""
        self._container.kill()

    def close(self) -> None:
        """End the container and everything in it. May be called twice."""
        self._container.kill()
        self._channels.close()  # while the container ends
        self._handle.close()

    def _wait_until_ready(self, deadline: float, urgency: Urgency) -> None:
        ending, _ = self.request("kernel_info_request", {}, deadline, urgency)
        if ending == "died":
            raise self._handle.build_start_error()
        if ending != "replied":
            raise KernelStartError("the kernel did not answer in time; raise Policy.start_timeout_s")
        self._channels.wait_for_welcome()
