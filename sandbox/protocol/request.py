"""One request to a kernel: its reply, its output and its calls, until it is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from sandbox.policy import Policy
from sandbox.protocol.calls import Calls
from sandbox.protocol.channels import Channels
from sandbox.protocol.messages import Received
from sandbox.protocol.zmtp import Connection as Channel
from sandbox.runtime.container import Container

Ending: TypeAlias = Literal["replied", "died", "late", "woken"]
OnOutput: TypeAlias = Callable[[Received], None]

_IDLE_GRACE_S = 2.0  # between the reply and the end of the output
_WAKE_UP_S = 1.0  # a Ctrl-C that Linux gives to another thread is seen no later than this
_LATE_CHARS = 10_000
_SHORT_ROUND_S = 0.0005  # a round that takes less is part of no flood
_PAUSE_FACTOR, _LONGEST_PAUSE_S = 6, 0.05
_DRAINED = 256  # messages of earlier cells that are read before a cell; more of them are thrown away
_TOO_MUCH = "the rest of the output left out: the cell wrote too much of it"
_LOST = "the rest of the output was lost: a message was too large, or forged"
_MOST_STRAYS = (
    100  # messages on the shell channel that answer nothing: replies to requests that were given up
)


@dataclass(slots=True)
class Connection:
    """The connection to one kernel, and what came over it that nobody has asked for."""

    container: Container
    channels: Channels
    policy: Policy
    muted: str | None = None  # the cell whose output became too much
    late_output: list[str] = field(default_factory=list)

    def clear(self) -> bool:
        """Make the output channel hold nothing of earlier cells any more; False if none can be had."""
        if self.channels.is_mute or not self._drained():
            return self.channels.renew_output()
        return True

    def keep_late_output(self, message: Received) -> None:
        """Text of a cell that is over, up to a limit; not of one that had said too much already."""
        if message.kind != "stream" or message.parent == self.muted:
            return
        text = message.content.get("text")
        left = _LATE_CHARS - sum(map(len, self.late_output))
        if isinstance(text, str) and left > 0:
            self.late_output.append(text[:left])

    def take_late_output(self) -> str:
        """What earlier cells left behind has written since the last time."""
        late_output, self.late_output = "".join(self.late_output), []
        return late_output

    def _drained(self) -> bool:
        output = self.channels.output
        for _ in range(_DRAINED):
            message = self.channels.receive(output)
            if message is not None:
                self.keep_late_output(message)
            elif output.is_dry:
                return output.is_open
        return False


class Request:
    """One request: its reply, and the output on the way if somebody wants it."""

    def __init__(
        self,
        line: Connection,
        identity: str,
        on_output: OnOutput | None = None,
        calls: Calls | None = None,
    ) -> None:
        self._calls = calls
        self._connection = line
        self._channels = line.channels
        self._identity = identity
        self._on_output = on_output
        self._replied_at = 0.0
        self._messages = self._strays = 0
        self._output = line.channels.output
        self._received_before = self._output.received
        self.reply: dict[str, Any] | None = None
        self.complete = on_output is None  # whether nothing is missing any more of the output that was wanted
        self.missing: str | None = None  # why some of the output never came
        self.is_paced = False  # whether a flood of output is read slowly: others need this process too
        self.fault: str | None = None  # what the kernel did wrong, if it is lost for that

    def wait(self, deadline: float, wake: int | None = None) -> Ending:
        """Until the reply and the end of the output, the kernel's death, `deadline` (monotonic) or `wake`.

        Time that functions of the host take is added to the deadline. Each round takes a bounded step: at most one
        message of each channel, so that no message and no flood of them can hide the deadline.
        """
        while True:
            left = self._limit(deadline) - time.monotonic()
            if left <= 0:
                if self.reply is None:
                    return "late"
                self._give_up_output(_LOST)
                return "replied"
            ready = self._poll(min(left, _WAKE_UP_S), wake)
            began = time.monotonic()
            self._serve_calls(ready)
            spoken = self._read(ready)
            if spoken and self.is_paced:
                self._pause(time.monotonic() - began)
            if self.reply is not None and self.complete:
                return "replied"
            if wake in ready:
                return "woken"
            if self._is_lost() or (self._has_ended(ready) and not spoken):
                return "died"  # and nothing that it said is left

    def _pause(self, spent_s: float) -> None:
        """Leave the interpreter to other threads for longer than it was taken; the kernel waits meanwhile."""
        if spent_s > _SHORT_ROUND_S:
            time.sleep(min(spent_s * _PAUSE_FACTOR, _LONGEST_PAUSE_S))

    def _limit(self, deadline: float) -> float:
        if self.reply is not None:
            return self._replied_at + _IDLE_GRACE_S
        return deadline + self._calls.spent_s if self._calls else deadline

    def _is_lost(self) -> bool:
        self.fault = self._channels.fault
        if self._strays > _MOST_STRAYS:
            self.fault = f"more than {_MOST_STRAYS} replies to no request"
        return self.fault is not None

    def _has_ended(self, ready: set[Channel | int]) -> bool:
        return self._connection.container.kernel in ready or not self._channels.shell.is_open

    def _poll(self, seconds: float, wake: int | None) -> set[Channel | int]:
        channels, calls = self._channels, self._calls
        wanted = (
            [channels.shell] if self._on_output is None or self.complete else [channels.shell, self._output]
        )
        descriptors = [self._connection.container.kernel]
        if wake is not None:
            descriptors.append(wake)
        if calls is not None and calls.done:
            descriptors.append(calls.done.fileno())
        elif calls is not None:
            wanted.append(channels.stdin)
        return channels.poll(wanted, descriptors, seconds)

    def _serve_calls(self, ready: set[Channel | int]) -> None:
        """Take the next call of the cell, or send the answer to the last one."""
        if self._calls is None:
            return
        if self._calls.done is None:
            if self._channels.stdin in ready:
                message = self._channels.receive(self._channels.stdin)
                if message and message.kind == "host_call" and message.parent == self._identity:
                    self._calls.begin(message.content, message.buffers)
        elif self._calls.done.fileno() in ready or time.monotonic() > self._calls.late_at:
            content, buffers = self._calls.end()
            self._channels.send("stdin", "host_reply", content, buffers)

    def _read(self, ready: set[Channel | int]) -> bool:
        """Whether anything came; part of a message is something too."""
        spoken = False
        if self._output in ready:
            self._take_output(self._channels.receive(self._output))
            spoken = self._output.is_open
        if self._channels.shell in ready:
            message = self._channels.receive(self._channels.shell)
            spoken |= self._channels.shell.is_open
            if message and message.parent == self._identity and self.reply is None:
                self.reply, self._replied_at = message.content, time.monotonic()
            elif message:
                self._strays += 1
        return spoken

    def _take_output(self, message: Received | None) -> None:
        if message is not None:
            self._messages += 1
            self._sort(message)
        policy = self._connection.policy
        size = self._output.received - self._received_before
        if self.complete:
            return
        if self._messages > policy.messages or size > policy.output_bytes:
            self._give_up_output(_TOO_MUCH)
        elif self._output.fault:
            self._give_up_output(_LOST)

    def _sort(self, message: Received) -> None:
        if message.parent != self._identity:
            self._connection.keep_late_output(message)
        elif message.kind == "status":
            self.complete |= message.content.get("execution_state") == "idle"
        elif self._on_output is not None:
            self._on_output(message)

    def _give_up_output(self, reason: str) -> None:
        """What is still to come of it will not be waited for, now or later."""
        self.missing, self.complete = reason, True
        self._connection.muted = self._identity
        self._channels.mute()
