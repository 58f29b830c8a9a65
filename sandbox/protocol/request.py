"""One request to a kernel: its reply, its output and its calls, until it is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sandbox.policy import Policy
from sandbox.protocol.calls import Calls
from sandbox.protocol.channels import Channels, Received
from sandbox.runtime.container import Container

if TYPE_CHECKING:
    from sandbox.protocol.channels import Channel

Ending: TypeAlias = Literal["replied", "died", "late", "woken"]
OnOutput: TypeAlias = Callable[[Received], None]

_IDLE_GRACE_S = 2.0  # between the reply and the end of the output
_WAKE_UP_S = 1.0  # a Ctrl-C that Linux gives to another thread is seen no later than this
_LATE_CHARS = 10_000
_DRAINED = 256  # messages of earlier cells that are read before a cell; more of them are thrown away


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

    def keep_late_output(self, message: Received | None) -> None:
        """Text of a cell that is over, up to a limit; not of one that had said too much already."""
        if message is None or message.kind != "stream" or message.parent == self.muted:
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
        for _ in range(_DRAINED):
            if not self.channels.output.poll(0):
                return True
            self.keep_late_output(self.channels.receive(self.channels.output)[0])
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
        self._messages = self._bytes = 0
        self.reply: dict[str, Any] | None = None
        self.complete = on_output is None  # whether all of the output came that was wanted
        self.was_muted = False

    def wait(self, deadline: float, wake: int | None = None) -> Ending:
        """Until the reply and the end of the output, the kernel's death, `deadline` (monotonic) or `wake`.

        Time that functions of the host take is added to the deadline.
        """
        while True:
            left = self._limit(deadline) - time.monotonic()
            if left <= 0:
                return "late" if self.reply is None else "replied"
            ready = self._poll(min(left, _WAKE_UP_S), wake)
            self._serve_calls(ready)
            spoken = self._read(ready)
            if self.reply is not None and self.complete:
                return "replied"
            if wake in ready:
                return "woken"
            if self._connection.container.kernel in ready and not spoken:
                return "died"  # and nothing that it said is left

    def lose_output(self) -> None:
        """What is still missing of the output will not be waited for, now or later."""
        self._connection.muted = self._identity
        self._channels.mute()

    def _limit(self, deadline: float) -> float:
        if self.reply is not None:
            return self._replied_at + _IDLE_GRACE_S
        return deadline + self._calls.spent_s if self._calls else deadline

    def _poll(self, seconds: float, wake: int | None) -> set[Any]:
        import zmq

        output = None if self._on_output is None or self.was_muted else self._channels.output
        called: Channel | int | None = None
        if self._calls is not None:
            called = self._calls.done.fileno() if self._calls.done else self._channels.stdin
        sources = (self._channels.shell, output, called, self._connection.container.kernel, wake)
        watched = [(source, zmq.POLLIN) for source in sources if source is not None]
        return {source for source, _ in zmq.zmq_poll(watched, int(seconds * 1000) + 1)}

    def _serve_calls(self, ready: set[Any]) -> None:
        """Take the next call of the cell, or send the answer to the last one."""
        if self._calls is None:
            return
        if self._calls.done is None:
            if self._channels.stdin in ready:
                message, _ = self._channels.receive(self._channels.stdin)
                if message and message.kind == "host_call" and message.parent == self._identity:
                    self._calls.begin(message.content, message.buffers)
        elif self._calls.done.fileno() in ready or time.monotonic() > self._calls.late_at:
            content, buffers = self._calls.end()
            self._channels.send("stdin", "host_reply", content, buffers)

    def _read(self, ready: set[Any]) -> bool:
        """At most one message of each channel, so that a flood of output cannot hide the deadline."""
        spoken = False
        if not self.was_muted and self._channels.output in ready:
            spoken = True
            self._take_output(*self._channels.receive(self._channels.output))
        if self._channels.shell in ready:
            spoken = True
            message, _ = self._channels.receive(self._channels.shell)
            if message and message.parent == self._identity and self.reply is None:
                self.reply, self._replied_at = message.content, time.monotonic()
        return spoken

    def _take_output(self, message: Received | None, size: int) -> None:
        self._messages += 1
        self._bytes += size
        policy = self._connection.policy
        if message is None or message.parent != self._identity:
            self._connection.keep_late_output(message)
        elif message.kind == "status":
            self.complete |= message.content.get("execution_state") == "idle"
        elif self._on_output is not None:
            self._on_output(message)
        if not self.complete and (self._messages > policy.messages or self._bytes > policy.output_bytes):
            self.was_muted = self.complete = True
            self.lose_output()
