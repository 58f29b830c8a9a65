"""Run one cell: its deadline, its interruption and its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sandbox.policy import Exhausted, HostFunction, Policy
from sandbox.protocol.collect import Collector, cell_error, replace_surrogates
from sandbox.protocol.messages import Received
from sandbox.protocol.pacing import PACING, Credit
from sandbox.protocol.request import Ending, Request
from sandbox.results import CellError, CellResult, Status
from sandbox.runtime.kernel import Kernel

if TYPE_CHECKING:
    from sandbox.protocol.rpc import Calls
    from sandbox.protocol.trace import TraceCollector

_LIVE_CHARS = 100_000  # of one cell, passed on while it runs
_LOST = "its variables are lost, the images are loaded again"


@dataclass(frozen=True, slots=True)
class Cell:
    """The code to run, whether to trace it, the host functions that it may call, and who gets its text at once."""

    code: str
    trace: bool = False
    functions: Mapping[str, HostFunction] = field(default_factory=dict)
    on_output: Callable[[str], None] | None = None


class _LiveText:
    """Passes text on as it arrives, up to a limit; the guest decides how much arrives, and what."""

    def __init__(self, on_output: Callable[[str], None]) -> None:
        self._on_output = on_output
        self._left = _LIVE_CHARS

    def add(self, text: object) -> None:
        if isinstance(text, str) and (piece := text[: self._left]):
            self._left -= len(piece)
            self._on_output(replace_surrogates(piece))


def run_cell(kernel: Kernel, cell: Cell, policy: Policy, interrupt_fd: int, credit: Credit) -> CellResult:
    """Run it; never raises for what the cell does. After `state == "lost"` the kernel is closed."""
    collector, tracer = Collector(policy), _open_trace(policy) if cell.trace else None
    live = _LiveText(cell.on_output) if cell.on_output else None
    calls = _open_calls(cell.functions, policy) if cell.functions else None

    def take(message: Received) -> None:
        if message.kind == "trace" and tracer:
            tracer.add(message.content)
        collector.add(message.kind, message.content)
        if live is not None and message.kind == "stream":
            live.add(message.content.get("text"))

    started, used_s = time.monotonic(), time.thread_time()
    long_at = started + credit.remaining_s()
    kernel.prioritize("new")
    request = kernel.execute(cell.code, take, calls, trace=cell.trace)
    request.output_deadline = started + policy.cell_timeout_s
    try:
        first, last, line = _wait(request, kernel, (long_at, started + policy.cell_timeout_s), interrupt_fd)
    finally:
        credit.spend()
        kernel.prioritize("none")
        if calls is not None:
            calls.close()
    seconds = time.monotonic() - started
    if request.is_paced:
        PACING.repay(time.thread_time() - used_s)
    if request.missing is not None:
        collector.omit(request.missing)
    exhausted = kernel.find_exhausted() if last == "died" else None
    if last != "replied":
        kernel.close()
    raised = collector.error or _parse_reply_error(request.reply or {})
    status, error = (
        ("died", build_memory_error(exhausted, policy))
        if exhausted
        else _find_status(first, last, raised, policy)
    )
    if request.fault is not None and not exhausted:
        status, error = "died", _build_fault_error(request.fault)
    return CellResult(
        status,
        collector.outputs(),
        replace(error, line=line) if error and error.line is None else error,
        seconds,
        "kept" if last == "replied" else "lost",
        tracer.trace() if tracer else None,
        kernel.take_late_output(),
    )


def _open_trace(policy: Policy) -> TraceCollector:
    from sandbox.protocol.trace import TraceCollector

    return TraceCollector(policy)


def _open_calls(functions: Mapping[str, HostFunction], policy: Policy) -> Calls:
    from sandbox.protocol.rpc import Bridge, Calls

    return Calls(Bridge(functions, policy), policy.host_call_timeout_s)


def _wait(
    request: Request, kernel: Kernel, times: tuple[float, float], interrupt_fd: int
) -> tuple[Ending, Ending, int | None]:
    """How the cell's own time ended, how the grace period after an interrupt ended, and the line where it hangs.

    times: when the cell counts as long, and its deadline.
    """
    long_at, deadline = times
    first = last = request.wait(min(deadline, long_at), interrupt_fd)
    if first == "timed_out" and time.monotonic() < deadline:
        kernel.prioritize("long")
        request.is_paced = True
        with PACING.switching():
            first = last = request.wait(deadline, interrupt_fd)
    if first not in ("timed_out", "interrupted"):
        return first, last, None
    kernel.interrupt(request)
    last = request.wait(time.monotonic() + kernel.policy.interrupt_grace_s)
    return first, last, kernel.current_line() if last == "timed_out" else None


def build_memory_error(exhausted: Exhausted, policy: Policy) -> CellError:
    """The error of a cell whose kernel was killed because this memory, or another resource, ran out."""
    name = "OutOfMemory"
    match exhausted:
        case "session":
            why = f"the session used more than its {policy.memory_bytes:,} bytes of memory"
        case "sandbox":
            why = "all sessions together reached their limit, Sandbox(max_memory_bytes=…), and this one was ended"
        case "machine":
            why = "the machine had no memory left, and Linux ended this session"
        case "disk":
            name, why = (
                "OutOfDisk",
                f"the session kept more than {policy.disk_bytes:,} bytes in files, or too many files",
            )
        case "processes":
            name, why = (
                "TooManyProcesses",
                f"the session had more than {policy.processes:,} processes and threads",
            )
        case "handles":
            name, why = (
                "TooManyHandles",
                "all processes of the session together had too many open files or memory mappings",
            )
    return CellError(name, f"{why}; {_LOST}")


def _build_fault_error(fault: str) -> CellError:
    return CellError("KernelDied", f"the kernel sent a malformed message ({fault}); {_LOST}")


def _find_status(
    first: Ending, last: Ending, raised: CellError | None, policy: Policy
) -> tuple[Status, CellError | None]:
    """From how the cell's own time ended, and how the grace period after an interrupt ended."""
    match first, last:
        case "timed_out", _:
            return "timeout", _build_timeout_error(policy, raised, keeps_variables=last == "replied")
        case _, "replied":
            return "error" if raised else "ok", raised
        case "interrupted", _:
            message = f"the cell did not stop when it was interrupted; {_LOST}"
            return "died", CellError("KeyboardInterrupt", message)
        case _:
            message = f"the process ended while the cell ran (a crash, os._exit or a kill); {_LOST}"
            return "died", CellError("KernelDied", message)


def _parse_reply_error(reply: dict[str, Any]) -> CellError | None:
    return cell_error(reply) if reply.get("status") == "error" else None


def _build_timeout_error(policy: Policy, raised: CellError | None, *, keeps_variables: bool) -> CellError:
    outcome = (
        "was interrupted: variables are kept"
        if keeps_variables
        else f"did not stop when interrupted; {_LOST}"
    )
    message = f"the cell ran past its limit of {policy.cell_timeout_s:g} s and {outcome}"
    where = raised or CellError("TimeoutError", message)
    return CellError("TimeoutError", message, where.line, where.traceback)
