"""Run one cell: its deadline, its interruption, its end, and what is said of it."""

from __future__ import annotations

import time
from typing import Any

from sandbox.collect import Collector, cell_error
from sandbox.kernel import Ending, Kernel
from sandbox.policy import Policy
from sandbox.results import CellError, CellResult, KernelState, Status

_LOST = "its variables are lost, the images are loaded again"


def run_cell(kernel: Kernel, code: str, policy: Policy, wake: int) -> CellResult:
    """Never raises for what the cell does. After `state == "lost"` the kernel is closed."""
    collector = Collector(policy)
    started = time.monotonic()
    with kernel.execute(code, collector.add) as exchange:
        first = last = exchange.wait(started + policy.cell_timeout_s, wake)
        if first in ("late", "woken"):
            kernel.interrupt()
            last = exchange.wait(time.monotonic() + policy.interrupt_grace_s)
        if last == "replied" and not exchange.complete:
            collector.omit("the rest of the output was lost: a message was too large, or forged")
    if last != "replied":
        kernel.close()
    raised = collector.error or _raised(exchange.reply or {})
    status, error = _verdict(first, last, raised, policy)
    state: KernelState = "kept" if last == "replied" else "lost"
    return CellResult(status, collector.outputs(), error, time.monotonic() - started, state)


def _verdict(
    first: Ending, last: Ending, raised: CellError | None, policy: Policy
) -> tuple[Status, CellError | None]:
    """From how the cell's own time ended, and how the time after its interruption did."""
    match first, last:
        case "late", _:
            return "timeout", _timeout(policy, raised, kept=last == "replied")
        case _, "replied":
            return "error" if raised else "ok", raised
        case "woken", _:
            message = f"the cell did not stop when it was interrupted; {_LOST}"
            return "died", CellError("KeyboardInterrupt", message)
        case _:
            message = f"the process ended while the cell ran (a crash, os._exit or a kill); {_LOST}"
            return "died", CellError("KernelDied", message)


def _raised(reply: dict[str, Any]) -> CellError | None:
    return cell_error(reply) if reply.get("status") == "error" else None


def _timeout(policy: Policy, raised: CellError | None, *, kept: bool) -> CellError:
    outcome = "was interrupted: variables are kept" if kept else f"did not stop when interrupted; {_LOST}"
    message = f"the cell ran past its limit of {policy.cell_timeout_s:g} s and {outcome}"
    where = raised or CellError("TimeoutError", message)
    return CellError("TimeoutError", message, where.line, where.traceback)
