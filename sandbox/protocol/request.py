"""One request to a kernel: its reply, its output and its calls of host functions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sandbox.isolation.processes import Container
from sandbox.policy import Policy
from sandbox.protocol.channels import Channel, Channels
from sandbox.protocol.messages import Received
from sandbox.protocol.pacing import PACING

if TYPE_CHECKING:
    from sandbox.protocol.rpc import Calls

Ending: TypeAlias = Literal["replied", "died", "timed_out", "interrupted"]
OnOutput: TypeAlias = Callable[[Received], None]

_IDLE_GRACE_S = 2.0  # after the reply, between one part of the output and the next
_POLL_S = 1.0  # a Ctrl-C that Linux delivers to another thread is noticed within this time
_LATE_CHARS = 10_000
_MAX_DRAINED = 256  # messages of earlier cells that are read before a cell; the rest is discarded
_OUTPUT_LIMIT = "the rest of the output left out: the cell wrote too much"
_OUTPUT_LOST = "the rest of the output was lost: a message was too large, or forged"
_MAX_UNMATCHED = 100  # replies on the shell channel to other requests, for example to requests that timed out


@dataclass(slots=True)
class Connection:
    """The connection to one kernel, and the late output of earlier cells that came over it."""

    container: Container
    channels: Channels
    policy: Policy
    muted: str | None = None  # the request whose output exceeded its limit
    late_output: list[str] = field(default_factory=list)

    def clear(self) -> bool:
        """Empty the output channel of earlier cells' messages; False if it cannot be connected again."""
        if self.channels.is_muted or not self._drain():
            return self.channels.reconnect_output()
        return True

    def keep_late_output(self, message: Received) -> None:
        """Keep text of an earlier cell, up to a limit; nothing of a cell whose output was muted."""
        if message.kind != "stream" or message.parent == self.muted:
            return
        text = message.content.get("text")
        left = _LATE_CHARS - sum(map(len, self.late_output))
        if isinstance(text, str) and left > 0:
            self.late_output.append(text[:left])

    def take_late_output(self) -> str:
        """What threads and processes of earlier cells have written since the last call."""
        late_output, self.late_output = "".join(self.late_output), []
        return late_output

    def _drain(self) -> bool:
        output = self.channels.output
        for _ in range(_MAX_DRAINED):
            message = self.channels.receive(output)
            if message is not None:
                self.keep_late_output(message)
            elif output.is_drained:
                return output.is_open
        return False


class Request:
    """One request: its reply, and its output if `on_output` is given."""

    def __init__(
        self,
        connection: Connection,
        identity: str,
        on_output: OnOutput | None = None,
        calls: Calls | None = None,
    ) -> None:
        self._calls = calls
        self._connection = connection
        self._channels = connection.channels
        self.identity = identity
        self._on_output = on_output
        self.output_deadline = time.monotonic()  # until when the output of a cell may arrive
        self._replied_at = self._received_at = 0.0
        self._messages = self._unmatched = 0
        self._output = connection.channels.output
        self._received_before = self._output.received
        self.reply: dict[str, Any] | None = None
        self.complete = on_output is None  # whether all of the wanted output has arrived
        self.missing: str | None = None  # why some of the output is missing
        self.is_paced = False  # whether the session has spent its credit, see pacing.py
        self.fault: str | None = None  # the protocol violation for which the kernel is given up

    def wait(self, deadline: float, interrupt_fd: int | None = None) -> Ending:
        """Wait for the reply and the end of the output, the kernel's death, `deadline` (monotonic) or `interrupt_fd`.

        The time that host functions take is added to the deadline. Each round takes a bounded step, at most one
        message of each channel, so that no message and no flood of messages can delay the deadline.
        """
        with PACING.waiting():
            return self._wait(deadline, interrupt_fd)

    def _wait(self, deadline: float, interrupt_fd: int | None) -> Ending:
        while True:
            left = self._limit(deadline) - time.monotonic()
            if left <= 0:
                if self.reply is None:
                    return "timed_out"
                self._stop_output(_OUTPUT_LOST)
                return "replied"
            ready = self._poll(min(left, _POLL_S), interrupt_fd)
            self._serve_calls(ready)
            received = PACING.read(partial(self._read, ready)) if self.is_paced else self._read(ready)
            if received:
                self._received_at = time.monotonic()
            if self.reply is not None and self.complete:
                return "replied"
            if interrupt_fd in ready:
                return "interrupted"
            if self._has_fault() or (self._has_ended(ready) and not received):
                return "died"  # and everything that it sent has been read

    def _limit(self, deadline: float) -> float:
        """Until when to wait; after the reply, as long as output arrives and the cell has time left."""
        spent_s = self._calls.spent_s if self._calls else 0.0
        if self.reply is None:
            return deadline + spent_s
        end = self.output_deadline + spent_s
        return min(self._received_at + _IDLE_GRACE_S, max(end, self._replied_at + _IDLE_GRACE_S))

    def _has_fault(self) -> bool:
        self.fault = self._channels.fault
        if self._unmatched > _MAX_UNMATCHED:
            self.fault = f"more than {_MAX_UNMATCHED} replies to no request"
        return self.fault is not None

    def _has_ended(self, ready: set[Channel | int]) -> bool:
        return self._connection.container.kernel in ready or not self._channels.shell.is_open

    def _poll(self, seconds: float, interrupt_fd: int | None) -> set[Channel | int]:
        channels, calls = self._channels, self._calls
        wanted = (
            [channels.shell] if self._on_output is None or self.complete else [channels.shell, self._output]
        )
        descriptors = [self._connection.container.kernel]
        if interrupt_fd is not None:
            descriptors.append(interrupt_fd)
        if calls is not None and calls.done:
            descriptors.append(calls.done.fileno())
        elif calls is not None:
            wanted.append(channels.stdin)
        return channels.poll(wanted, descriptors, seconds)

    def _serve_calls(self, ready: set[Channel | int]) -> None:
        """Start the next call of the cell, or send the answer to the previous one."""
        if self._calls is None:
            return
        if self._calls.done is None:
            if self._channels.stdin in ready:
                message = self._channels.receive(self._channels.stdin)
                if message and message.kind == "host_call" and message.parent == self.identity:
                    self._calls.begin(message.content, message.buffers)
        elif self._calls.done.fileno() in ready or time.monotonic() > self._calls.deadline:
            content, buffers = self._calls.end()
            self._channels.send("stdin", "host_reply", content, buffers)

    def _read(self, ready: set[Channel | int]) -> bool:
        """Whether anything was received; part of a message counts."""
        received = False
        if self._output in ready:
            self._take_output(self._channels.receive(self._output))
            received = self._output.is_open
        if self._channels.shell in ready:
            message = self._channels.receive(self._channels.shell)
            received |= self._channels.shell.is_open
            if message and message.parent == self.identity and self.reply is None:
                self.reply, self._replied_at = message.content, time.monotonic()
            elif message:
                self._unmatched += 1
        return received

    def _take_output(self, message: Received | None) -> None:
        if message is not None:
            self._messages += 1
            self._dispatch(message)
        policy = self._connection.policy
        size = self._output.received - self._received_before
        if self.complete:
            return
        if self._messages > policy.messages or size > policy.output_bytes:
            self._stop_output(_OUTPUT_LIMIT)
        elif self._output.fault:
            self._stop_output(_OUTPUT_LOST)

    def _dispatch(self, message: Received) -> None:
        if message.parent != self.identity:
            self._connection.keep_late_output(message)
        elif message.kind == "status":
            self.complete |= message.content.get("execution_state") == "idle"
        elif self._on_output is not None:
            self._on_output(message)

    def _stop_output(self, reason: str) -> None:
        """Stop waiting for the rest of the output, and ignore it when it comes later."""
        self.missing, self.complete = reason, True
        self._connection.muted = self.identity
        self._channels.mute()
